# Sets WINDLASS_VIEW_PAGE to the page that 'windlass view' fills in, which
# viewer/ is bundled into, or to nothing if there is to be none; and
# WINDLASS_VIEW_NOTICE to the licences of what is in it. WINDLASS_VIEW_PROBLEM
# says why there is none.
#
# WINDLASS_VIEWER:
#   AUTO  bundle it if node and npm are there and can fetch its libraries;
#         never for Debug builds and sanitizers, which are many
#   ON    the same for any build, or fail
#   OFF   no viewer
#   FILE  the absolute name of a page that was bundled elsewhere
set(WINDLASS_VIEWER AUTO CACHE STRING "AUTO, ON, OFF, or a bundled page")

# Libraries are fetched when the build is configured, so that without a
# network there is no viewer, and not no build.
function(fetch_libraries from to problem)
  set(${problem} "" PARENT_SCOPE)
  find_program(WINDLASS_NODE node)
  find_program(WINDLASS_NPM npm)
  if(NOT WINDLASS_NODE OR NOT WINDLASS_NPM)
    set(${problem} "node and npm are not there" PARENT_SCOPE)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${from}/package-lock.json ${from}/package.json)
  file(SHA256 ${from}/package-lock.json wanted)
  set(fetched "")
  if(EXISTS ${to}/fetched)
    file(READ ${to}/fetched fetched)
  endif()
  if(fetched STREQUAL wanted)
    return()
  endif()
  file(COPY ${from}/package.json ${from}/package-lock.json DESTINATION ${to})
  message(STATUS "Fetching the viewer's libraries")
  execute_process(
    COMMAND ${WINDLASS_NPM} ci --omit=dev --ignore-scripts --no-audit
      --no-fund --no-update-notifier --fetch-retry-mintimeout=1000
      --cache=${to}/cache
    WORKING_DIRECTORY ${to} RESULT_VARIABLE result
    OUTPUT_VARIABLE said ERROR_VARIABLE said)
  file(WRITE ${to}/npm.log "${said}")
  file(REMOVE_RECURSE ${to}/cache)
  if(result EQUAL 0)
    file(WRITE ${to}/fetched ${wanted})
  else()
    set(${problem} "npm ci failed: ${to}/npm.log" PARENT_SCOPE)
  endif()
endfunction()

# Sources are copied to where the libraries are: the source folder stays as
# it is.
function(bundle from to)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${from}/src/*)
  set(others package.json page.html bundle.mjs)
  list(TRANSFORM others PREPEND ${from}/)
  add_custom_command(OUTPUT ${to}/dist/windlass.html ${to}/dist/NOTICE
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${to}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${from}/src ${to}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${others} ${to}
    COMMAND ${WINDLASS_NODE} bundle.mjs
    DEPENDS ${sources} ${others} ${to}/fetched
    WORKING_DIRECTORY ${to}
    COMMENT "Bundling the viewer" VERBATIM)
endfunction()

set(WINDLASS_VIEW_PAGE "")
set(WINDLASS_VIEW_PROBLEM "left out by -DWINDLASS_VIEWER=OFF")
set(WINDLASS_VIEW_NOTICE "")
set(viewer_from ${CMAKE_SOURCE_DIR}/viewer)
set(viewer_to ${CMAKE_BINARY_DIR}/viewer)
if(IS_ABSOLUTE "${WINDLASS_VIEWER}")
  set(WINDLASS_VIEW_PAGE ${WINDLASS_VIEWER})
elseif(WINDLASS_VIEWER STREQUAL AUTO AND
    (WINDLASS_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug))
  set(WINDLASS_VIEW_PROBLEM "not in builds for tests")
  message(STATUS "Viewer: no, as WINDLASS_VIEWER is not ON")
elseif(WINDLASS_VIEWER)
  fetch_libraries(${viewer_from} ${viewer_to} problem)
  if(problem AND NOT WINDLASS_VIEWER STREQUAL AUTO)
    message(FATAL_ERROR "No viewer: ${problem}")
  elseif(problem)
    string(REGEX REPLACE ":.*" "" WINDLASS_VIEW_PROBLEM "${problem}")
    message(STATUS "Viewer: no, ${problem}")
  else()
    bundle(${viewer_from} ${viewer_to})
    set(WINDLASS_VIEW_PAGE ${viewer_to}/dist/windlass.html)
    set(WINDLASS_VIEW_NOTICE ${viewer_to}/dist/NOTICE)
  endif()
endif()
