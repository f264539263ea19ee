# The runtime's own tables under Memcheck and Helgrind, by unit tests that link
# them: where the objects are preloaded the runtime steps aside for Valgrind.
# It cannot look into programs with a sanitizer, and once is enough; Helgrind is told of atomics
# (tests/lib/helgrind_atomics.h), which clang will not have.
find_program(VALGRIND valgrind)
include(CheckIncludeFile)
check_include_file(valgrind/helgrind.h HAVE_HELGRIND_H)
set(wndl_runs_valgrind ON)
if(NOT VALGRIND OR NOT HAVE_HELGRIND_H OR NOT CMAKE_BUILD_TYPE STREQUAL Debug
    OR WINDLASS_SANITIZE OR CMAKE_SIZEOF_VOID_P EQUAL 4
    OR CMAKE_CROSSCOMPILING OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(wndl_runs_valgrind OFF)
endif()
set(helgrind_atomics
  -include ${CMAKE_SOURCE_DIR}/tests/lib/helgrind_atomics.h)

# wndl_memcheck_test(test_rt_modules): a unit test of one thread, once more.
function(wndl_memcheck_test name)
  if(NOT wndl_runs_valgrind)
    return()
  endif()
  string(REGEX REPLACE "^test_" "" subject ${name})
  add_test(NAME memcheck.${subject} COMMAND ${VALGRIND} -q
    --suppressions=${CMAKE_SOURCE_DIR}/tests/unit/valgrind.supp
    --error-exitcode=9 --leak-check=full $<TARGET_FILE:${name}>)
  set_tests_properties(memcheck.${subject} PROPERTIES LABELS valgrind)
endfunction()

# wndl_valgrind_test(test_ring LAYERS rec SOURCES rec/ring.c ...): SOURCES,
# below src, and ROOMS of the runtime are what Helgrind sees into.
function(wndl_valgrind_test name)
  if(NOT wndl_runs_valgrind)
    return()
  endif()
  cmake_parse_arguments(TEST "" "" "LAYERS;ROOMS;SOURCES" ${ARGN})
  list(TRANSFORM TEST_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/)
  set(seen ${name}_helgrind)
  add_executable(${seen} ${name}.c ${TEST_SOURCES})
  target_compile_options(${seen} PRIVATE ${helgrind_atomics})
  set_target_properties(${seen} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  foreach(room ${TEST_ROOMS})
    wndl_rt_room_target(target ${room})
    target_link_libraries(${seen} PRIVATE ${target}_helgrind)
  endforeach()
  foreach(layer ${TEST_LAYERS})
    target_link_libraries(${seen} PRIVATE wndl_${layer})
  endforeach()
  target_link_libraries(${seen} PRIVATE wndl_testlib cmocka Threads::Threads)
  add_dependencies(unit_tests ${seen})
  wndl_memcheck_test(${name})
  string(REGEX REPLACE "^test_" "" subject ${name})
  add_test(NAME helgrind.${subject} COMMAND ${VALGRIND} -q --tool=helgrind
    --error-exitcode=9 $<TARGET_FILE:${seen}>)
  set_tests_properties(helgrind.${subject} PROPERTIES LABELS valgrind)
endfunction()
