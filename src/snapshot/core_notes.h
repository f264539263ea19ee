/* SPDX-License-Identifier: MIT */
/*
 * core_notes: the notes of a core file (core(5), elf.h): threads and their
 * registers, the signal, the process, the files that it had mapped.
 */
#ifndef WNDL_SNAPSHOT_CORE_NOTES_H
#define WNDL_SNAPSHOT_CORE_NOTES_H

#include "snapshot/core_file.h"
#include "snapshot/snapshot.h"

/* A note (ELF gABI). Owner and descriptor are without their padding. */
struct wndl_core_note {
    uint32_t type; /* NT_* */
    struct wndl_bytes owner, desc;
};

/*
 * Reads the note at the cursor. `alignment`: of its parts, 4 or 8. False at the
 * end, and for a note that is cut off: then the cursor has failed.
 */
bool wndl_core_note_next(
    struct wndl_cursor *c, uint64_t alignment, struct wndl_core_note *note);

/* A thread (NT_PRSTATUS). */
struct wndl_core_thread {
    uint32_t tid;
    struct wndl_thread_regs regs;
};

/* A mapping of a file (NT_FILE). Invariant: start < end. */
struct wndl_core_mapping {
    uint64_t start, end;    /* avma */
    uint64_t offset;        /* in the file, bytes */
    struct wndl_bytes path; /* of the core's bytes; a NUL follows */
};

/* The meaning of all notes. Texts are of the core's bytes. */
struct wndl_core_notes {
    struct wndl_vec threads;  /* struct wndl_core_thread, as in the file */
    struct wndl_vec mappings; /* struct wndl_core_mapping, by start */
    struct wndl_snapshot_signal signal; /* of the first thread */
    struct wndl_bytes name, command;    /* of the process; or empty */
    uint32_t pid;                       /* 0: not known */
    uint64_t vdso;  /* avma of the vDSO (AT_SYSINFO_EHDR); 0: not known */
    uint64_t entry; /* avma at which the program starts; 0: not known */
};

/*
 * Reads all notes, into `arena`. Damage of one note loses that note, and is in
 * *damage, if that has none yet. Fails only with NOMEM.
 */
enum wndl_status wndl_core_notes_read(struct wndl_core_notes *notes,
    struct wndl_arena *arena, const struct wndl_core_file *core,
    struct wndl_error *damage, struct wndl_error *err) WNDL_MUST_USE;

#endif
