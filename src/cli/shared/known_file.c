/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/shared/known_file.h"

#include "analyze/callgraph/kind.h"
#include "base/text.h"
#include "cli/core/command.h"
#include "cli/core/shell_word.h"
#include "in/core/gunzip.h"
#include "in/mvp.h"
#include "in/vm.h"

#include <elf.h>
#include <string.h>
#include <zstd.h>

enum { HEAD_SIZE = 64 * 1024 };

/* The beginning of a file, without its compression. */
struct head {
    struct wndl_bytes bytes;
    uint8_t inflated[HEAD_SIZE];
    const char *packed; /* "gzip", "zstd"; NULL: it is not compressed */
};

/* FILE in the advice stands for the file's name. */
struct known {
    const char *what, *advice;
    enum wndl_taken taken;
};

/* ---- texts for several kinds */

#define MERGED "'windlass merge FILE' reads it"
#define NOT_READ                                                               \
    "windlass does not read it ('windlass merge' reads callgrind, pprof, "     \
    "folded stacks and the output of 'perf script')"
#define IN_BROWSER(where) "open it in " where "; " NOT_READ
#define BINARY                                                                 \
    "'windlass record -- PROGRAM' makes a recording; 'windlass sym -e FILE' "  \
    "and 'windlass unwind-info FILE' read binaries"
#define SYMBOLS                                                                \
    "'windlass fix' and 'windlass sym' read symbols, 'windlass record -- "     \
    "PROGRAM' makes a recording"

/* ---- kinds by their first bytes */

#define MAGIC(text) text, sizeof text - 1

static const struct {
    const char *bytes;
    size_t size;
    struct known known;
} magics[] = {
    {MAGIC("PERFILE2"),
        {"perf's own perf.data",
            "try: perf script -i FILE | windlass merge -o callgrind.out -", 0}},
    {MAGIC("2ELIFREP"),
        {"perf's own perf.data of another byte order",
            "try: perf script -i FILE | windlass merge -o callgrind.out -", 0}},
    {MAGIC("PERFFILE"),
        {"an old perf.data of perf",
            "try: perf script -i FILE | windlass merge -o callgrind.out -", 0}},
    {MAGIC("DTiJ"),
        {"a jitdump",
            "'windlass report' of the recording reads it if it is named "
            "jit-PID.dump and is in the same folder",
            0}},
    {MAGIC("JiTD"), {"a jitdump of another byte order", NOT_READ, 0}},
    {MAGIC("gmon"), {"a profile of gprof", "try: gprof PROGRAM FILE", 0}},
    {MAGIC("heap profile:"),
        {"a heap profile of gperftools", MERGED, WNDL_TAKES_GRAPHS}},
    {MAGIC("--- symbol\n"),
        {"a symbolized profile of gperftools",
            "try: google-pprof --collapsed FILE | windlass merge -o "
            "callgrind.out -",
            0}},
    {MAGIC("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"),
        {"a CPU profile of gperftools",
            "try: google-pprof --collapsed PROGRAM FILE | windlass merge -o "
            "callgrind.out -",
            0}},
    {MAGIC("WNDLUNWT"),
        {"an unwind table of windlass",
            "'windlass unwind-table show FILE' shows it, 'windlass record "
            "--unwind-table MODULE=FILE' uses it",
            0}},
    {MAGIC("MODULE "), {"a symbol file of Breakpad", SYMBOLS, 0}},
    {MAGIC("Microsoft C/C++ MSF"), {"a PDB file", SYMBOLS, 0}},
    {MAGIC("MZ"), {"a program or library of Windows", BINARY, 0}},
    {MAGIC("\xce\xfa\xed\xfe"), {"a Mach-O file", BINARY, 0}},
    {MAGIC("\xcf\xfa\xed\xfe"), {"a Mach-O file", BINARY, 0}},
    {MAGIC("\xfe\xed\xfa\xce"), {"a Mach-O file", BINARY, 0}},
    {MAGIC("\xfe\xed\xfa\xcf"), {"a Mach-O file", BINARY, 0}},
    {MAGIC("\xca\xfe\xba\xbe"), {"a Mach-O file or a Java class", BINARY, 0}},
    {MAGIC("!<arch>\n"), {"an archive of object files", BINARY, 0}},
    {MAGIC("FLR\0"), {"a recording of Java's Flight Recorder", NOT_READ, 0}},
    {MAGIC("SQLite format 3"), {"an SQLite database", NOT_READ, 0}},
    {MAGIC("PK\3\4"), {"a zip archive", "unpack it first", 0}},
    {MAGIC("\xfd"
           "7zXZ"),
        {"an xz file", "unpack it first: xz -d FILE", 0}},
    {MAGIC("BZh"), {"a bzip2 file", "unpack it first: bzip2 -d FILE", 0}},
    {MAGIC("\xc1\x1f\xfc\xc1"),
        {"a CTF trace (LTTng)", "try: babeltrace2 FILE; " NOT_READ, 0}},
    {MAGIC("<!"), {"a page or a picture", "open it in a web browser", 0}},
    {MAGIC("<svg"), {"a picture", "open it in a web browser", 0}},
    {MAGIC("<?xml"), {"an XML file", NOT_READ, 0}},
    {MAGIC("#!"), {"a script", "'windlass record -- FILE' records it", 0}},
};

/* ---- kinds by words in their beginnings */

static const struct {
    const char *first, *word; /* the first letter; a word near it */
    struct known known;
} texts[] = {
    {"{", "\"dhatFileVersion\"",
        {"DHAT's output (Valgrind)", "open it in dh_view.html; " NOT_READ, 0}},
    {"{", "speedscope.app/file-format",
        {"a profile of speedscope", IN_BROWSER("speedscope.app"), 0}},
    {"{[", "\"traceEvents\"",
        {"a trace of Chrome", IN_BROWSER("ui.perfetto.dev"), 0}},
    {"{", "\"timeDeltas\"",
        {"a .cpuprofile of V8", IN_BROWSER("Chrome's DevTools"), 0}},
    {"{", "\"dmdEnvVar\"",
        {"a DMD file of Mozilla", "'windlass report FILE' shows it",
            WNDL_TAKES_DMD}},
    {"{", "\"blockList\"",
        {"a DMD file of Mozilla", "'windlass report FILE' shows it",
            WNDL_TAKES_DMD}},
    {"{", "\"hasMozMallocUsableSize\"",
        {"a memory report (of windlass or Firefox)",
            "'windlass memory FILE' shows it", WNDL_TAKES_MEMORY}},
    {"{", "\"preprocessedProfileVersion\"",
        {"a profile of the Firefox Profiler (Firefox, samply)",
            IN_BROWSER("profiler.firefox.com, or 'samply load FILE'"), 0}},
    {"{", "\"stackTable\"",
        {"a profile of the Firefox Profiler (Firefox, samply)",
            IN_BROWSER("profiler.firefox.com, or 'samply load FILE'"), 0}},
    {"d", "\ntime_unit: ",
        {"massif's output (Valgrind)", "try: ms_print FILE; " NOT_READ, 0}},
    {"v", "\nX ",
        {"heaptrack's output",
            "try: heaptrack_print -f FILE; 'windlass heap -- PROGRAM' "
            "makes a recording",
            0}},
};

static bool has_word(struct wndl_bytes bytes, const char *word)
{
    return memmem(bytes.data, bytes.size, word, strlen(word)) != NULL;
}

static char first_letter(struct wndl_bytes bytes)
{
    size_t at = 0;
    while (at < bytes.size && bytes.data[at] != 0 &&
           strchr(" \t\r\n", bytes.data[at]) != NULL)
        at++;
    return at < bytes.size ? (char)bytes.data[at] : '\0';
}

static const struct known *by_words(struct wndl_bytes bytes)
{
    const char letter = first_letter(bytes);
    for (size_t i = 0; letter != 0 && i < sizeof texts / sizeof *texts; i++) {
        if (strchr(texts[i].first, letter) != NULL &&
            has_word(bytes, texts[i].word))
            return &texts[i].known;
    }
    return NULL;
}

static const struct known *by_magic(struct wndl_bytes bytes)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (bytes.size >= magics[i].size &&
            memcmp(bytes.data, magics[i].bytes, magics[i].size) == 0)
            return &magics[i].known;
    }
    return NULL;
}

/* ---- other kinds */

static const struct known *by_elf_type(struct wndl_bytes bytes)
{
    static const struct known core = {
        "a core dump", "'windlass stack --core FILE' shows its stacks", 0};
    static const struct known object = {"an ELF object file", BINARY, 0};
    static const struct known program = {
        "an ELF program or library", BINARY, 0};
    if (bytes.size < EI_NIDENT + 2 || memcmp(bytes.data, ELFMAG, SELFMAG) != 0)
        return NULL;
    const bool big = bytes.data[EI_DATA] == ELFDATA2MSB;
    switch (bytes.data[EI_NIDENT + (big ? 1 : 0)]) {
    case ET_CORE:
        return &core;
    case ET_REL:
        return &object;
    default:
        return &program;
    }
}

static const struct known *by_graph(struct wndl_bytes bytes)
{
    static const struct known kinds[] = {
        [WNDL_GRAPH_CALLGRIND] = {"callgrind's output", MERGED,
            WNDL_TAKES_GRAPHS},
        [WNDL_GRAPH_PPROF] = {"a profile of pprof", MERGED, WNDL_TAKES_GRAPHS},
        [WNDL_GRAPH_PPROF_TEXT] = {"a profile in pprof's old text", MERGED,
            WNDL_TAKES_GRAPHS},
        [WNDL_GRAPH_PERF_SCRIPT] = {"the output of perf script", MERGED,
            WNDL_TAKES_GRAPHS},
        [WNDL_GRAPH_VALGRIND] = {"Valgrind's messages", MERGED,
            WNDL_TAKES_GRAPHS},
        [WNDL_GRAPH_FOLDED] = {"folded stacks", MERGED, WNDL_TAKES_GRAPHS},
    };
    const enum wndl_graph_kind kind = wndl_graph_kind_of(bytes);
    return kind <= WNDL_GRAPH_RECORDING ? NULL : &kinds[kind];
}

/*
 * Whether the bytes begin with two fields of pprof's Profile, in any order:
 * those of numbers 1 to 6 and 11 have bytes, the others are numbers.
 */
static bool begins_as_pprof(struct wndl_bytes bytes)
{
    enum { PLAIN = 0, BYTES = 2, FIELDS = 15, OF_BYTES = 0x87e };
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t key = wndl_cursor_uleb(&c);
        const uint64_t number = key >> 3, type = key & 7;
        if (number == 0 || number > FIELDS ||
            (type == BYTES) != ((OF_BYTES >> number & 1) != 0) ||
            (type != BYTES && type != PLAIN))
            return false;
        const uint64_t value = wndl_cursor_uleb(&c);
        if (type == BYTES)
            wndl_cursor_skip(&c, value);
    }
    return !c.failed;
}

static const struct known *by_compression(const struct head *head)
{
    /* Their readers know better what is wrong with it. */
    static const struct known gzip = {"a gzip file of something else",
        "unpack it first: gzip -d FILE", WNDL_TAKES_DMD | WNDL_TAKES_GRAPHS};
    static const struct known zstd = {
        "a zstd file of something else", "unpack it first: zstd -d FILE", 0};
    if (head->packed == NULL)
        return NULL;
    return strcmp(head->packed, "gzip") == 0 ? &gzip : &zstd;
}

/* NULL: a recording, or nothing known. */
static const struct known *find_known(const struct head *head)
{
    static const struct known results = {"results of vmprof",
        "'windlass vmprof --show FILE' shows it", WNDL_TAKES_VM};
    static const struct known values = {"results of mvp",
        "'windlass mvp --show FILE' shows it", WNDL_TAKES_MVP};
    static const struct known pprof = {
        "a profile of pprof", MERGED, WNDL_TAKES_GRAPHS};
    const struct wndl_bytes bytes = head->bytes;
    if (wndl_graph_kind_of(bytes) == WNDL_GRAPH_RECORDING)
        return NULL;
    if (wndl_vm_is(bytes))
        return &results;
    if (wndl_mvp_is(bytes))
        return &values;
    if (head->packed != NULL && begins_as_pprof(bytes))
        return &pprof;
    const struct known *known = by_elf_type(bytes);
    if (known == NULL)
        known = by_words(bytes);
    if (known == NULL)
        known = by_magic(bytes);
    if (known == NULL)
        known = by_graph(bytes);
    return known != NULL ? known : by_compression(head);
}

/* ---- the beginning of a file */

static size_t inflate_gzip(struct head *head, struct wndl_bytes file)
{
    struct wndl_gunzip gunzip;
    size_t size = 0, got = 1;
    bool fine = wndl_gunzip_open(&gunzip, file, wndl_mem_libc()) == WNDL_OK;
    while (fine && size < HEAD_SIZE && got != 0) {
        fine = wndl_gunzip_some(&gunzip, head->inflated + size,
                   HEAD_SIZE - size, &got) == WNDL_OK;
        size += got;
    }
    wndl_gunzip_close(&gunzip);
    return size;
}

static size_t inflate_zstd(struct head *head, struct wndl_bytes file)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_outBuffer out = {head->inflated, HEAD_SIZE, 0};
    ZSTD_inBuffer in = {file.data, file.size, 0};
    size_t left = 1, before = 1;
    while (stream != NULL && !ZSTD_isError(left) && left != 0 &&
           out.pos < out.size && before != out.pos + in.pos) {
        before = out.pos + in.pos;
        left = ZSTD_decompressStream(stream, &out, &in);
    }
    (void)ZSTD_freeDStream(stream);
    return out.pos;
}

static void take_head(struct head *head, struct wndl_bytes file)
{
    const size_t size = file.size < HEAD_SIZE ? file.size : HEAD_SIZE;
    head->packed = wndl_gunzip_is_gzip(file)                         ? "gzip"
                   : wndl_bytes_start_with(file, "\x28\xb5\x2f\xfd") ? "zstd"
                                                                     : NULL;
    if (head->packed == NULL)
        head->bytes = (struct wndl_bytes){file.data, size};
    else
        head->bytes = (struct wndl_bytes){
            head->inflated, *head->packed == 'g' ? inflate_gzip(head, file)
                                                 : inflate_zstd(head, file)};
}

/* ---- the error */

/* `advice` with the file's name, as a shell takes it, for each FILE. */
static void put_advice(
    struct wndl_buf *out, const char *advice, const char *path)
{
    const char *at;
    while ((at = strstr(advice, "FILE")) != NULL) {
        wndl_buf_printf(out, "%.*s", (int)(at - advice), advice);
        wndl_shell_word(out, path);
        advice = at + strlen("FILE");
    }
    wndl_buf_text(out, advice);
    wndl_buf_byte(out, '\0');
}

bool wndl_known_file_is_memory(const struct wndl_input *input)
{
    struct head head;
    take_head(&head, input->bytes);
    const struct known *known = find_known(&head);
    return known != NULL && (known->taken & WNDL_TAKES_MEMORY) != 0;
}

bool wndl_known_file_is_taken(
    const struct wndl_input *input, enum wndl_taken taken)
{
    struct head head;
    take_head(&head, input->bytes);
    const struct known *known = find_known(&head);
    if (known == NULL || (known->taken & taken) != 0)
        return true;
    struct wndl_buf advice;
    wndl_buf_init(&advice, wndl_mem_libc());
    put_advice(&advice, known->advice, input->path);
    wndl_cli_error("%s: %s%s%s, not a windlass recording; %s", input->name,
        known->what, head.packed == NULL ? "" : ", packed with ",
        head.packed == NULL ? "" : head.packed,
        advice.failed ? "out of memory" : (const char *)advice.data);
    wndl_buf_free(&advice);
    return false;
}
