// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Decodes the arguments of records and interns the details of events. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "model/big.h"
#include "model/details.h"
#include "base/vec.h"

/* Calls of one function tend to carry the same arguments over and over: a cache from the bytes as recorded (by their
 * hash) to what they mean spares decoding and interning them. Sets of two, the newer one first, in a line: looking
 * one up is a wait for memory and little else. What most arguments lack lies beside it. */
#define CACHE_SETS 8192

struct cached_set {
	struct hash128 hash[2];
	uint32_t detail[2];
	bool whole[2];		/* there is more than a detail: in the set's args */
	char pad[CACHE_LINE - 2 * sizeof(struct hash128) - 2 * sizeof(uint32_t) - 2 * sizeof(bool)];
};

struct cached_args {
	struct args args[2];
};

_Static_assert(sizeof(struct cached_set) == CACHE_LINE, "a cache line");

struct details {
	struct pool *pool;
	VEC(struct event_detail) all;
	uint32_t *table;	/* index + 1; 0: free */
	size_t table_cap;	/* a power of two */
	struct cached_set *cache;
	struct cached_args *cached_args;
	char text[RECORD_MAX_SIZE * TEXT_GROWTH];
};

static int grow_table(struct details *d)
{
	size_t cap = d->table_cap ? d->table_cap * 2 : 256;
	uint32_t *table = calloc(cap, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < d->all.nr; i++) {
		size_t at = hash_bytes(&d->all.items[i], sizeof(struct event_detail)) & (cap - 1);

		while (table[at])
			at = (at + 1) & (cap - 1);
		table[at] = i + 1;
	}
	free(d->table);
	d->table = table;
	d->table_cap = cap;
	return 0;
}

/* Compares all bytes: whoever fills in a detail starts from memset(). */
int details_intern(struct details *d, const struct event_detail *detail, uint32_t *ret)
{
	size_t at;

	if (d->all.nr * 4 >= d->table_cap * 3 && grow_table(d))
		return -ENOMEM;
	at = hash_bytes(detail, sizeof(*detail)) & (d->table_cap - 1);
	for (; d->table[at]; at = (at + 1) & (d->table_cap - 1)) {
		if (!memcmp(&d->all.items[d->table[at] - 1], detail, sizeof(*detail))) {
			*ret = d->table[at] - 1;
			return 0;
		}
	}
	if (vec_grow(&d->all.items, d->all.nr, &d->all.cap, sizeof(*detail)))
		return -ENOMEM;
	memcpy(&d->all.items[d->all.nr], detail, sizeof(*detail));
	d->table[at] = ++d->all.nr;
	*ret = d->all.nr - 1;
	return 0;
}

struct details *details_new(struct pool *pool)
{
	struct details *d = calloc(1, sizeof(*d));
	struct event_detail nothing;
	uint32_t index;

	if (!d)
		return NULL;
	d->pool = pool;
	d->cache = aligned_alloc(CACHE_LINE, CACHE_SETS * sizeof(*d->cache));
	d->cached_args = calloc(CACHE_SETS, sizeof(*d->cached_args));
	memset(&nothing, 0, sizeof(nothing));
	if (!d->cache || !d->cached_args || details_intern(d, &nothing, &index)) {
		details_free(d);
		return NULL;
	}
	memset(d->cache, 0, CACHE_SETS * sizeof(*d->cache));
	return d;
}

void details_free(struct details *d)
{
	if (!d)
		return;
	free(d->all.items);
	free(d->table);
	free(d->cache);
	free(d->cached_args);
	free(d);
}

const struct event_detail *details_get(const struct details *d, uint32_t index)
{
	return &d->all.items[index];
}

uint32_t details_nr(const struct details *d)
{
	return d->all.nr;
}

struct event_detail *details_take(struct details *d, uint32_t *ret_nr)
{
	struct event_detail *items = d->all.items;
	struct event_detail *shrunk = realloc(items, d->all.nr * sizeof(*items));

	*ret_nr = d->all.nr;
	d->all.items = NULL;
	details_free(d);
	return shrunk ? shrunk : items;
}

static int32_t saturate(int64_t v)
{
	return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
}

static uint32_t saturate_unsigned(int64_t v)
{
	return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : v;
}

static int set_text(struct details *d, const struct rec_arg *arg, const uint8_t *data, struct event_detail *detail)
{
	size_t n = text_decode(arg->encoding & ~ENC_TRUNCATED, data, arg->bytes, d->text, sizeof(d->text));
	const char *text;

	if (!n && arg->field == FIELD_URL)
		return 0;	/* inline scripts and sheets: they have none */
	text = pool_intern(d->pool, d->text, n);
	if (!text)
		return -ENOMEM;
	switch (arg->field) {
	case FIELD_URL:
		detail->url = text;
		break;
	case FIELD_SELECTOR:
		detail->selector = text;
		break;
	case FIELD_EVENT_NAME:
		detail->event_name = text;
		break;
	case FIELD_TITLE:
		if (detail->label)
			break;
		/* fall through */
	case FIELD_LABEL:
		detail->label = text;
		break;
	default:
		return 0;
	}
	detail->has |= 1u << arg->field;
	return 0;
}

static void set_number(const struct rec_arg *arg, int64_t v, struct event_detail *detail, struct args *ret, int32_t edge[2])
{
	switch (arg->field) {
	case FIELD_FRAME: ret->frame = v; return;
	case FIELD_PARENT_FRAME: ret->parent_frame = v; return;
	case FIELD_DOCUMENT: ret->document = v; return;
	case FIELD_WINDOW:
		if (!(ret->present & 1u << FIELD_ID))
			ret->id = v;
		return;
	case FIELD_ID: ret->id = v; return;
	case FIELD_COUNT: ret->count = saturate_unsigned(v); return;
	case FIELD_X: detail->x = saturate(v); break;
	case FIELD_Y: detail->y = saturate(v); break;
	case FIELD_W: detail->w = saturate(v); break;
	case FIELD_H: detail->h = saturate(v); break;
	case FIELD_X1: edge[0] = saturate(v); return;
	case FIELD_Y1: edge[1] = saturate(v); return;
	case FIELD_OX: detail->ox = saturate(v); break;
	case FIELD_OY: detail->oy = saturate(v); break;
	case FIELD_THREAD_TYPE: detail->thread_type = v > 0 && v < THREAD_TYPE_END ? v : 0; break;
	case FIELD_SCRIPT_TYPE: detail->script_type = v > 0 && v < SCRIPT_TYPE_END ? v : 0; break;
	case FIELD_LINE: detail->line = saturate_unsigned(v); break;
	case FIELD_COLUMN: detail->column = saturate_unsigned(v); break;
	default: return;
	}
	detail->has |= 1u << arg->field;
}

/* Engines that know the right and lower edge instead of the size. */
static void set_size(const int32_t edge[2], uint32_t present, struct event_detail *detail)
{
	if (present & 1u << FIELD_X1 && !detail_has(detail, FIELD_W) && detail_has(detail, FIELD_X)) {
		detail->w = saturate((int64_t)edge[0] - detail->x);
		detail->has |= 1u << FIELD_W;
	}
	if (present & 1u << FIELD_Y1 && !detail_has(detail, FIELD_H) && detail_has(detail, FIELD_Y)) {
		detail->h = saturate((int64_t)edge[1] - detail->y);
		detail->has |= 1u << FIELD_H;
	}
}

static int decode(struct details *d, const uint8_t *p, size_t n, struct args *ret)
{
	struct event_detail detail;
	struct rec_arg arg;
	int32_t edge[2] = { 0 };
	int64_t number;

	memset(&detail, 0, sizeof(detail));
	while (n >= sizeof(arg)) {
		memcpy(&arg, p, sizeof(arg));
		p += sizeof(arg);
		n -= sizeof(arg);
		if (arg.bytes > n)
			break;
		if (arg.field && arg.field < FIELD_END) {
			if (arg.encoding == ENC_INT && arg.bytes == sizeof(number)) {
				memcpy(&number, p, sizeof(number));
				set_number(&arg, number, &detail, ret, edge);
				ret->present |= 1u << arg.field;
			} else if (arg.encoding != ENC_INT) {
				if (set_text(d, &arg, p, &detail))
					return -ENOMEM;
				ret->present |= 1u << arg.field;
			}
		}
		if (n - arg.bytes < (-arg.bytes & 3u))
			break;
		n -= arg.bytes + (-arg.bytes & 3u);
		p += arg.bytes + (-arg.bytes & 3u);
	}
	set_size(edge, ret->present, &detail);
	if (detail.event_name && !detail_has(&detail, FIELD_THREAD_TYPE)) {
		detail.thread_type = THREAD_TYPE_EVENT;	/* only event handlers have one */
		detail.has |= 1u << FIELD_THREAD_TYPE;
	}
	return details_intern(d, &detail, &ret->detail);
}

struct hash128 details_prepare(const struct details *d, const void *bytes, size_t n)
{
	struct hash128 hash = { 0 };

	if (!n)
		return hash;
	hash = hash_wide(bytes, n);
	__builtin_prefetch(&d->cache[hash.a & (CACHE_SETS - 1)]);
	return hash;
}

/* Does anything beside the detail matter? */
static bool is_whole(const struct args *args)
{
	const uint32_t beside = 1u << FIELD_FRAME | 1u << FIELD_PARENT_FRAME | 1u << FIELD_DOCUMENT | 1u << FIELD_ID |
				1u << FIELD_WINDOW | 1u << FIELD_COUNT;

	return args->present & beside;
}

static int read_new(struct details *d, struct hash128 hash, const void *bytes, size_t n, struct args *ret)
{
	size_t at = hash.a & (CACHE_SETS - 1);
	struct cached_set *set = &d->cache[at];
	struct cached_args *args = &d->cached_args[at];
	int rc = decode(d, bytes, n, ret);

	if (rc)
		return rc;
	if (set->whole[0])
		args->args[1] = args->args[0];
	set->hash[1] = set->hash[0];
	set->detail[1] = set->detail[0];
	set->whole[1] = set->whole[0];
	set->hash[0] = hash;
	set->detail[0] = ret->detail;
	set->whole[0] = is_whole(ret);
	if (set->whole[0])
		args->args[0] = *ret;
	return 0;
}

int details_read(struct details *d, struct hash128 hash, const void *bytes, size_t n, struct args *ret)
{
	size_t at = hash.a & (CACHE_SETS - 1);
	const struct cached_set *set = &d->cache[at];

	*ret = (struct args){ 0 };
	if (!n)
		return 0;
	for (int way = 0; way < 2; way++) {
		if (set->hash[way].a != hash.a || set->hash[way].b != hash.b)
			continue;
		if (set->whole[way])
			*ret = d->cached_args[at].args[way];
		else
			ret->detail = set->detail[way];
		return 0;
	}
	return read_new(d, hash, bytes, n, ret);
}
