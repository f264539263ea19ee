/* SPDX-License-Identifier: MIT */
/*
 * valgrind_xml: the errors that Valgrind's tools write with --xml=yes, protocol
 * version 4.
 *
 * A process that ends early leaves a file that ends anywhere, and a forked
 * child writes its whole document into the middle of its parent's. So the file
 * is read in units, from a line `<error>` to a line `</error>`; expat reads
 * each. A unit that is damaged is counted and left out.
 */
#ifndef WNDL_IN_VALGRIND_XML_H
#define WNDL_IN_VALGRIND_XML_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/check.h"

/*
 * Adds the errors of `file`, of the run `run`, to `check`; keeps nothing of
 * `file`. An error that the file ends in is dropped; the process is then not
 * finished. MALFORMED if it is no such file; NOMEM. expat's own memory is the C
 * library's.
 */
enum wndl_status wndl_valgrind_xml_read(struct wndl_check *check,
    struct wndl_bytes file, uint32_t run, struct wndl_error *err) WNDL_MUST_USE;

#endif
