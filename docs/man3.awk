# SPDX-License-Identifier: MIT
# man3.awk: the man pages of a public header, from its comments.
#
#   awk -v list=1 -f man3.awk HEADER        names of the pages, a line each
#   awk -v out=DIR -f man3.awk HEADER       the pages, DIR/NAME.3
#
# One page for each function, from the comment before it, and one for the
# header, windlass-HEADER.3, from its first comment and its types. A function
# without a comment shares the page of the one before it. Functions whose
# comment begins with "Private" are left out.

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}

# Text of a comment: paragraphs, and as they are lines that begin with blanks.
function body(text, file,    lines, count, i, verbatim, indented, gap) {
    count = split(text, lines, "\n")
    verbatim = gap = 0
    for (i = 1; i <= count; i++) {
        if (lines[i] == "") {
            gap = 1
            continue
        }
        indented = lines[i] ~ /^  /
        if (verbatim && !indented)
            print ".fi\n.RE" >file
        if (gap && !(verbatim && indented))
            print ".PP" >file
        else if (gap)
            print "" >file
        if (!verbatim && indented)
            print ".RS\n.nf" >file
        verbatim = indented
        gap = 0
        print escaped(lines[i]) >file
    }
    if (verbatim)
        print ".fi\n.RE" >file
}

function code(text, file) {
    print ".nf" >file
    print escaped_lines(text) >file
    print ".fi" >file
}

function escaped_lines(text,    lines, count, i, all) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++)
        all = all (i > 1 ? "\n" : "") escaped(lines[i])
    return all
}

# The first sentence, or what is before its first colon or semicolon.
function summary(text) {
    gsub(/\n/, " ", text)
    sub(/(\. |\.$|[:;(]).*/, "", text)
    sub(/[ ,]+$/, "", text)
    return text
}

function head(name, what, file) {
    printf ".TH %s 3 \"\" \"windlass\" \"Library Functions\"\n",
        escaped(toupper(name)) >file
    print ".nh\n.ad l" >file
    printf ".SH NAME\n%s \\- %s\n", escaped(name), escaped(what) >file
    printf ".SH SYNOPSIS\n.nf\n.B #include <%s>\n", header >file
}

function see_also(name, file) {
    print ".SH SEE ALSO" >file
    if (name != "")
        print ".BR " name " (3)," >file
    print ".BR windlass (1)" >file
    close(file)
}

function name_of(prototype) {
    sub(/\(.*/, "", prototype)
    sub(/.*[ *]/, "", prototype)
    return prototype
}

# A function page; without a comment of its own it points to the last one.
function add_function(prototype,    name) {
    sub(/^WNDL_API /, "", prototype)
    sub(/ WNDL_MUST_USE;$/, ";", prototype)
    sub(/^static inline /, "", prototype)
    sub(/\n?{$/, ";", prototype)
    name = name_of(prototype)
    if (comment == "" && count == 0)
        return
    if (comment != "")
        count++
    else
        alias[name] = names[count]
    if (comment != "")
        names[count] = name
    if (comment != "")
        comments[count] = comment
    prototypes[count] = prototypes[count] (comment == "" ? "\n" : "") prototype
    all[++pages] = name
    comment = ""
}

function end_of_comment() {
    sub(/\n+$/, "", comment)
    sub(/^\n+/, "", comment)
    if (comment ~ /^SPDX/) {
        comment = ""
        return
    }
    if (about == "") {
        about = comment
        comment = raw = ""
    }
}

FNR == 1 {
    header = FILENAME
    sub(/.*\/windlass\//, "windlass/", header)
}

in_comment || (!in_type && /^\/\*/) {
    raw = (in_comment ? raw "\n" : "") $0
    line = $0
    if (!in_comment)
        comment = ""
    in_comment = line !~ /\*\/ *$/
    sub(/^\/\* ?/, "", line)
    sub(/ ?\*\/ *$/, "", line)
    sub(/^ \* ?/, "", line)
    sub(/^ $/, "", line)
    comment = comment (comment == "" ? "" : "\n") line
    if (!in_comment)
        end_of_comment()
    next
}

in_type || /^(struct|enum|typedef) [^(]*({|;)$/ {
    if (comment ~ /^Private/)
        hidden = 1
    if (!hidden)
        types = types (in_type ? "\n" : (types == "" ? "" : "\n\n") \
            (raw == "" ? "" : raw "\n")) $0
    in_type = !($0 ~ /^}.*;$/ || (!in_type && /;$/))
    if (!in_type)
        comment = raw = hidden = ""
    next
}

in_function || (/^(WNDL_API|static inline) / && comment !~ /^Private/) {
    prototype = in_function ? prototype "\n" $0 : $0
    is_inline = prototype ~ /^static/
    in_function = is_inline ? $0 !~ /^{$/ : $0 !~ /;$/
    if (!in_function)
        add_function(prototype)
    raw = ""
    next
}

/^$/ {
    if (last !~ /^$/)
        comment = raw = ""
}

{ last = $0 }

function write_pages(    i, file) {
    for (i = 1; i <= count; i++) {
        file = out "/" names[i] ".3"
        head(names[i], summary(comments[i]), file)
        print ".PP" >file
        print escaped_lines(prototypes[i]) >file
        print ".fi\n.SH DESCRIPTION" >file
        body(comments[i], file)
        see_also(overview, file)
    }
    for (i in alias) {
        file = out "/" i ".3"
        print ".so man3/" alias[i] ".3" >file
        close(file)
    }
}

function write_overview(    i, file, text) {
    file = out "/" overview ".3"
    text = about
    sub(/^[^:]*: /, "", text)
    head(overview, summary(text), file)
    print ".fi\n.SH DESCRIPTION" >file
    body(toupper(substr(text, 1, 1)) substr(text, 2), file)
    if (types != "") {
        print ".SH TYPES" >file
        code(types, file)
    }
    print ".SH FUNCTIONS" >file
    for (i = 1; i <= pages; i++)
        print ".BR " all[i] " (3)" (i < pages ? "," : "") >file
    see_also("", file)
}

END {
    overview = header
    sub(/^windlass\//, "windlass-", overview)
    sub(/\.h$/, "", overview)
    if (list) {
        print overview
        for (i = 1; i <= pages; i++)
            print all[i]
        exit
    }
    write_pages()
    write_overview()
}
