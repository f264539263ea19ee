# wndl_layer(NAME SOURCES a.c b.c DEPENDS lower ... [LIBS external ...])
#
# One static library per layer of docs/architecture.md. A layer links only the
# layers it may include; tools/check-layers holds the includes to the same
# picture.
function(wndl_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  add_library(wndl_${name} STATIC ${LAYER_SOURCES})
  target_include_directories(wndl_${name}
    PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  foreach(lower ${LAYER_DEPENDS})
    target_link_libraries(wndl_${name} PUBLIC wndl_${lower})
  endforeach()
  target_link_libraries(wndl_${name} PUBLIC ${LAYER_LIBS})
endfunction()

# wndl_unit_test(test_elf LAYERS obj ...): tests/unit/obj/test_elf.c with
# cmocka. ROOMS are the runtime's (tests/unit/rt/rooms.cmake). LABELS threads
# puts it into what the tsan preset runs.
function(wndl_unit_test name)
  cmake_parse_arguments(UNIT "" "" "LAYERS;ROOMS;SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${name}.c ${UNIT_SOURCES})
  foreach(room ${UNIT_ROOMS})
    wndl_rt_room_target(target ${room})
    target_link_libraries(${name} PRIVATE ${target})
  endforeach()
  foreach(layer ${UNIT_LAYERS})
    target_link_libraries(${name} PRIVATE wndl_${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE wndl_testlib cmocka ${UNIT_LIBS})
  target_compile_definitions(${name} PRIVATE
    WNDL_FIXTURES="${CMAKE_SOURCE_DIR}/tests/fixtures"
    WNDL_BUILT_FIXTURES="${CMAKE_BINARY_DIR}/tests/fixtures")
  add_test(NAME unit.${name} COMMAND ${name})
  add_dependencies(unit_tests ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS "${UNIT_LABELS}")
  if(threads IN_LIST UNIT_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
endfunction()

# What the presets tsan and fuzz build, and dev in `./run test`: they test nothing
# else there.
add_custom_target(unit_tests)
add_custom_target(thread_tests)
add_custom_target(fuzz_targets)

# wndl_cli_test(NAME record_status SCRIPT status.sh ARGS windlass ...): a script
# that drives a program and compares; it ends with 77 where a tool is missing.
# An argument that names a target stands for the target's file. NEEDS names
# targets without which there is no such test. LIVE is a test that watches
# programs as they run: it has the machine for itself, because a busy machine
# is another machine to it. LONG is one that takes half a minute or more: it
# begins before others, so that none of them is left to one core at the end.
# Tests with the same LOCK take turns.
function(wndl_cli_test)
  cmake_parse_arguments(CLI "LIVE;LONG" "NAME;SCRIPT;TIMEOUT;LOCK" "ARGS;NEEDS"
    ${ARGN})
  foreach(needed ${CLI_NEEDS})
    if(NOT TARGET ${needed})
      return()
    endif()
  endforeach()
  set(words "")
  foreach(word ${CLI_ARGS})
    if(TARGET ${word})
      set(word $<TARGET_FILE:${word}>)
    endif()
    list(APPEND words ${word})
  endforeach()
  set(test cli.${CLI_NAME})
  add_test(NAME ${test}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${CLI_SCRIPT} ${words})
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
  if(CLI_LIVE)
    set_tests_properties(${test} PROPERTIES LABELS live RUN_SERIAL ON)
  endif()
  if(CLI_LONG)
    set_tests_properties(${test} PROPERTIES COST 100)
  endif()
  if(CLI_TIMEOUT)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${CLI_TIMEOUT})
  endif()
  if(CLI_LOCK)
    set_tests_properties(${test} PROPERTIES RESOURCE_LOCK ${CLI_LOCK})
  endif()
endfunction()

# wndl_fuzz_target(fuzz_elf LAYERS obj ...): tests/fuzz/fuzz_elf.c. With
# WINDLASS_FUZZ it is a libFuzzer program; without, tests/fuzz/replay.c gives
# it a main that runs each file it is given once (the corpus as a test).
function(wndl_fuzz_target name)
  cmake_parse_arguments(FUZZ "" "" "LAYERS;SOURCES" ${ARGN})
  add_executable(${name} ${name}.c ${FUZZ_SOURCES})
  foreach(layer ${FUZZ_LAYERS})
    target_link_libraries(${name} PRIVATE wndl_${layer})
  endforeach()
  add_dependencies(fuzz_targets ${name})
  string(REGEX REPLACE "^fuzz_" "" subject ${name})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${subject})
  if(WINDLASS_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${subject} COMMAND ${name} -seed=1 -runs=150000
      -max_total_time=5 -rss_limit_mb=1024 -timeout=10 ${corpus})
  else()
    target_sources(${name} PRIVATE replay.c)
    add_test(NAME corpus.${subject} COMMAND ${name} ${corpus})
  endif()
endfunction()
