# SPDX-License-Identifier: MIT
# have TOOL, have PATH: whether a tool is installed or a file is there. If not, it
# says that a part of the test is skipped: tests/all/run_preset.sh fails where
# tests/all/skips does not allow that.
have() {
    case $1 in
    */*) [ ! -r "$1" ] || return 0 ;;
    *) ! command -v "$1" >/dev/null 2>&1 || return 0 ;;
    esac
    echo "skipped: no $1"
    return 1
}
