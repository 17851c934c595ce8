/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calibrated builds: <build-id>.sites, text, made by `framescope calibrate` and kept in builds/ beside the engine
 * definitions or in /var/cache/framescope/builds. What anchors can't tell, they do: where an object keeps its URL,
 * and functions that no string leads to.
 *
 *     [build]
 *     build-id = b68ec8627d12f84ac4c8f0e818d2f326338a9da8
 *     size = 296737624            bytes of the module
 *     engine = blink
 *     cage = 0x11a34480           address of the pointer cage's base
 *     made = framescope 1.0, chromium 156.0.8078.108
 *
 *     [Document::UpdateStyle]
 *     offset = 0xe505a10          of the function in the file
 *     bytes = 554889e541574156    its first bytes, at least 8
 *     evidence = 66 calls = 66 trace events; URL right for 3 documents
 *     url = rdi *0x188 : wtf-blink
 *
 * Nothing in it is believed that the module contradicts: build-id, size and bytes must be the same, a function that
 * was found otherwise must be the same one, and one that was not must begin like a function behind padding.
 */
#ifndef FRAMESCOPE_TARGET_SITE_FILE_H
#define FRAMESCOPE_TARGET_SITE_FILE_H

#include "target/site_list.h"

/* Replaces arguments and adds functions from the build's file, if there is one. A file that is wrong changes nothing and
 * its reason stands in the evidence of the first site. -ENOMEM only. */
int site_file_apply(struct site_search *s);

/* The same from text (NUL-terminated), for tests and fuzzing. `path` is for messages. ERR_INPUT: it is wrong, nothing was
 * changed. */
int site_file_apply_text(struct site_search *s, const char *text, const char *path, struct error *err);

#endif
