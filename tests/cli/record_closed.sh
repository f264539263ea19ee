#!/bin/sh
# The program finds no descriptor of ours, and may close all it likes.
. "$(dirname "$0")/record_lib.sh"
status=0
"$fixtures/closes" || status=$?
record "$status" -- "$fixtures/closes"
at_least 80 "$(samples_of 1)" "samples"
