/* SPDX-License-Identifier: MIT */
/*
 * stand_in: the symbolizers of other tools that windlass is when it is started
 * by their name, through a link.
 */
#ifndef WNDL_CLI_ADDR2LINE_STAND_IN_H
#define WNDL_CLI_ADDR2LINE_STAND_IN_H

/* A main function, which returns the exit status. */
typedef int wndl_stand_in(int argc, char **argv);

/* The program that argv[0] names; NULL: windlass itself. */
wndl_stand_in *wndl_stand_in_find(const char *program);

/* binutils' addr2line. */
int wndl_stand_in_gnu(int argc, char **argv);

/* LLVM's symbolizer, by either of its names. */
int wndl_stand_in_llvm_symbolizer(int argc, char **argv);
int wndl_stand_in_llvm_addr2line(int argc, char **argv);

#endif
