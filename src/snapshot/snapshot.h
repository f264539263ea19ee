/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the stacks of all threads of a process at one moment, as plain
 * data, which live.h and core.h make. It must not know functions and lines: the
 * command asks for those.
 */
#ifndef WNDL_SNAPSHOT_SNAPSHOT_H
#define WNDL_SNAPSHOT_SNAPSHOT_H

#include "base/status.h"
#include "base/vec.h"
#include "collect/stop/regs.h"

#include <windlass/unwind.h>

struct wndl_binaries;
struct wndl_binary;

/*
 * A binary that the process maps. Texts are of the snapshot, static, or of what
 * the snapshot borrows from.
 */
struct wndl_snapshot_image {
    const char *path;   /* as the process has it */
    const char *opened; /* where its file can be read; NULL: nowhere */
    /* The file, if it is in memory only (the vDSO); else empty. */
    struct wndl_bytes contents;
    const char *trouble; /* why its file is not used; NULL: it is */
    struct wndl_bytes build_id;
    struct wndl_remote_module module;
    struct wndl_binary *binary; /* of the snapshot's `binaries` */
};

/* A frame. `address` is raw: a return address is one past its call. */
struct wndl_snapshot_frame {
    uint64_t address; /* avma */
    uint32_t image;   /* index + 1; 0: in none */
    uint8_t how;      /* enum wndl_frame_how */
    bool interrupted; /* it is no return address */
};

/* A file of a system call: its descriptor, and what that is. */
struct wndl_snapshot_file {
    int descriptor;
    const char *path; /* NULL: not open, or not readable */
};

/* The system call that a thread is in. */
struct wndl_snapshot_call {
    bool is_known; /* the thread is in one */
    uint64_t number;
    const char *name; /* NULL: a call that we do not know */
    const char *path; /* that it is given; NULL: none, or not readable */
    struct wndl_snapshot_file *files;
    size_t file_count;
    size_t files_left_out; /* of a poll() with many */
};

enum wndl_thread_state {
    WNDL_THREAD_RUNNING, /* on a CPU, or waiting for one */
    WNDL_THREAD_BLOCKED,
    WNDL_THREAD_STOPPED, /* by a signal or a debugger */
    WNDL_THREAD_ENDED,   /* it has no stack any more */
};

/* The signal that a core file is of. */
struct wndl_snapshot_signal {
    int32_t number; /* 0: not known */
    int32_t code;   /* si_code (sigaction(2)) */
    bool has_address, has_sender;
    uint64_t address;      /* si_addr */
    uint32_t sender, user; /* si_pid and si_uid */
};

struct wndl_snapshot_thread {
    uint32_t tid;
    const char *name; /* "": not known */
    enum wndl_thread_state state;
    bool is_uninterruptible; /* blocked so that no signal wakes it */
    struct wndl_snapshot_call call;
    struct wndl_snapshot_frame *frames; /* innermost first */
    size_t frame_count;
    enum wndl_walk_end end;
    uint64_t unread;     /* no memory was there, and the walk ended; 0: none */
    const char *trouble; /* why it has no stack; NULL: it has one */
    struct wndl_thread_regs regs; /* of one that was stopped, or of a core */
    uint64_t stopped_ns;          /* for so long we stopped it; 0: not at all */
    bool is_first; /* of a core: it got the signal, if there was one */
};

struct wndl_snapshot {
    struct wndl_arena arena;
    uint32_t pid;
    uint16_t machine; /* EM_* */
    const char *executable;
    const char *command; /* its arguments, separated by blanks */
    const char *core;    /* the core file; NULL: the process runs */
    struct wndl_snapshot_signal signal; /* of a core */
    struct wndl_error damage; /* of a core: the first loss; or status OK */
    struct wndl_binaries *binaries; /* borrowed; NULL: nothing is checked */
    struct wndl_vec images;         /* struct wndl_snapshot_image, by address */
    struct wndl_vec threads;        /* struct wndl_snapshot_thread */
    uint32_t ended_meanwhile; /* threads that were gone before they were read */
};

/* Makes an empty one, which must not move. */
void wndl_snapshot_init(struct wndl_snapshot *snapshot);
void wndl_snapshot_free(struct wndl_snapshot *snapshot);

/* The image that covers `address`; NULL: none. */
const struct wndl_snapshot_image *wndl_snapshot_image_at(
    const struct wndl_snapshot *snapshot, uint64_t address);

/*
 * The walk's modules: those of all images, one by one. In the snapshot's arena.
 * NULL without memory.
 */
struct wndl_remote_module *wndl_snapshot_modules(
    struct wndl_snapshot *snapshot);

/*
 * Gives the thread the frames of `walk`, whose calls are checked by the files.
 * False without memory.
 */
bool wndl_snapshot_keep(struct wndl_snapshot *snapshot,
    struct wndl_snapshot_thread *thread, struct wndl_walk *walk);

/* A copy of `text` in the snapshot's arena; "" without memory. */
const char *wndl_snapshot_text(
    struct wndl_snapshot *snapshot, const char *text);

#endif
