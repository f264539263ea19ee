/* SPDX-License-Identifier: GPL-2.0-or-later */
/* can_32: whether the compiler makes programs of 32 bits. */
void _start(void);
void _start(void)
{
}
