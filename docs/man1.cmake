# SPDX-License-Identifier: MIT
# man1: writes the man pages of WINDLASS and of all its commands into FOLDER.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${WINDLASS} --man
  OUTPUT_FILE ${FOLDER}/windlass.1 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WINDLASS} --commands
  OUTPUT_VARIABLE commands OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" commands "${commands}")
foreach(command IN LISTS commands)
  execute_process(COMMAND ${WINDLASS} --man ${command}
    OUTPUT_FILE ${FOLDER}/windlass-${command}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()
