/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the DevTools profile share. */
#ifndef FRAMESCOPE_EXPORT_DEVTOOLS_H
#define FRAMESCOPE_EXPORT_DEVTOOLS_H

#include "export/chrome.h"

/* Which of the panel's names stands for a call. */
struct devtools_profile {
	uint64_t next_id;			/* of user timings and navigations */
	const char *native[];			/* per probe; NULL: a track of ours */
};

/* What `new URL()` takes: a scheme, and a host where the scheme wants one. Others lose the panel the whole process. */
bool devtools_url_parses(const char *url);
/* The frame that the panel shows as the page; NULL: there is no timeline at all. */
const struct timeline *devtools_main_frame(const struct session *s);
/* The event that tells the panel of all frames, and turns it from a generic trace's view to a page's. */
void devtools_frame_tree(struct exporter *x);

#endif
