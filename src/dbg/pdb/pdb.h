/* SPDX-License-Identifier: MIT */
/*
 * pdb: from an address to the functions, inlined frames, files and lines that a
 * PDB file of version 7 gives for it.
 *
 * Opening reads the list of streams and the module (object file) of each piece
 * of code. A module's functions are listed at the first lookup of one of its
 * addresses, and so are a function's inlined calls and lines. Damaged parts are
 * left out and counted. Addresses are offsets from the image base (rva). It
 * must not know where files are, nor demangling.
 *
 * One thread at a time.
 */
#ifndef WNDL_DBG_PDB_PDB_H
#define WNDL_DBG_PDB_PDB_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/vec.h"

struct wndl_pdb;

/* The identity of a build. */
struct wndl_pdb_id {
    uint8_t guid[16]; /* as stored: its first three fields little-endian */
    uint32_t age;
};

/* Values of IMAGE_FILE_MACHINE_*. */
enum wndl_pdb_machine {
    WNDL_PDB_X86 = 0x14c,
    WNDL_PDB_ARM = 0x1c4,
    WNDL_PDB_X64 = 0x8664,
    WNDL_PDB_ARM64 = 0xaa64,
};

/* The file's bytes are borrowed for the life of the wndl_pdb. */
struct wndl_pdb_source {
    struct wndl_bytes file;
    const char *path; /* for messages; may be NULL */
    /*
     * Releases the memory of the file, whose bytes must come back at the next
     * read; NULL: it cannot be released.
     */
    void (*give_up)(struct wndl_bytes file);
};

/*
 * One frame of an answer. Strings are NUL-terminated and live as long as the
 * wndl_pdb; an unknown one is empty. The line of the innermost frame is that of
 * its code, that of another frame is the call of the frame inside it; 0 if not
 * known. `linkage_name` is that of the public symbol at the function's start,
 * if there is one.
 */
struct wndl_pdb_frame {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    struct wndl_bytes file;
    uint32_t line;
    uint32_t column;
    bool inlined;
    bool is_thunk;  /* jumps to the function of that name */
    uint64_t start; /* rva of the (inlined) function */
};

/* Innermost first; only the last one has inlined == false. */
struct wndl_pdb_frames {
    const struct wndl_pdb_frame *frames; /* valid until the next lookup */
    size_t count;
};

/* A function; size 0: a public symbol, whose end is not known. */
struct wndl_pdb_function {
    struct wndl_bytes name; /* as in struct wndl_pdb_frame */
    struct wndl_bytes linkage_name;
    bool is_thunk;
    uint64_t rva;
    uint64_t size;
};

/* The way to the caller of a record's code. */
enum wndl_pdb_stack_type {
    WNDL_PDB_FPO = 0,
    WNDL_PDB_TRAP = 1,
    WNDL_PDB_TSS = 2,
    WNDL_PDB_STANDARD = 3,
    WNDL_PDB_FRAME_DATA = 4, /* by a program */
};

/* The stack use of [rva, rva + size) of i386 code, in bytes. */
struct wndl_pdb_stack {
    uint64_t rva;
    uint32_t size;
    uint32_t prologue; /* of the code */
    uint32_t parameters;
    uint32_t saved; /* registers */
    uint32_t locals;
    uint32_t stack_most;
    uint8_t type;              /* enum wndl_pdb_stack_type */
    bool allocates_bp;         /* EBP is used for something else */
    struct wndl_bytes program; /* postfix, of printable characters, or empty */
};

struct wndl_pdb_stats {
    uint32_t damaged;               /* modules, and tables of the file */
    struct wndl_error first_damage; /* status WNDL_OK when none */
};

/* Whether `file` begins as a PDB file does. */
bool wndl_pdb_is(struct wndl_bytes file);

/*
 * Opens a PDB file. MALFORMED, TRUNCATED, UNSUPPORTED, NOMEM; `err` has the
 * path. On success *out ends with wndl_pdb_close.
 */
enum wndl_status wndl_pdb_open(const struct wndl_pdb_source *source,
    struct wndl_mem *mem, struct wndl_pdb **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Closes it. NULL is ignored. */
void wndl_pdb_close(struct wndl_pdb *pdb);

/*
 * The identity in the file, which lives as long as the wndl_pdb; its machine.
 */
const struct wndl_pdb_id *wndl_pdb_id(const struct wndl_pdb *pdb);
uint16_t wndl_pdb_machine(const struct wndl_pdb *pdb);

/* The frames of an address, innermost first. NOT_FOUND, NOMEM. */
enum wndl_status wndl_pdb_lookup(struct wndl_pdb *pdb, uint64_t rva,
    struct wndl_pdb_frames *frames) WNDL_MUST_USE;

/* The number of the module of an address. Lookups are cheapest in its order. */
uint32_t wndl_pdb_module_of(const struct wndl_pdb *pdb, uint64_t rva);

/*
 * Calls `visit` with each function, or with each public symbol of code. Stops
 * at the first status other than OK, and returns it. Else OK or NOMEM.
 */
typedef enum wndl_status (*wndl_pdb_visit)(
    void *context, const struct wndl_pdb_function *function);
enum wndl_status wndl_pdb_visit_functions(
    struct wndl_pdb *pdb, wndl_pdb_visit visit, void *context) WNDL_MUST_USE;
enum wndl_status wndl_pdb_visit_publics(
    struct wndl_pdb *pdb, wndl_pdb_visit visit, void *context) WNDL_MUST_USE;

/*
 * The same with each record of stack use, in the order of the file. A record
 * whose code was moved after linking comes once for each piece. The records
 * amount to at most a few times the bytes of the file. `program` is valid until
 * `visit` returns.
 */
typedef enum wndl_status (*wndl_pdb_visit_stack)(
    void *context, const struct wndl_pdb_stack *stack);
enum wndl_status wndl_pdb_visit_stacks(struct wndl_pdb *pdb,
    wndl_pdb_visit_stack visit, void *context) WNDL_MUST_USE;

/*
 * Adds to `rvas` (uint64_t) each address in [start, end) where the answer may
 * differ from that for the byte before, in any order. OK or NOMEM.
 */
enum wndl_status wndl_pdb_changes(struct wndl_pdb *pdb, uint64_t start,
    uint64_t end, struct wndl_vec *rvas) WNDL_MUST_USE;

/* The damage so far. */
void wndl_pdb_get_stats(
    const struct wndl_pdb *pdb, struct wndl_pdb_stats *stats);

#endif
