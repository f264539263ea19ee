/* SPDX-License-Identifier: MIT */
/*
 * What is preloaded into programs of a word size that has no runtime: without
 * it ld.so would write into their output that it could not preload one.
 */
typedef int wndl_nothing;
