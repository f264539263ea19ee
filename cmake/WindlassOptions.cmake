# What every target is compiled with, and the switches of the presets.

option(WINDLASS_WERROR "Treat warnings as errors" OFF)
option(WINDLASS_BENCH "Build the programs of bench/" OFF)
option(WINDLASS_FUZZ "Build libFuzzer targets (clang only)" OFF)
set(WINDLASS_SANITIZE "" CACHE STRING "Value for -fsanitize, empty for none")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla
  -Wmissing-prototypes -Wpointer-arith -Wwrite-strings)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  add_compile_options(-Wno-psabi) # notes on what gcc 10 did otherwise
endif()
if(WINDLASS_WERROR)
  add_compile_options(-Werror)
endif()
if(WINDLASS_SANITIZE)
  add_compile_options(-fsanitize=${WINDLASS_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WINDLASS_SANITIZE})
endif()
if(WINDLASS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  # The static library must link with compilers that do not read gcc's LTO.
  add_compile_options(-ffat-lto-objects)
endif()
