# The package of Debian that `./run package` makes: the command, what it preloads,
# man pages, completions. Libraries are installed by `cmake --install` alone.
if(WINDLASS_OLD_ROOT)
  # Debian has Zydis as a shared library only, other releases another one.
  file(REAL_PATH ${WINDLASS_ZYDIS} zydis)
  string(REGEX MATCH "libZydis[.]so[.][0-9]+[.][0-9]+" soname ${zydis})
  install(FILES ${zydis} RENAME ${soname}
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/windlass)
  file(RELATIVE_PATH from_bindir
    ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/windlass)
  set_target_properties(windlass PROPERTIES
    INSTALL_RPATH "\$ORIGIN/${from_bindir}")
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME windlass)
set(CPACK_PACKAGE_CONTACT "windlass authors <maintainers@users.noreply.a-seed-79bfaff2.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME windlass)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.31)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "profiler of native programs: CPU time, waiting, heap
Samples a program and every process that it starts, without privileges or a
rebuild, with exact stacks through optimised code. Shows reports in the
terminal and on a page for a browser.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package/finish.cmake)
set(CPACK_WINDLASS_FILES ${CMAKE_SOURCE_DIR}/cmake/package)
set(CPACK_WINDLASS_LICENCE ${CMAKE_SOURCE_DIR}/LICENSE)
include(CPack)
