# One program per family of unwinders: they interpose each other's names.
# bench/unwind runs them.
set(unwind_chain ${CMAKE_SOURCE_DIR}/tests/unit/unwind/unwind_chain.c)

function(wndl_unwind_bench name methods)
  add_executable(unwind_${name} unwind_harness.c unwind_${methods}.c
    ${unwind_chain})
  target_include_directories(unwind_${name} PRIVATE
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/tests/unit/unwind)
  target_compile_options(unwind_${name} PRIVATE -O2 -fomit-frame-pointer)
  target_link_libraries(unwind_${name} PRIVATE ${ARGN})
endfunction()

wndl_unwind_bench(windlass windlass wndl_unwind)
wndl_unwind_bench(libgcc libgcc)
# The same program with frame pointers, where all frames save RBP, and one in
# which none does.
wndl_unwind_bench(fp fp)
wndl_unwind_bench(windlass_fp windlass wndl_unwind)
foreach(name fp windlass_fp)
  target_compile_options(unwind_${name} PRIVATE -fno-omit-frame-pointer)
  target_compile_definitions(unwind_${name} PRIVATE CHAIN_USES_QSORT=0)
endforeach()
wndl_unwind_bench(windlass_nofp windlass wndl_unwind)
# Link-time optimisation would not know that the register is reserved.
target_compile_options(unwind_windlass_nofp PRIVATE -ffixed-rbp -fno-lto)
target_compile_definitions(unwind_windlass_nofp PRIVATE
  CHAIN_USES_QSORT=0 CHAIN_USES_ALLOCA=0)

find_library(LIBUNWIND unwind)
if(LIBUNWIND)
  wndl_unwind_bench(libunwind libunwind ${LIBUNWIND})
endif()

add_executable(unwind_misses unwind_misses.c)
target_include_directories(unwind_misses PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(unwind_misses PRIVATE wndl_unwind)
