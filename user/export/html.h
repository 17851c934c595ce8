/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the HTML writer share. */
#ifndef FRAMESCOPE_EXPORT_HTML_H
#define FRAMESCOPE_EXPORT_HTML_H

#include "export/emit.h"
#include "export/html_totals.h"
#include "export/input.h"
#include "export/selectors.h"
#include "export/trie.h"

struct exporter {
	struct export_input in;
	struct emit out, scratch;
	struct trie details;	/* only its frames are used, for their details */
	struct selector_table selectors;
	struct html_totals totals;
	const char *page_rest;	/* behind the place for the data */
	uint64_t last_ns, shortest_ns, drawn, left_out;
};

/* html_tables.c: all of the data but the events, in the order of the file */
void html_info(struct exporter *x);
int html_process(struct exporter *x, uint32_t index, const struct recording_process *p);
void html_threads_and_frames(struct exporter *x);
void html_rest(struct exporter *x);	/* what stands behind the events */
void html_number(struct exporter *x, uint64_t v);	/* with a comma in front */

#endif
