#!/bin/sh
# SPDX-License-Identifier: MIT
# golden.sh WINDLASS MAKE_RECORDING [--bless]: memory reports as they are shown,
# compared, written and refused.
cases=golden
. "$(dirname "$0")/../lib/golden_lib.sh"
cp "$cases/../reports.json" "$cases/../later.json" .
gzip -c reports.json >reports.json.gz

try memory reports.json >tree.got
check tree
try memory reports.json.gz >zipped.got
sed 's/json.gz/json/' zipped.got | cmp - tree.got || failed=1
try memory --verbose later.json >verbose.got
check verbose
{
    try memory --flat reports.json
    try memory --flat --anonymize reports.json later.json
} >flat.got
check flat
{
    try diff reports.json later.json
    try diff reports.json reports.json
} >diff.got
check diff

# What is written is read back as it was; what is private is gone.
"$windlass" memory -o again.json.gz reports.json 2>err
gzip -t again.json.gz
[ "$("$windlass" diff reports.json again.json.gz)" = "No differences." ] || {
    echo "written, and not as it was"
    failed=1
}
"$windlass" memory --anonymize -o public.json reports.json 2>err
if grep -q -e bob -e alice public.json; then
    echo "private, and written"
    failed=1
fi
grep -q '"explicit/users/<private 1>/mail"' public.json || failed=1
"$windlass" memory --json reports.json >json
cat >check.py <<'EOS'
# The layout that Firefox reads, and that it is the same reports.
import json
import sys
was, now = (json.load(open(path)) for path in sys.argv[1:])
assert now["version"] == 1 and now["hasMozMallocUsableSize"] is True
assert was["reports"] == now["reports"], "other reports"
EOS
python3 check.py reports.json json || failed=1

# Firefox's own have no marks of ours, and other members.
cat >firefox.json <<'EOS'
{"version":1,"hasMozMallocUsableSize":true,"reports":[
{"process":"Main Process (pid 7)","path":"explicit/js/gc","kind":0,"units":0,"amount":4194304,"description":"GC."},
{"process":"Main Process (pid 7)","path":"explicit/dom","kind":1,"units":0,"amount":1048576,"description":"DOM."},
{"process":"Main Process (pid 7)","path":"heap-allocated","kind":2,"units":0,"amount":3145728,"description":"x"}],
"later":{"a":[1]}}
EOS
try memory firefox.json >firefox.got
check firefox

sed 's/"version": 1/"version": 2/' reports.json >version.json
sed 's/"kind": 1/"kind": 3/' reports.json >kind.json
sed 's/"units": 1/"units": 9/' reports.json >units.json
sed 's/"amount": 100,//' reports.json >amount.json
sed 's/52428800/5242880000000000000000/' reports.json >large.json
head -c 1000 reports.json >cut.json
head -c 200 reports.json.gz >cut.json.gz
echo '[]' >array.json
: >empty.json
{
    for file in version kind units amount large cut array empty; do
        try memory --flat $file.json
    done
    try memory cut.json.gz
    try memory none.json
    try memory 99999999
    try memory 99999999999999999999
    try memory ''
    try memory
    try memory --every 1 -o out reports.json
    try memory --flat --json reports.json
    try report reports.json
    try diff reports.json array.json
    try diff --by fn reports.json later.json
    try diff --json reports.json later.json
} >errors.got
check errors
exit $failed
