# The runtime's rooms as archives, compiled as tests are and not as the
# runtime is. The linker takes from them the files that a test needs; what the
# test defines itself stands in for the file that has it.
#
# wndl_rt_room(heap/leaks SEES heap/count ...): src/rt/heap/leaks/*.c. EXCEPT
# names files that are for other processors, or not for tests.

# Sets `result` to the target of a room.
function(wndl_rt_room_target result room)
  string(REPLACE "/" "_" name ${room})
  set(${result} wndl_rt_${name} PARENT_SCOPE)
endfunction()

# One archive of `sources`. It links what its files see.
function(wndl_rt_archive room suffix sources sees)
  wndl_rt_room_target(target ${room})
  add_library(${target}${suffix} STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${target}${suffix}
    PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  foreach(other ${sees})
    wndl_rt_room_target(seen ${other})
    target_link_libraries(${target}${suffix} PUBLIC ${seen}${suffix})
  endforeach()
  target_link_libraries(${target}${suffix} PUBLIC wndl_unwind wndl_rec wndl_os)
endfunction()

function(wndl_rt_room room)
  cmake_parse_arguments(ROOM "" "" "SEES;EXCEPT" ${ARGN})
  set(folder ${CMAKE_SOURCE_DIR}/src/rt/${room})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  foreach(other ${ROOM_EXCEPT})
    list(REMOVE_ITEM sources ${folder}/${other})
  endforeach()
  wndl_rt_archive(${room} "" "${sources}" "${ROOM_SEES}")
  if(wndl_runs_valgrind)
    wndl_rt_archive(${room} _helgrind "${sources}" "${ROOM_SEES}")
    wndl_rt_room_target(target ${room})
    target_compile_options(${target}_helgrind PRIVATE ${helgrind_atomics})
    set_target_properties(${target}_helgrind PROPERTIES
      INTERPROCEDURAL_OPTIMIZATION OFF)
  endif()
endfunction()

wndl_rt_room(arch EXCEPT personality_arm.c syscall_number_arm.c)
# (rt/core/mem.c would be the test's memcpy.)
wndl_rt_room(core SEES arch EXCEPT mem.c)
wndl_rt_room(walk SEES core arch)
wndl_rt_room(signals SEES core arch)
wndl_rt_room(sample SEES signals walk core arch)
wndl_rt_room(heap/count SEES walk core arch)
wndl_rt_room(heap/leaks SEES heap/count walk core arch)
wndl_rt_room(heap/measure SEES heap/leaks heap/count core arch)
