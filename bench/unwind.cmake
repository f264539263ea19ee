# One program per family of unwinders: they interpose each other's names.
# bench/unwind runs them.
set(unwind_chain ${CMAKE_SOURCE_DIR}/tests/unit/unwind_chain.c)

function(wndl_unwind_bench name)
  add_executable(unwind_${name} unwind_harness.c unwind_${name}.c
    ${unwind_chain})
  target_include_directories(unwind_${name} PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/tests/unit)
  target_compile_options(unwind_${name} PRIVATE -O2 -fomit-frame-pointer)
  target_link_libraries(unwind_${name} PRIVATE ${ARGN})
endfunction()

wndl_unwind_bench(windlass wndl_unwind)
wndl_unwind_bench(libgcc)
wndl_unwind_bench(fp)
target_compile_options(unwind_fp PRIVATE -fno-omit-frame-pointer)
target_compile_definitions(unwind_fp PRIVATE CHAIN_USES_QSORT=0)

find_library(LIBUNWIND unwind)
if(LIBUNWIND)
  wndl_unwind_bench(libunwind ${LIBUNWIND})
endif()
