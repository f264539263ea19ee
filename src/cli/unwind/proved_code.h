/* SPDX-License-Identifier: MIT */
/* proved_code: the code of a process whose unwind rules are proved: which
 * module an instruction is of, what it does, and its rule. */
#ifndef WNDL_CLI_UNWIND_PROVED_CODE_H
#define WNDL_CLI_UNWIND_PROVED_CODE_H

#include "analyze/prove/rules.h"
#include "cfi_import/code/insn.h"

#include <sys/types.h>

struct wndl_proved_module {
    char *path;
    bool is_open;
    bool is_wanted; /* its rules are proved */
    struct wndl_proof_rules rules;
};

struct wndl_proved_insn {
    uint64_t address; /* avma; 0: an empty place of the cache */
    struct wndl_proved_module *module; /* NULL: in none that can be read */
    uint64_t svma;
    bool is_known;     /* `insn` is set */
    bool pushes_flags; /* pushf */
    bool is_call_of_kernel;
    struct wndl_insn insn;
    struct wndl_proof_row rule; /* if there is a module */
};

struct wndl_proved_code {
    struct wndl_arena arena;
    pid_t pid;
    const char *wanted; /* a path or a file name; NULL: all modules */
    const char *const *debug_dirs;
    struct wndl_vec modules; /* struct wndl_proved_module * */
    struct wndl_vec places;  /* struct place of proved_code.c, sorted */
    struct wndl_proved_insn *cache;
    uint32_t misses;
    bool failed; /* memory is out */
};

/* Borrows all. False if memory is out. */
bool wndl_proved_code_init(struct wndl_proved_code *code, pid_t pid,
    const char *wanted, const char *const *debug_dirs);
void wndl_proved_code_free(struct wndl_proved_code *code);

/* Reads anew which files are mapped. */
void wndl_proved_code_refresh(struct wndl_proved_code *code);

/* The instruction at an avma. Valid until the next call. */
const struct wndl_proved_insn *wndl_proved_code_at(
    struct wndl_proved_code *code, uint64_t address);

#endif
