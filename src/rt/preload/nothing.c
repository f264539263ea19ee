/* SPDX-License-Identifier: MIT */
/*
 * nothing: the object that is preloaded into programs of a word size without a
 * runtime. Without it ld.so would write into their output that it could not
 * preload one.
 */
typedef int wndl_nothing;
