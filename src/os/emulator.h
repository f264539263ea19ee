/* SPDX-License-Identifier: MIT */
/*
 * emulator: programs of other processors, run by qemu's user emulators.
 * Emulators pass their environment on, so that both they and the program have a
 * runtime preloaded. The program is the one to record. Signal-safe.
 */
#ifndef WNDL_OS_EMULATOR_H
#define WNDL_OS_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file of this name runs programs that have a runtime. */
static inline bool wndl_emulator_has_name(const char *path)
{
    static const char *const names[] = {"qemu-aarch64", "qemu-arm"};
    const char *name = path;
    for (; *path != '\0'; path++)
        name = *path == '/' ? path + 1 : name;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = 0;
        while (names[i][at] != '\0' && name[at] == names[i][at])
            at++;
        if (names[i][at] == '\0' && name[at] == '\0')
            return true;
    }
    return false;
}

#endif
