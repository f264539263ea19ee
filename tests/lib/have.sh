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

# need TOOL|PATH...: skips the test unless the machine has them all.
need() {
    for needed; do
        have "$needed" || exit 77
    done
}

# skip REASON: the test cannot be tried here.
skip() {
    echo "skipped: $1"
    exit 77
}
