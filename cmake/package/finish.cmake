# What Debian's policy asks for beyond what is installed: compressed manual
# pages, a changelog, the licence, and why lintian is overruled.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/command/usr)
set(doc ${root}/share/doc/windlass)
foreach(link windlass-addr2line windlass-llvm-symbolizer)
  file(CREATE_LINK windlass.1.gz ${root}/share/man/man1/${link}.1.gz SYMBOLIC)
endforeach()
file(GLOB pages ${root}/share/man/*/*.[1-9])
file(COPY ${CPACK_WINDLASS_FILES}/changelog DESTINATION ${doc})
execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog
  COMMAND_ERROR_IS_FATAL ANY)

# What CPack does not strip: it was installed as files.
file(GLOB objects ${root}/lib/windlass/preload/*/*.so)
foreach(object IN LISTS objects)
  if(NOT IS_SYMLINK ${object})
    execute_process(COMMAND strip --strip-unneeded ${object}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# The licences of the libraries that are linked in follow ours.
file(READ ${CPACK_WINDLASS_LICENCE} licence)
set(copyright "windlass\n\n${licence}")
file(GLOB zydis RELATIVE /usr/share/doc /usr/share/doc/libzydis4*)
foreach(package zlib1g-dev liblzma-dev libzstd-dev libdeflate-dev
    libncurses-dev libexpat1-dev libiberty-dev ${zydis})
  file(READ /usr/share/doc/${package}/copyright text)
  string(APPEND copyright "\n\n======== ${package}\n\n${text}")
endforeach()
file(WRITE ${doc}/copyright "${copyright}")
file(COPY ${CPACK_WINDLASS_FILES}/overrides
  DESTINATION ${root}/share/lintian/overrides)
file(RENAME ${root}/share/lintian/overrides/overrides
  ${root}/share/lintian/overrides/windlass)
