// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lends the private browser to the search for the function that is called for matched rules. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "calibrate/run.h"
#include "calibrate/selectors.h"

#define TRIES 3	/* pages that the browser has for itself match rules, too, and what they do meanwhile spoils the count */

static int attach(void *arg, const uint64_t *offsets, size_t nr, snoop_fn fn, void *fn_arg, struct snoop **ret)
{
	struct run *r = arg;
	int rc;

	snoop_close(r->snoop);
	r->snoop = NULL;
	rc = snoop_open(r->copy.module, offsets, nr, browser_root(r->browser), fn, fn_arg, &r->snoop, r->err);
	*ret = r->snoop;
	return rc;
}

static bool run_script(void *arg, const char *script)
{
	return drive_script(arg, script);
}

static void say_why(struct run *r, const struct engine_probe *probe, int rc)
{
	char what[400];

	snprintf(what, sizeof(what), "[%.100s] %.250s", probe->name, rc == -ENOENT ? r->rules.evidence :
		 *r->err->text ? r->err->text : strerror(-rc));
	run_say(r, what);
}

int rules_find(struct run *r)
{
	struct selector_browser b = { .arg = r, .attach = attach, .run = run_script, .image = r->result->image,
				      .memory = r->memory, .cage = r->result->cage, .stack_reg = r->stack_reg };
	struct site_list *list = &r->result->sites;

	for (size_t i = 0; i < list->nr && r->kind->pipe; i++) {
		struct site *site = &list->sites[i];
		int rc = -ENOENT;

		if (!site->probe->near || site->source)
			continue;
		run_say(r, "showing style rules");
		if (!drive_blank(r))
			break;
		for (int n = 0; n < TRIES && rc == -ENOENT; n++)
			rc = selectors_find(&b, site->probe, site, &r->rules);
		if (rc) {
			r->rules.nr_args = 0;
			if (!r->failed)
				say_why(r, site->probe, rc);
		}
		break;
	}
	return r->failed;
}
