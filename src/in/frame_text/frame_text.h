/* SPDX-License-Identifier: MIT */
/*
 * frame_text: finds stack frames in text, in the forms that programs and tools
 * print (docs/fix.md has the list). It must not know what is at the addresses.
 *
 * Text without frames costs a memchr. Hostile text costs linear time: no part
 * is searched backwards twice. It needs no memory. A scan is for one thread;
 * several may run at once. It cannot fail: anything that is not exactly a frame
 * is text.
 */
#ifndef WNDL_IN_FRAME_TEXT_FRAME_TEXT_H
#define WNDL_IN_FRAME_TEXT_FRAME_TEXT_H

#include "base/bytes.h"

enum wndl_frame_form {
    WNDL_FRAME_BRACKETED, /* #01: name[path +0xOFF] */
    WNDL_FRAME_NAMED,     /* name (0xADDRESS path+0xOFF) */
    WNDL_FRAME_UNNAMED,   /* ??? (path) 0xADDRESS */
    WNDL_FRAME_ASAN,      /* #1 0xADDRESS [in name] (path+0xOFF), then perhaps
                           * (BuildId: hex digits) */
    WNDL_FRAME_GLIBC,     /* path(name+0xOFF) [0xADDRESS] */
    WNDL_FRAME_VALGRIND,  /* at 0xADDRESS: name (in path) */
    WNDL_FRAME_PLAIN,     /* path+0xOFF */
    WNDL_FRAME_SPACED,    /* name (path + 0xOFF), path + 0xOFF */
    WNDL_FRAME_ANDROID,   /* #01 pc OFF  path (name+12) */
    WNDL_FRAME_APPLE,     /* 1  image  0xADDRESS 0xBASE + 12 */
    WNDL_FRAME_LLDB,      /* frame #1: 0xADDRESS path`name + 12 */
    WNDL_FRAME_GDB,       /* #1  0xADDRESS in name () */
    WNDL_FRAME_HOTSPOT,   /* C  [path+0xOFF]  name+0xOFF */
    WNDL_FRAME_NODE,      /* 1: 0xADDRESS name [path] */
    WNDL_FRAME_RUST,      /* 1: 0xADDRESS - <unknown> */
    WNDL_FRAME_PYTHON,    /* Binary file "path", at name+0xOFF [0xADDRESS] */
    WNDL_FRAME_KERNEL,    /* name+0xOFF/0xSIZE [module] */
    WNDL_FRAME_MARKUP,    /* {{{bt:1:0xADDRESS}}}; `name` is its number */
    WNDL_FRAME_IPS,       /* "imageOffset":OFF,"imageIndex":12 */
    WNDL_FRAME_PERL,      /* 1  ADDRESS:OFF  name  -  path */
};

/* The base of wndl_frame_text.address. */
enum wndl_frame_base {
    WNDL_FRAME_RVA,       /* the image base */
    WNDL_FRAME_SVMA,      /* 0, as linked */
    WNDL_FRAME_EITHER,    /* one of these two: the tool is not known */
    WNDL_FRAME_IN_SYMBOL, /* the start of the symbol `name` */
    WNDL_FRAME_VALGRINDS, /* 0, as Valgrind loads programs */
    WNDL_FRAME_FILE,      /* the start of the file */
    WNDL_FRAME_PROCESS,   /* 0, in the process: images.h knows its image */
};

/*
 * One frame. Offsets are from the start of the scanned text. start < end; the
 * bytes between them are replaced by the answer and contain no line end. `name`
 * may be empty, `path` only if the base is PROCESS; both are borrowed from the
 * text. The path of a kernel's function is that of the scan, and that of a
 * module's its name.
 */
struct wndl_frame_text {
    enum wndl_frame_form form;
    enum wndl_frame_base base;
    size_t start;
    size_t end;
    struct wndl_bytes name;
    struct wndl_bytes path;
    struct wndl_bytes arch;     /* of Apple's, after the path; or empty */
    struct wndl_bytes build_id; /* its hex digits, or empty */
    uint64_t address;
    uint64_t image;      /* of IPS: its number in the list of images */
    bool return_address; /* the call is one byte before it */
    bool perhaps;        /* text that is no frame can look like this */
};

/*
 * Invariants: line <= taken <= next <= text.size. No later frame has bytes
 * before `taken`. Searches that found nothing are remembered: [taken,
 * no_bracket) has no '[', and so on. `hash` and `open` are the starts of an
 * ASAN and a NAMED frame, or NONE.
 */
struct wndl_frame_scan {
    struct wndl_bytes text;
    bool json; /* frames are inside JSON strings */
    struct wndl_bytes
        kernel; /* path of the kernel; empty: none is looked for */
    size_t next;
    /* The next '#', key of an IPS object, end of a name of Perl's; each may be
     * before the current place. */
    size_t hash_at;
    size_t key_at;
    size_t perl_at;
    size_t no_key;  /* no object begins before that is not read yet */
    size_t entered; /* line ends before it have been handled */
    size_t line;
    size_t taken;
    /* of the last requested line; may be before the current place */
    size_t line_end;
    /* next " (in " or end of line; may be before the current place */
    size_t in_at;
    size_t no_bracket;
    size_t no_hash;
    size_t no_open;
    size_t hash;
    size_t hash_after; /* after its address */
    size_t open;
    size_t open_after;
};

/*
 * Starts a scan of `text`, which begins at the start of a line and outlives the
 * scan.
 */
void wndl_frame_scan_init(
    struct wndl_frame_scan *scan, struct wndl_bytes text, bool json);

/* Finds the next frame in the order of the text. False when there is none. */
bool wndl_frame_scan_next(
    struct wndl_frame_scan *scan, struct wndl_frame_text *frame);

#endif
