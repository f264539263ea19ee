/* SPDX-License-Identifier: MIT */
/*
 * rules: the unwind rules of a module of x86-64, one instruction at a time, and
 * where they come from. Rules from code are made when code without others is
 * asked for.
 */
#ifndef WNDL_ANALYZE_PROVE_RULES_H
#define WNDL_ANALYZE_PROVE_RULES_H

#include "analyze/prove/tally.h"
#include "base/vec.h"
#include "cfi_import/core/source.h"
#include "os/file.h"

struct wndl_proof_rules {
    struct wndl_arena arena;
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_cfi_source cfi;
    struct wndl_vec functions; /* struct function of rules.c, sorted */
    bool has_code;             /* rules from code are among them */
};

/* The rule of an instruction. `row` is of a source other than NO_RULE. */
struct wndl_proof_row {
    enum wndl_proof_source source;
    bool in_plt;
    struct wndl_cfi_row row;
};

/*
 * Opens a program or library; `debug_dirs` is as in obj/find/debugfile.h. A
 * file without any rules is opened, too. Ends with wndl_proof_rules_close, if
 * OK.
 */
enum wndl_status wndl_proof_rules_open(struct wndl_proof_rules *rules,
    const char *path, const char *const *debug_dirs,
    struct wndl_error *err) WNDL_MUST_USE;
void wndl_proof_rules_close(struct wndl_proof_rules *rules);

/* Finds the rule at `svma`. Rows borrow from `rules`. NOMEM. */
enum wndl_status wndl_proof_rules_at(struct wndl_proof_rules *rules,
    uint64_t svma, struct wndl_proof_row *row) WNDL_MUST_USE;

/*
 * Sets *bias to avma - svma of code that is mapped at `start` from `offset` of
 * the file on. False if that is no code of the module.
 */
bool wndl_proof_rules_bias(const struct wndl_proof_rules *rules, uint64_t start,
    uint64_t offset, uint64_t *bias);

#endif
