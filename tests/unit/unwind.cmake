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
