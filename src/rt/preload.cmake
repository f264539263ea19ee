# The folder that LD_PRELOAD names as "preload/$LIB" (ld.so(8)): 64-bit
# programs find the runtime there, and 32-bit ones theirs. Where that cannot
# be built, for want of 32-bit headers and libraries, theirs is an empty one:
# ld.so would complain in the program's output that it is missing.
set(preload ${CMAKE_CURRENT_BINARY_DIR}/preload)
set(m32 -m32 -Wno-psabi) # no notes on what gcc 10 did otherwise
if(CMAKE_C_LIBRARY_ARCHITECTURE)
  set(m32 ${m32}
    "SHELL:-idirafter /usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE}")
endif()

# Sets `result` to whether the compiler makes an object of preload/<what>.c.
function(can_link result what)
  try_compile(${result} ${CMAKE_CURRENT_BINARY_DIR}/can_${what}
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/preload/${what}.c
    COMPILE_DEFINITIONS -D_GNU_SOURCE -fPIC ${ARGN}
    LINK_OPTIONS ${ARGN} -shared -Wl,-z,defs)
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()

# The folder `kind` is where the runtime is to be found.
function(placed name kind)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${preload}/${kind})
endfunction()

# In place of both runtimes.
function(preloaded_nothing name kind)
  foreach(which rt heap)
    set(target windlass-${which}-${name})
    add_library(${target} MODULE preload/nothing.c)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME windlass-${which}
      C_VISIBILITY_PRESET hidden INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${target} PRIVATE
      ${ARGN} -nostdlib -fno-sanitize=all)
    target_link_options(${target} PRIVATE ${ARGN} -nostdlib -fno-sanitize=all)
    placed(${target} ${kind})
  endforeach()
endfunction()

# Words of 64 bits are what a memory event log is made of: programs of other
# word sizes do not log their calls.
function(memlog_nothing name kind)
  set(target windlass-memlog-${name})
  add_library(${target} MODULE preload/nothing.c)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME windlass-memlog
    C_VISIBILITY_PRESET hidden INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${target} PRIVATE ${ARGN} -nostdlib -fno-sanitize=all)
  target_link_options(${target} PRIVATE ${ARGN} -nostdlib -fno-sanitize=all)
  placed(${target} ${kind})
endfunction()

# link("lib64" ".."): a name in the folder, and where it leads.
function(link name to)
  get_filename_component(folder ${preload}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${to} ${preload}/${name} SYMBOLIC)
endfunction()

can_link(can_i386 has_libc -m32
  -idirafter /usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE})
can_link(can_i386_nothing nothing -m32 -nostdlib)
if(can_i386)
  runtimes(-32 ${m32})
  placed(windlass-rt-32 i386)
  placed(windlass-heap-32 i386)
elseif(can_i386_nothing)
  message(STATUS "32-bit programs will not be recorded: the compiler has no "
    "32-bit libc (Debian: gcc-multilib)")
  preloaded_nothing(32 i386 -m32)
else()
  return()
endif()
can_link(can_x32_nothing nothing -mx32 -nostdlib)
memlog_nothing(32 i386 -m32)
if(can_x32_nothing)
  preloaded_nothing(x32 x32 -mx32)
  memlog_nothing(x32 x32 -mx32)
endif()

# What $LIB stands for: Debian's words, then those of most others, where lib
# is of 32 bits unless /lib64 is but another name for it (Arch).
link(lib/x86_64-linux-gnu ../..)
link(lib/i386-linux-gnu ../i386)
link(lib64 ..)
link(lib32 i386)
link(libx32 x32)
file(REAL_PATH /lib64 lib64)
foreach(kind rt heap memlog)
  if(lib64 MATCHES "/lib$")
    link(lib/libwindlass-${kind}.so ../../libwindlass-${kind}.so)
  else()
    link(lib/libwindlass-${kind}.so ../i386/libwindlass-${kind}.so)
  endif()
endforeach()
install(DIRECTORY ${preload} USE_SOURCE_PERMISSIONS
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/windlass)
