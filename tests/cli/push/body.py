# SPDX-License-Identifier: MIT
"""body.py FILE [labels]: the profile in the body of a request, or its
series's labels, one on a line."""
import base64
import json
import sys

with open(sys.argv[1], "rb") as file:
    body = file.read()
profile, labels = body, []
if body[:1] == b"{":
    top = json.loads(body)
    assert set(top) == {"series"} and len(top["series"]) == 1
    (series,) = top["series"]
    assert set(series) == {"labels", "samples"} and len(series["samples"]) == 1
    labels = series["labels"]
    if isinstance(labels, dict):
        labels = labels["labels"]
    profile = base64.b64decode(series["samples"][0]["rawProfile"], validate=True)
if sys.argv[2:] == ["labels"]:
    print("\n".join(sorted("%(name)s=%(value)s" % l for l in labels)))
else:
    sys.stdout.buffer.write(profile)
