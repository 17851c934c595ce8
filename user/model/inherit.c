// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completes the details of events from what is around them. */
#include <string.h>
#include "model/inherit.h"

void inherit_init(struct inherit *in, struct session_builder *b)
{
	memset(in, 0, sizeof(*in));
	in->b = b;
}

/* Profiler 1.1: an inline sheet or script has its document's URL, and parsing a document means the document's. */
static bool wants_url(int type, const struct event_detail *d)
{
	if (d->url)
		return false;
	if (type == EVENT_DOCUMENT_PARSING || type == EVENT_CSS_PARSING)
		return true;
	return type == EVENT_SCRIPT_COMPILATION && (d->script_type == SCRIPT_TYPE_INLINE ||
						    d->script_type == SCRIPT_TYPE_GENERATED ||
						    d->script_type == SCRIPT_TYPE_EVENT_HANDLER);
}

static int make(struct inherit *in, uint32_t detail, uint32_t caller, const char *url, uint32_t *ret)
{
	struct event_detail d;
	const struct event_detail *from;

	memcpy(&d, details_get(in->b->details, detail), sizeof(d));
	if (url) {
		d.url = url;
		d.has |= 1u << FIELD_URL;
	}
	if (caller) {
		from = details_get(in->b->details, caller);
		d.thread_type = from->thread_type;
		d.has |= 1u << FIELD_THREAD_TYPE;
		if (from->event_name && !d.event_name) {
			d.event_name = from->event_name;
			d.has |= 1u << FIELD_EVENT_NAME;
		}
	}
	return details_intern(in->b->details, &d, ret);
}

int inherit_detail(struct inherit *in, const struct raw_event *ev, uint32_t caller, uint32_t *ret)
{
	int type = in->b->session->tables.types[ev->probe];
	const struct event_detail *own;
	const char *url = NULL;
	struct inherited *slot;

	*ret = ev->detail;
	if (type != EVENT_DOCUMENT_PARSING && type != EVENT_CSS_PARSING && type != EVENT_SCRIPT_COMPILATION &&
	    type != EVENT_SCRIPT_THREAD_EVALUATION)
		return 0;
	own = details_get(in->b->details, ev->detail);
	if (wants_url(type, own))
		url = frames_url_at(&in->b->frames, ev->place, ev->start_ns);
	if (type != EVENT_SCRIPT_THREAD_EVALUATION || detail_has(own, FIELD_THREAD_TYPE))
		caller = 0;
	if (!url && !caller)
		return 0;
	slot = &in->slots[(ev->detail * 31 + caller * 7 + ((uintptr_t)url >> 4)) % INHERIT_SLOTS];
	if (!slot->result || slot->detail != ev->detail || slot->caller != caller || slot->url != url) {
		if (make(in, ev->detail, caller, url, &slot->result))
			return -ENOMEM;
		slot->detail = ev->detail;
		slot->caller = caller;
		slot->url = url;
	}
	*ret = slot->result;
	return 0;
}
