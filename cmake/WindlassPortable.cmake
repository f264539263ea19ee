# A toolchain for the tarball of `./run package`, which runs under any glibc
# from 2.31 on: headers and libraries of libc are those of a Debian 11 root
# (-DWINDLASS_OLD_ROOT=), all else is this machine's. Libraries are linked
# statically but for Zydis, which Debian has as a shared library only.
#
#   cmake --preset release --toolchain cmake/WindlassPortable.cmake ...
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WINDLASS_OLD_ROOT)
set(multiarch x86_64-linux-gnu)

# The kernel's headers and elf.h, which are constants, are this machine's: those
# of Debian 11 lack calls and processors.
set(here ${CMAKE_BINARY_DIR}/portable)
file(MAKE_DIRECTORY ${here})
foreach(name linux asm-generic ${multiarch}/asm elf.h)
  get_filename_component(last ${name} NAME)
  file(CREATE_LINK /usr/include/${name} ${here}/${last} SYMBOLIC)
endforeach()
set(CMAKE_C_FLAGS_INIT "--sysroot=${WINDLASS_OLD_ROOT} \
-isystem ${here} -idirafter /usr/include \
-idirafter /usr/include/${multiarch}")
# gcc would find this machine's libc beside itself. The start of programs does
# what this libc leaves to them.
set(old_libraries "-L${WINDLASS_OLD_ROOT}/usr/lib/${multiarch} \
-L${WINDLASS_OLD_ROOT}/lib/${multiarch} -L${WINDLASS_OLD_ROOT}/usr/lib32")
foreach(name Scrt1.o crt1.o)
  file(COPY_FILE ${WINDLASS_OLD_ROOT}/usr/lib/${multiarch}/${name}
    ${here}/${name})
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${here}/ ${old_libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${old_libraries}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${old_libraries}")
# Parts of libc of their own until glibc 2.34.
set(CMAKE_C_STANDARD_LIBRARIES "-Wl,--push-state,--as-needed -lpthread -ldl \
-lrt -Wl,--pop-state")

set(from /usr/lib/${multiarch})
set(ZLIB_LIBRARY ${from}/libz.a)
set(LIBLZMA_LIBRARY ${from}/liblzma.a)
set(EXPAT_LIBRARY ${from}/libexpat.a)
set(WINDLASS_ZSTD ${from}/libzstd.a)
set(WINDLASS_LIBDEFLATE ${from}/libdeflate.a)
set(WINDLASS_NCURSES ${from}/libncurses.a)
set(WINDLASS_TINFO ${from}/libtinfo.a)
set(WINDLASS_ZYDIS ${from}/libZydis.so)
# Tools for Valgrind fit one version of it alone.
set(WINDLASS_VALGRIND OFF)
