# libwindlass-tags: a library that programs preload or link, and that stays
# loaded.
add_library(windlass-tags SHARED
  ${CMAKE_SOURCE_DIR}/src/os/dlfind.c
  ${CMAKE_SOURCE_DIR}/src/os/loader_list.c
  ${CMAKE_SOURCE_DIR}/src/os/own_memory.c
  tags/core/current.c
  tags/core/names.c
  tags/amounts.c
  tags/blocks.c
  tags/lock.c
  tags/malloc.c
  tags/marks.c
  tags/new.c
  tags/process.c
  tags/real.c
  tags/thread.c)
compiled_for_runtime(windlass-tags -fno-builtin)
set(map_tags ${CMAKE_CURRENT_SOURCE_DIR}/tags/tags.map)
target_link_options(windlass-tags PRIVATE -fno-sanitize=all
  -Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs -Wl,--gc-sections
  -Wl,--version-script=${map_tags})
set_target_properties(windlass-tags PROPERTIES
  LINK_DEPENDS ${map_tags} VERSION ${PROJECT_VERSION} SOVERSION 0)

file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(tags/windlass-tags.pc.in windlass-tags.pc @ONLY)
install(TARGETS windlass-tags
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/windlass-tags.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
