/* SPDX-License-Identifier: MIT */
/*
 * old_glibc: what Debian's static libraries take from a glibc that is newer than
 * the package's. Expat salts its hash tables by arc4random_buf(3), of 2.36.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

void arc4random_buf(void *to, size_t size);

/* getrandom(2) gives up to 256 bytes whole, and fails on no kernel from 3.17. */
void arc4random_buf(void *to, size_t size)
{
    enum { WHOLE = 256 };
    unsigned char *next = to;
    while (size != 0) {
        const size_t part = size < WHOLE ? size : WHOLE;
        if (getrandom(next, part, 0) != (ssize_t)part)
            abort();
        next += part;
        size -= part;
    }
}
