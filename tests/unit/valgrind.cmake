# The runtime's own tables under Memcheck and Helgrind, by unit tests that link
# them: where the objects are preloaded the runtime steps aside for Valgrind.
# It cannot look into programs with a sanitizer, and once is enough; Helgrind is told of atomics
# (tests/lib/helgrind_atomics.h), which clang will not have.
find_program(VALGRIND valgrind)
include(CheckIncludeFile)
check_include_file(valgrind/helgrind.h HAVE_HELGRIND_H)
if(NOT VALGRIND OR NOT HAVE_HELGRIND_H OR NOT CMAKE_BUILD_TYPE STREQUAL Debug
    OR WINDLASS_SANITIZE
    OR CMAKE_CROSSCOMPILING OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
  return()
endif()

# valgrind_test(test_ring LAYERS rec SOURCES ring.c ...): SOURCES, below src,
# are what Helgrind is to see into.
function(valgrind_test name)
  cmake_parse_arguments(TEST "" "" "LAYERS;SOURCES" ${ARGN})
  list(TRANSFORM TEST_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/)
  set(seen ${name}_helgrind)
  add_executable(${seen} ${name}.c ${TEST_SOURCES})
  target_compile_options(${seen} PRIVATE
    -include ${CMAKE_SOURCE_DIR}/tests/lib/helgrind_atomics.h)
  set_target_properties(${seen} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  foreach(layer ${TEST_LAYERS})
    target_link_libraries(${seen} PRIVATE wndl_${layer})
  endforeach()
  target_link_libraries(${seen} PRIVATE wndl_testlib cmocka Threads::Threads)
  string(REGEX REPLACE "^test_" "" subject ${name})
  add_test(NAME memcheck.${subject} COMMAND ${VALGRIND} -q
    --error-exitcode=9 --leak-check=full $<TARGET_FILE:${name}>)
  add_test(NAME helgrind.${subject} COMMAND ${VALGRIND} -q --tool=helgrind
    --error-exitcode=9 $<TARGET_FILE:${seen}>)
  set_tests_properties(memcheck.${subject} helgrind.${subject} PROPERTIES
    LABELS valgrind)
endfunction()

valgrind_test(test_rt_heap LAYERS os rec SOURCES rt/heap/count/prefault.c
  rt/heap/count/block_marks.c rt/heap/count/blocks.c
  rt/heap/count/blocks_young.c rt/heap/count/shards.c
  rt/heap/count/growth.c rt/heap/count/stripes.c rt/heap/count/lock.c rt/heap/count/owner.c
  rt/heap/count/sites.c rt/heap/leaks/pointer_filter.c rt/heap/leaks/block_bitmap.c)
valgrind_test(test_rt_owner LAYERS os SOURCES rt/heap/count/blocks.c rt/heap/count/blocks_young.c
  rt/heap/count/shards.c rt/heap/count/lock.c
  rt/heap/count/owner.c)
valgrind_test(test_stacktree LAYERS base SOURCES base/stacktree.c)
valgrind_test(test_ring LAYERS rec SOURCES rec/ring.c)
