# libwindlass: the layers that implement include/windlass/, shared and static,
# and how other builds find them.
set(public_layers base os obj dbg cfi unwind symbolize)
set(objects "")
foreach(layer ${public_layers})
  list(APPEND objects $<TARGET_OBJECTS:wndl_${layer}>)
endforeach()

add_library(windlass_shared SHARED ${objects})
set_target_properties(windlass_shared PROPERTIES
  OUTPUT_NAME windlass LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/windlass.map)
# Bound when loaded: walks in signal handlers must not run the dynamic linker.
target_link_options(windlass_shared PRIVATE -Wl,-z,now
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/windlass.map)
target_link_libraries(windlass_shared PRIVATE ZLIB::ZLIB
  LibLZMA::LibLZMA ${WINDLASS_ZSTD} ${WINDLASS_LIBDEFLATE} ${WINDLASS_LIBIBERTY})

add_library(windlass_static STATIC ${objects})
set_target_properties(windlass_static PROPERTIES
  OUTPUT_NAME windlass LINKER_LANGUAGE C)

# Relative, so that it holds under any DESTDIR and `cmake --install --prefix`.
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(windlass.pc.in windlass.pc @ONLY)

install(TARGETS windlass_shared windlass_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/windlass
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/windlass.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
