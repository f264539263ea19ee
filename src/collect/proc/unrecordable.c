/* SPDX-License-Identifier: MIT */
#include "collect/proc/unrecordable.h"

#include "base/mem.h"
#include "collect/proc/proc.h"
#include "os/emulator.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    SEGMENTS_MAX = 64,
    NOTES_MAX = 4096,
    ENVIRONMENT_MAX = 1024 * 1024,
    AUXV_MAX = 1024,
};

/* ---- the executable */

/* The facts about an executable's segments. */
struct looks {
    int fd;
    bool interpreted;
    bool go;
    char interpreter[128];
};

/* Elf64_Phdr and Elf32_Phdr in one. */
struct segment {
    uint32_t type;
    uint64_t offset, size;
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/*
 * elf(5): a note has the sizes of its name and of its contents, its type, and
 * both.
 */
static bool has_go_note(int fd, const struct segment *s)
{
    static const char go[] = "Go\0";
    uint8_t notes[NOTES_MAX];
    size_t size = s->size < NOTES_MAX ? (size_t)s->size : NOTES_MAX;
    if (!read_at(fd, notes, size, s->offset))
        return false;
    for (size_t at = 0; at + 16 <= size;) {
        uint32_t head[3];
        memcpy(head, notes + at, sizeof head);
        if (head[0] == sizeof go && memcmp(notes + at + 12, go, 4) == 0)
            return true;
        if (head[0] > NOTES_MAX || head[1] > NOTES_MAX)
            return false;
        at += 12 + ((head[0] + 3) & ~3u) + ((head[1] + 3) & ~3u);
    }
    return false;
}

static void look_at_segment(struct looks *l, const struct segment *s)
{
    size_t size = sizeof l->interpreter - 1;
    if (s->type == PT_NOTE)
        l->go |= has_go_note(l->fd, s);
    if (s->type != PT_INTERP)
        return;
    l->interpreted = true;
    if (s->size < size)
        size = (size_t)s->size;
    if (!read_at(l->fd, l->interpreter, size, s->offset))
        l->interpreter[0] = '\0';
}

static bool read_segment(
    int fd, const Elf64_Ehdr *e, unsigned index, struct segment *s)
{
    Elf64_Phdr p;
    uint64_t at = e->e_phoff + (uint64_t)index * sizeof p;
    if (!read_at(fd, &p, sizeof p, at))
        return false;
    *s = (struct segment){p.p_type, p.p_offset, p.p_filesz};
    return true;
}

/* 32-bit executables have the same requirements as 64-bit ones. */
static bool read_segment32(
    int fd, const Elf64_Ehdr *e, unsigned index, struct segment *s)
{
    Elf32_Ehdr header;
    Elf32_Phdr p;
    memcpy(&header, e, sizeof header);
    uint64_t at = header.e_phoff + (uint64_t)index * sizeof p;
    if (!read_at(fd, &p, sizeof p, at))
        return false;
    *s = (struct segment){p.p_type, p.p_offset, p.p_filesz};
    return true;
}

static void look_at_segments(struct looks *l, const Elf64_Ehdr *e)
{
    bool wide = e->e_ident[EI_CLASS] == ELFCLASS64;
    Elf32_Ehdr narrow;
    memcpy(&narrow, e, sizeof narrow);
    unsigned count = wide ? e->e_phnum : narrow.e_phnum;
    struct segment s;
    for (unsigned i = 0; i < count && i < SEGMENTS_MAX; i++) {
        if (wide ? read_segment(l->fd, e, i, &s)
                 : read_segment32(l->fd, e, i, &s))
            look_at_segment(l, &s);
    }
}

/* glibc's own loaders; musl's is ld-musl-*.so.1, Android's linker64. */
static bool is_glibc_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return strcmp(name, "ld-linux-x86-64.so.2") == 0 ||
           strcmp(name, "ld-linux.so.2") == 0;
}

static bool is_our_machine(const Elf64_Ehdr *e, bool narrow)
{
    bool wide = e->e_ident[EI_CLASS] == ELFCLASS64;
    return wide ? e->e_machine == EM_X86_64 : narrow && e->e_machine == EM_386;
}

static enum wndl_unrecorded_reason reason_of_file(int fd, bool narrow)
{
    Elf64_Ehdr e;
    struct looks l = {.fd = fd};
    if (!read_at(fd, &e, sizeof e, 0) ||
        memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
        return WNDL_UNRECORDED_NONE;
    if (!is_our_machine(&e, narrow))
        return WNDL_UNRECORDED_MACHINE;
    look_at_segments(&l, &e);
    if (l.go)
        return WNDL_UNRECORDED_GO;
    if (!l.interpreted)
        return WNDL_UNRECORDED_STATIC;
    return is_glibc_loader(l.interpreter) ? WNDL_UNRECORDED_NONE
                                          : WNDL_UNRECORDED_LIBC;
}

/*
 * Whether it gains rights: ld.so(8) then ignores LD_PRELOAD (secure execution).
 */
static bool gains_rights(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    bool other_user = (st.st_mode & S_ISUID) != 0 && st.st_uid != getuid();
    bool other_group = (st.st_mode & S_ISGID) != 0 && st.st_gid != getgid();
    return other_user || other_group ||
           fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* ---- the environment */

static bool has_variable(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (size_t at = 0; at < size;) {
        if (size - at > length && memcmp(text + at, name, length) == 0)
            return true;
        at += strnlen(text + at, size - at) + 1;
    }
    return false;
}

/*
 * Amid exec() a process has neither arguments nor variables yet. The order
 * matters: with arguments, the variables are there, too.
 */
static bool is_set_up(pid_t pid)
{
    char first;
    return wndl_proc_read(pid, "cmdline", &first, 1) == 1;
}

/* For wndl_mem_free(); NULL if it may not be read, or memory is out. */
static char *read_environment(pid_t pid, size_t *size)
{
    struct wndl_mem *mem = wndl_mem_libc();
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    char *text = access(path, R_OK) == 0
                     ? mem->resize(mem, NULL, ENVIRONMENT_MAX)
                     : NULL;
    if (text != NULL)
        *size = wndl_proc_read(pid, "environ", text, ENVIRONMENT_MAX);
    return text;
}

static bool lacks_our_variables(pid_t pid)
{
    size_t size;
    char *text = is_set_up(pid) ? read_environment(pid, &size) : NULL;
    const bool lacks = text != NULL && size < ENVIRONMENT_MAX &&
                       !(has_variable(text, size, WNDL_SESSION_ENV "=") &&
                           has_variable(text, size, "LD_PRELOAD="));
    wndl_mem_free(wndl_mem_libc(), text);
    return lacks;
}

/* Its tools are static programs, in which a program runs that says hello. */
static bool is_valgrind(pid_t pid)
{
    size_t size;
    char *text = read_environment(pid, &size);
    const bool found =
        text != NULL && has_variable(text, size, "VALGRIND_LAUNCHER=");
    wndl_mem_free(wndl_mem_libc(), text);
    return found;
}

/* A process that may not be read belongs to another user by now. */
static enum wndl_unrecorded_reason reason_of_hidden(pid_t pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    bool other = stat(path, &st) == 0 && st.st_uid != geteuid();
    return other ? WNDL_UNRECORDED_SETUID : WNDL_UNRECORDED_NONE;
}

/* The loader has no interpreter itself; run as a command, it loads others. */
static bool runs_loader(pid_t pid)
{
    char path[PATH_MAX];
    return wndl_proc_link(pid, "exe", path) && is_glibc_loader(path);
}

static bool runs_emulator(pid_t pid)
{
    char path[PATH_MAX];
    return wndl_proc_link(pid, "exe", path) && wndl_emulator_has_name(path);
}

enum wndl_unrecorded_reason wndl_unrecordable_process(pid_t pid, bool narrow)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? reason_of_hidden(pid) : WNDL_UNRECORDED_NONE;
    enum wndl_unrecorded_reason reason = reason_of_file(fd, narrow);
    if (reason == WNDL_UNRECORDED_STATIC && runs_loader(pid))
        reason = WNDL_UNRECORDED_NONE;
    if (reason == WNDL_UNRECORDED_STATIC && is_valgrind(pid))
        reason = WNDL_UNRECORDED_EMULATED;
    if (gains_rights(fd))
        reason = WNDL_UNRECORDED_SETUID;
    close(fd);
    if (reason == WNDL_UNRECORDED_NONE && lacks_our_variables(pid))
        reason = WNDL_UNRECORDED_ENVIRONMENT;
    if (reason == WNDL_UNRECORDED_NONE && runs_emulator(pid))
        reason = WNDL_UNRECORDED_EMULATED;
    return reason;
}

/* Filters of system calls are inherited, and never removed (seccomp(2)). */
static bool has_our_filters(pid_t pid)
{
    return wndl_proc_filters(pid) == wndl_proc_filters(getpid());
}

/* The kernel puts an image's vDSO and random bytes at random addresses. */
bool wndl_unrecordable_is_copy(pid_t pid, pid_t parent)
{
    char own[AUXV_MAX];
    char before[AUXV_MAX];
    size_t size = wndl_proc_read(pid, "auxv", own, sizeof own);
    return size != 0 &&
           wndl_proc_read(parent, "auxv", before, sizeof before) == size &&
           memcmp(own, before, size) == 0 &&
           (has_our_filters(pid) || has_our_filters(parent));
}

/* clone, vfork and clone3 (syscalls(2)). */
static bool makes_processes(uint16_t machine, long number)
{
    switch (machine) {
    case EM_X86_64:
        return number == 56 || number == 58 || number == 435;
    case EM_AARCH64:
        return number == 220 || number == 435;
    default:
        return number == 120 || number == 190 || number == 435;
    }
}

/* proc_pid_syscall(5): "running", or the number first. */
static bool thread_waits_for_child(pid_t pid, const char *tid, uint16_t machine)
{
    char name[64];
    char text[256];
    char *end = NULL;
    snprintf(name, sizeof name, "task/%.20s/syscall", tid);
    text[wndl_proc_read(pid, name, text, sizeof text - 1)] = '\0';
    const long number = strtol(text, &end, 10);
    return end != text && makes_processes(machine, number);
}

bool wndl_unrecordable_waits_for_child(pid_t pid, uint16_t machine)
{
    char path[32];
    bool waits = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    if (threads == NULL)
        return false;
    for (const struct dirent *e; !waits && (e = readdir(threads)) != NULL;)
        waits = e->d_name[0] != '.' &&
                thread_waits_for_child(pid, e->d_name, machine);
    closedir(threads);
    return waits;
}

enum wndl_unrecorded_reason wndl_unrecordable_executable(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return WNDL_UNRECORDED_NONE;
    enum wndl_unrecorded_reason reason = reason_of_file(fd, true);
    if (reason == WNDL_UNRECORDED_STATIC && is_glibc_loader(path))
        reason = WNDL_UNRECORDED_NONE;
    if (gains_rights(fd))
        reason = WNDL_UNRECORDED_SETUID;
    close(fd);
    return reason;
}
