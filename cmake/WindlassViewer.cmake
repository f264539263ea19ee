# Sets WINDLASS_VIEW_PAGE to the page that 'windlass view' fills in, or to
# nothing if there is to be none.
#
# WINDLASS_VIEWER is OFF, or a page that was bundled elsewhere.
set(WINDLASS_VIEWER OFF CACHE STRING "The viewer: OFF, or its page's file")

set(WINDLASS_VIEW_PAGE "")
if(IS_ABSOLUTE "${WINDLASS_VIEWER}")
  set(WINDLASS_VIEW_PAGE "${WINDLASS_VIEWER}")
endif()
