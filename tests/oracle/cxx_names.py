# SPDX-License-Identifier: MIT
"""
cxx_names.py NAMES OURS LLVM GNU: compares three lists of demangled names, a
line for each line of NAMES: ours, llvm-cxxfilt's and c++filt's. Each name has
to be read, and to be one of the others' but for how they spell it; or it is of
one of the kinds below, in which both others are wrong or say less. Prints how many
there are of each; fails, and prints the names, if others differ.
"""
import re
import sys

# How the others spell the same.
SPELLINGS = [
    ("TLS init function for", "thread-local initialization routine for"),
    ("TLS wrapper function for", "thread-local wrapper routine for"),
]

KINDS = {
    # A lambda that occurs only as a type, as in a default template argument:
    # neither reads it. Ours takes it for a lambda in a name.
    "unevaluated lambda": r"^_Z11unevaluatedI",
    # LLVM names the template parameter, where ours has its argument.
    "constraint before parameters": r"^_Z8requiredI",
    # LLVM has the lambda's template parameters in its call operator ("$T"),
    # or the type of the function around it; c++filt numbers the lambda's
    # template parameters, and cannot read constraints.
    "generic lambda": r"Ul(Ty|Tk)|UlDpT_",
    # In the name of a local class or lambda, LLVM shows the return type of
    # the function around it; c++filt does not read the rest of these.
    "local name": r"Z.*E(Ul|NK?Ul|_|d_?|s)|XadL_Z",
}


def balanced(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


def lambdas_last(text):
    """{lambda(int)#1} as {lambda#1}int"""
    while (at := re.search(r"\{lambda(<[^()]*>)?\(", text)) is not None:
        end = balanced(text, at.end() - 1)
        number = re.match(r"#(\d+)\}", text[end + 1 :])
        if number is None:
            return text
        text = (
            text[: at.start()]
            + "{lambda#"
            + number[1]
            + "}"
            + (at[1] or "")
            + text[at.end() : end]
            + text[end + 1 + number.end() :]
        )
    return text


def lambda_of_llvm(match):
    return "{lambda#%d}" % (int(match[1]) + 2 if match[1] else 1)


def parameter(match):
    number = int(match[1])
    return "fp" + (str(number - 2) if number > 1 else "")


def canonical(text):
    """Without spaces and parentheses, of which all have their own style."""
    for ours, theirs in SPELLINGS:
        text = text.replace(ours, theirs)
    traits = r"<char, std::char_traits<char>(, std::allocator<char>)? ?>"
    text = re.sub(r"std::basic_(\w+)" + traits, r"std::\1", text)
    text = re.sub(r" (?:\[clone |\()(\.[\w.]+)[])]", r"\1", text)
    text = re.sub(r"'lambda(\d*)'", lambda_of_llvm, text)
    text = re.sub(r"\{parm#(\d+)\}", parameter, text)
    return re.sub(r"[\s()]", "", lambdas_last(text))


def kind_of(name):
    for kind, pattern in KINDS.items():
        if re.search(pattern, name):
            return kind
    return None


def main():
    lists = [open(path, errors="replace").read().splitlines()
             for path in sys.argv[1:]]
    if len({len(one) for one in lists}) != 1 or len(lists[0]) < 50:
        sys.exit("cxx_names.py: lists of different lengths, or too short")
    wrong = 0
    counts = {}
    for name, ours, llvm, gnu in zip(*lists):
        text = canonical(ours)
        kind = None
        if ours == name:
            kind = "unread"
        elif text == canonical(gnu):
            kind = "as c++filt"
        elif text == canonical(llvm):
            kind = "as llvm-cxxfilt"
        else:
            kind = kind_of(name)
        counts[kind] = counts.get(kind, 0) + 1
        if kind is None or kind == "unread":
            wrong += 1
            if wrong <= 5:
                print(f"{name}\n  ours {ours}\n  llvm {llvm}\n  gnu  {gnu}")
    for kind, count in sorted(counts.items(), key=lambda one: -one[1]):
        print(f"{count:7} {kind}")
    known = counts.get("as c++filt", 0) + counts.get("as llvm-cxxfilt", 0)
    few = known < 0.9 * len(lists[0])
    if few:
        print("too many names are of kinds")
    sys.exit(1 if wrong or few else 0)


main()
