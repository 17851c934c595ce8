/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calibrated builds: <build-id>.sites, text, made by `framescope calibrate` and kept in builds/ beside the engine
 * definitions or in /var/cache/framescope/builds. What anchors can't tell, they do: where an object keeps its URL,
 * and functions that no string leads to.
 *
 *     [build]
 *     format = 2                  may be absent: 1, which has neither calls nor dropped
 *     build-id = b68ec8627d12f84ac4c8f0e818d2f326338a9da8
 *     size = 296737624            bytes of the module
 *     engine = blink
 *     cage = 0x11a34480           address of the pointer cage's base
 *     made = framescope 1.0, chromium 156.0.8078.108
 *
 *     [Document::UpdateStyle]
 *     offset = 0xe505a10          of the function in the file
 *     bytes = 554889e541574156    its first bytes, at least 8
 *     calls = 66                  in the run that compared them, and of them
 *     reported = 66               those that hold one event each that the browser itself reported
 *     evidence = calls 66 = trace 66; URL right at 60 of 66 of them, for 3 documents
 *     url = rdi *0x188 : wtf-blink
 *
 * or, of a function that isn't what its anchors make it seem,
 *
 *     calls = 84
 *     reported = 81
 *     dropped = 84 calls, 3 of them outside any event of the trace
 *
 * Nothing in it is believed that the module contradicts: build-id, size and bytes must be the same, a function that
 * was found otherwise must be the same one (of several candidates, one of them: it stays alone), and one that was not must
 * begin like a function behind padding. A dropped one is not used; its reason is shown.
 */
#ifndef FRAMESCOPE_TARGET_SITE_FILE_H
#define FRAMESCOPE_TARGET_SITE_FILE_H

#include "target/site_list.h"

#define SITE_FILE_FORMAT 2	/* what is written; older ones are read, too */

/* Replaces arguments and adds functions from the build's file, if there is one. A file that is wrong changes nothing and
 * its reason stands in the evidence of the first site. -ENOMEM only. */
int site_file_apply(struct site_search *s);

/* The same from text (NUL-terminated), for tests and fuzzing. `path` is for messages. ERR_INPUT: it is wrong, nothing was
 * changed. */
int site_file_apply_text(struct site_search *s, const char *text, const char *path, struct error *err);

#endif
