# Valgrind tools of our own (valgrind/), linked with the libraries that the
# package of Valgrind brings. Sets WINDLASS_VALGRIND_VERSION to what
# `valgrind --version` prints, or to nothing where no tool can be built.
set(WINDLASS_VALGRIND_VERSION "")
set(valgrind_headers /usr/include/valgrind)
set(valgrind_libraries
  /usr/lib/${CMAKE_C_LIBRARY_ARCHITECTURE}/valgrind)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR CMAKE_CROSSCOMPILING OR
    CMAKE_SIZEOF_VOID_P EQUAL 4 OR WINDLASS_SANITIZE)
  return()
endif()
find_program(WINDLASS_VALGRIND valgrind)
if(NOT WINDLASS_VALGRIND OR
    NOT EXISTS ${valgrind_headers}/pub_tool_basics.h OR
    NOT EXISTS ${valgrind_libraries}/libcoregrind-amd64-linux.a)
  message(STATUS "Valgrind tools: no, the package valgrind is not there")
  return()
endif()
execute_process(COMMAND ${WINDLASS_VALGRIND} --version
  OUTPUT_VARIABLE WINDLASS_VALGRIND_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
add_subdirectory(${CMAKE_SOURCE_DIR}/valgrind ${CMAKE_BINARY_DIR}/valgrind)
