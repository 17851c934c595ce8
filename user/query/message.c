// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The type-specific messages of Profiler 1.1. */
#include <string.h>
#include "model/pool.h"
#include "query/message.h"

#define AREA (1u << FIELD_X | 1u << FIELD_Y | 1u << FIELD_W | 1u << FIELD_H)

/* The fields of a message, absent ones 0. Strings are interned: equal texts are one pointer. */
struct message {
	const char *text;
	int32_t numbers[7];
	uint32_t present;
};

static bool has_area(const struct event_detail *d)
{
	return (d->has & AREA) == AREA;
}

static void fill(int type, const struct event_detail *d, struct message *m)
{
	memset(m, 0, sizeof(*m));
	switch (type) {
	case EVENT_DOCUMENT_PARSING:
	case EVENT_CSS_PARSING:
		m->text = d->url;
		break;
	case EVENT_SCRIPT_COMPILATION:
		m->text = d->url;
		m->numbers[0] = d->script_type;
		break;
	case EVENT_SCRIPT_THREAD_EVALUATION:
		/* "In all other cases, this field is not set." */
		m->text = d->thread_type == THREAD_TYPE_EVENT ? d->event_name : NULL;
		m->numbers[0] = d->thread_type;
		break;
	case EVENT_CSS_SELECTOR_MATCHING:
		m->text = d->selector;
		break;
	case EVENT_PAINT:
		if (!has_area(d))
			break;
		m->present = 1;
		/* scroll offsets that aren't known count as 0: they are always sent */
		memcpy(m->numbers, (const int32_t[]){ d->x, d->y, d->w, d->h, d->ox, d->oy }, 6 * sizeof(int32_t));
		break;
	}
}

bool message_possible(int type)
{
	return type == EVENT_DOCUMENT_PARSING || type == EVENT_CSS_PARSING || type == EVENT_SCRIPT_COMPILATION ||
	       type == EVENT_SCRIPT_THREAD_EVALUATION || type == EVENT_CSS_SELECTOR_MATCHING || type == EVENT_PAINT;
}

bool message_present(int type, const struct event_detail *d)
{
	switch (type) {
	case EVENT_DOCUMENT_PARSING:
	case EVENT_CSS_PARSING:
		return d->url;
	case EVENT_SCRIPT_COMPILATION:
	case EVENT_SCRIPT_THREAD_EVALUATION:
		return true;	/* UNKNOWN is a type, too */
	case EVENT_CSS_SELECTOR_MATCHING:
		return d->selector;
	case EVENT_PAINT:
		return has_area(d);
	default:
		return false;
	}
}

bool message_equal(int type, const struct event_detail *a, const struct event_detail *b)
{
	struct message x, y;

	fill(type, a, &x);
	fill(type, b, &y);
	return !memcmp(&x, &y, sizeof(x));
}

uint64_t message_hash(int type, const struct event_detail *d)
{
	struct message m;

	fill(type, d, &m);
	return hash_bytes(&m, sizeof(m)) + type;
}
