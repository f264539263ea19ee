/* SPDX-License-Identifier: MIT */
/*
 * unwind_info: all call frame information of one binary, in order: the rule at
 * each place, the amount of covered code, and the parts that could not be read.
 */
#ifndef WNDL_ANALYZE_BINARY_UNWIND_INFO_H
#define WNDL_ANALYZE_BINARY_UNWIND_INFO_H

#include "analyze/binary/cfi_text.h"
#include "base/intern.h"
#include "base/vec.h"
#include "cfi_import/arm/source.h"
#include "cfi_import/code/frames.h"
#include "cfi_import/core/source.h"
#include "obj/core/object.h"
#include "os/file.h"

/* A function: code [start, end), svma. */
struct wndl_unwind_function {
    uint64_t start, end; /* end is cut at the next function's start */
    uint64_t fde;        /* offset of its record or entry */
};

struct wndl_unwind_range {
    uint64_t start, end;
    uint32_t rule; /* id of its text in `rules`, > 0 */
};

/* The way in which a walk takes a row: unwind/core/rule.h. */
enum wndl_unwind_way {
    WNDL_WAY_FAST,      /* CFA by SP or BP, return address below it */
    WNDL_WAY_REALIGNED, /* CFA was saved on the stack */
    WNDL_WAY_SIGNAL,    /* all registers are in a signal frame */
    WNDL_WAY_OUTERMOST, /* no caller */
    WNDL_WAY_FULL,      /* by all registers, or by an expression */
    WNDL_WAYS,
};

/* Why a part is not in `ranges`. */
enum wndl_unwind_reject {
    WNDL_REJECT_DAMAGED_RECORD,
    WNDL_REJECT_UNSUPPORTED_RECORD,
    WNDL_REJECT_DAMAGED_PROGRAM, /* from the damage to its end */
    WNDL_REJECT_NO_CFA,          /* a row before the first rule for the CFA */
    WNDL_REJECT_NO_CODE,    /* an empty range, or one outside of all code */
    WNDL_REJECT_OVERLAP,    /* code that is covered by another function too */
    WNDL_REJECT_LIMIT,      /* programs that would take too long */
    WNDL_REJECT_CANTUNWIND, /* entries that forbid it */
    WNDL_REJECTS,
};

struct wndl_unwind_rejected {
    uint64_t count;          /* records; of NO_CFA, rows */
    uint64_t bytes;          /* of code, where the number is known */
    struct wndl_error first; /* the first one's error; status OK: no detail */
};

/* A section of code, or a segment where there are no sections. */
struct wndl_unwind_section {
    const char *name;
    uint64_t start, size; /* svma, bytes */
    uint64_t covered;     /* covered bytes of it */
};

/*
 * The information. Invariants: functions and ranges are sorted and do not
 * overlap; two adjacent ranges have different rules.
 */
struct wndl_unwind_info {
    struct wndl_arena arena;
    struct wndl_file file;
    struct wndl_object *object;
    const struct wndl_cfi_machine *machine;
    struct wndl_cfi_source cfi;
    const char *source; /* the section: ".eh_frame", ... or ".ARM.exidx" */
    struct wndl_cfi_section frame;
    bool by_exidx; /* rows come from `arm`, and `frame` is empty */
    struct wndl_arm_source arm;
    struct wndl_vec functions; /* struct wndl_unwind_function */
    struct wndl_vec ranges;    /* struct wndl_unwind_range */
    struct wndl_vec sections;  /* struct wndl_unwind_section */
    struct wndl_intern rules;  /* the texts of the rules */
    uint64_t rows;
    bool knows_ways; /* false: it is for another machine than this one */
    uint64_t ways[WNDL_WAYS];
    struct wndl_unwind_rejected rejected[WNDL_REJECTS];
    bool from_code;              /* rules were made from code, if possible */
    struct wndl_code_rules code; /* of the code without other rules */
};

/*
 * What to read. `arch` is as in struct wndl_object_source; `debug_dirs` is the
 * list of folders for debug files, as in obj/find/debugfile.h.
 */
struct wndl_unwind_info_request {
    const char *path, *arch;
    const char *const *debug_dirs;
    bool from_code; /* make rules from code where there are none */
};

/* wndl_unwind_info_open for such a request. */
enum wndl_status wndl_unwind_info_open_request(struct wndl_unwind_info *info,
    const struct wndl_unwind_info_request *request, struct wndl_mem *mem,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reads `path`, which must be a program or a library of x86-64, i386, 32-bit
 * Arm or AArch64 (else UNSUPPORTED), and the .debug_frame of its debug file if
 * it has none. NOT_FOUND when it has no call frame
 * information, NOMEM; else as wndl_file_open and wndl_object_open. Damage
 * inside is counted as rejected. Ends with wndl_unwind_info_close, even after a
 * failure.
 */
enum wndl_status wndl_unwind_info_open(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same without rows, ranges and rules, which take most of the time.
 * `covered` then counts whole functions, as if no program were rejected;
 * entries of .ARM.exidx without a rule are left out.
 */
enum wndl_status wndl_unwind_info_cover(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem,
    struct wndl_error *err) WNDL_MUST_USE;

void wndl_unwind_info_close(struct wndl_unwind_info *info);

/*
 * The range, or function, that contains `svma`; NULL if none does. Valid as
 * long as `info`.
 */
const struct wndl_unwind_range *wndl_unwind_info_find(
    const struct wndl_unwind_info *info, uint64_t svma);
const struct wndl_unwind_function *wndl_unwind_info_function(
    const struct wndl_unwind_info *info, uint64_t svma);

/*
 * Appends the function's rows as Breakpad's STACK CFI records, with addresses
 * from the image base. Rejected parts add nothing.
 */
void wndl_unwind_info_breakpad(struct wndl_buf *text,
    const struct wndl_unwind_info *info,
    const struct wndl_unwind_function *function);

#endif
