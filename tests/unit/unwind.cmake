# The unwinder's tests. What they unwind is compiled to the same code in every
# preset but those of sanitizers, and linked for both lazy and eager binding of symbols.
add_library(wndl_unwind_subjects OBJECT unwind_chain.c unwind_extras.c)
target_link_libraries(wndl_unwind_subjects PRIVATE wndl_testlib)
target_compile_options(wndl_unwind_subjects PRIVATE
  -O2 -fomit-frame-pointer -fasynchronous-unwind-tables)
set_target_properties(wndl_unwind_subjects PROPERTIES
  INTERPROCEDURAL_OPTIMIZATION OFF)

set(unwind_sources unwind_oracle.c $<TARGET_OBJECTS:wndl_unwind_subjects>)
wndl_unit_test(test_unwind LAYERS unwind SOURCES ${unwind_sources})
target_link_options(test_unwind PRIVATE -Wl,-z,lazy)

add_executable(test_unwind_eager test_unwind.c ${unwind_sources})
target_link_libraries(test_unwind_eager PRIVATE wndl_unwind wndl_testlib
  cmocka)
target_link_options(test_unwind_eager PRIVATE -Wl,-z,now)
add_test(NAME unit.test_unwind_eager COMMAND test_unwind_eager)

add_library(unwind_ctor SHARED unwind_ctor.c)
target_link_libraries(unwind_ctor PRIVATE wndl_unwind)
wndl_unit_test(test_unwind_edges LAYERS unwind
  SOURCES ${unwind_sources} LIBS unwind_ctor)
target_link_options(test_unwind_edges PRIVATE
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
wndl_unit_test(test_unwind_threads LAYERS unwind
  SOURCES $<TARGET_OBJECTS:wndl_unwind_subjects> LABELS threads)
wndl_unit_test(test_unwind_scan LAYERS unwind)
target_compile_options(test_unwind_scan PRIVATE -fno-optimize-sibling-calls)
wndl_unit_test(test_unwind_jit LAYERS unwind
  LIBS wndl_cfibuild Threads::Threads LABELS threads)

# Two plugins whose code is as long, and differs in the size of frames.
wndl_unit_test(test_unwind_resume LAYERS unwind SOURCES ${unwind_sources})
target_compile_options(test_unwind_resume PRIVATE -fexceptions)
foreach(plugin small large)
  add_library(unwind_plugin_${plugin} MODULE unwind_plugin.c)
  add_dependencies(test_unwind_resume unwind_plugin_${plugin})
  string(TOUPPER ${plugin} name)
  target_compile_definitions(test_unwind_resume PRIVATE
    PLUGIN_${name}="$<TARGET_FILE:unwind_plugin_${plugin}>")
endforeach()
target_compile_definitions(unwind_plugin_small PRIVATE PLUGIN_BYTES=256)
target_compile_definitions(unwind_plugin_large PRIVATE PLUGIN_BYTES=4096)

wndl_unit_test(test_unwind_prepare LAYERS unwind LIBS Threads::Threads
  LABELS threads)
wndl_unit_test(test_unwind_hostile LAYERS unwind LIBS wndl_cfibuild
  ${CMAKE_DL_LIBS})
add_dependencies(test_unwind_hostile unwind_plugin_small)
target_compile_definitions(test_unwind_hostile PRIVATE
  PLUGIN_SMALL="$<TARGET_FILE:unwind_plugin_small>")

# What steps through whole programs: tests/cli/unwind_programs.sh.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND CMAKE_SIZEOF_VOID_P EQUAL 8
    AND NOT WINDLASS_SANITIZE AND NOT WINDLASS_FUZZ)
  add_library(unwind_stepper MODULE unwind_stepper.c)
  target_link_libraries(unwind_stepper PRIVATE wndl_unwind)
  add_test(NAME cli.unwind_programs
    COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/unwind_programs.sh
      $<TARGET_FILE:unwind_stepper> $<TARGET_FILE:fixture_throws_often>
      $<IF:$<CONFIG:RelWithDebInfo>,20000,4000>)
  set_tests_properties(cli.unwind_programs PROPERTIES SKIP_RETURN_CODE 77)
endif()
