// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Introspection, made from the service tables and the descriptors that the codec works with. Ids of messages and
 * enumerations are positions in the order in which a walk over the commands and events meets them.
 */
#include <string.h>
#include "scope/codec.h"
#include "scope/describe.h"

#define MAX_TYPES 64	/* messages of one service, and enumerations */

struct types {
	const ProtobufCMessageDescriptor *messages[MAX_TYPES];
	const ProtobufCEnumDescriptor *enums[MAX_TYPES];
	size_t nr_messages, nr_enums;
};

static uint32_t message_id(const struct types *t, const ProtobufCMessageDescriptor *d)
{
	for (size_t i = 0; i < t->nr_messages; i++)
		if (t->messages[i] == d)
			return i + 1;
	return 0;
}

static uint32_t enum_id(const struct types *t, const ProtobufCEnumDescriptor *d)
{
	for (size_t i = 0; i < t->nr_enums; i++)
		if (t->enums[i] == d)
			return i + 1;
	return 0;
}

static void collect_message(struct types *t, const ProtobufCMessageDescriptor *d)
{
	if (!message_id(t, d) && t->nr_messages < MAX_TYPES)
		t->messages[t->nr_messages++] = d;
}

static void collect_fields(struct types *t, const ProtobufCMessageDescriptor *d)
{
	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];

		if (f->type == PROTOBUF_C_TYPE_MESSAGE)
			collect_message(t, f->descriptor);
		else if (f->type == PROTOBUF_C_TYPE_ENUM && !enum_id(t, f->descriptor) && t->nr_enums < MAX_TYPES)
			t->enums[t->nr_enums++] = f->descriptor;
	}
}

static void collect(struct types *t, const struct service *s)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < s->nr_commands; i++) {
		collect_message(t, s->commands[i].arg);
		collect_message(t, s->commands[i].result);
	}
	for (size_t i = 0; i < s->nr_events; i++)
		collect_message(t, s->events[i].message);
	for (size_t i = 0; i < t->nr_messages; i++)	/* grows on the way */
		collect_fields(t, t->messages[i]);
}

static void *new_message(struct arena *a, const ProtobufCMessageDescriptor *d)
{
	ProtobufCMessage *m = arena_zalloc(a, 1, d->sizeof_message);

	if (m)
		protobuf_c_message_init(d, m);
	return m;
}

Scope__ServiceInfo *describe_service(struct arena *a, const struct service *s)
{
	Scope__ServiceInfo *info = new_message(a, &scope__service_info__descriptor);
	struct types t;

	if (!info)
		return NULL;
	collect(&t, s);
	info->commandlist = arena_zalloc(a, s->nr_commands, sizeof(void *));
	info->eventlist = arena_zalloc(a, s->nr_events, sizeof(void *));
	if (!info->commandlist || !info->eventlist)
		return NULL;
	for (; info->n_commandlist < s->nr_commands; info->n_commandlist++) {
		const struct command *cmd = &s->commands[info->n_commandlist];
		Scope__CommandInfo *c = new_message(a, &scope__command_info__descriptor);

		if (!c)
			return NULL;
		c->name = (char *)cmd->name;
		c->number = cmd->id;
		c->messageid = message_id(&t, cmd->arg);
		c->responseid = message_id(&t, cmd->result);
		info->commandlist[info->n_commandlist] = c;
	}
	for (; info->n_eventlist < s->nr_events; info->n_eventlist++) {
		const struct service_event *event = &s->events[info->n_eventlist];
		Scope__EventInfo *e = new_message(a, &scope__event_info__descriptor);

		if (!e)
			return NULL;
		e->name = (char *)event->name;
		e->number = event->id;
		e->messageid = message_id(&t, event->message);
		info->eventlist[info->n_eventlist] = e;
	}
	return info;
}

/* FieldInfo's type codes. Enumerations travel as int32. */
static const uint8_t type_codes[] = {
	[PROTOBUF_C_TYPE_DOUBLE] = 1, [PROTOBUF_C_TYPE_FLOAT] = 2, [PROTOBUF_C_TYPE_INT32] = 3, [PROTOBUF_C_TYPE_ENUM] = 3,
	[PROTOBUF_C_TYPE_UINT32] = 4, [PROTOBUF_C_TYPE_SINT32] = 5, [PROTOBUF_C_TYPE_FIXED32] = 6,
	[PROTOBUF_C_TYPE_SFIXED32] = 7, [PROTOBUF_C_TYPE_BOOL] = 8, [PROTOBUF_C_TYPE_STRING] = 9,
	[PROTOBUF_C_TYPE_BYTES] = 10, [PROTOBUF_C_TYPE_MESSAGE] = 11,
};

static Scope__FieldInfo *describe_field(struct arena *a, const struct types *t, const ProtobufCFieldDescriptor *f)
{
	Scope__FieldInfo *info = new_message(a, &scope__field_info__descriptor);

	if (!info)
		return NULL;
	info->name = (char *)f->name;
	info->type = f->type < sizeof(type_codes) ? type_codes[f->type] : 0;
	info->number = f->id;
	info->quantifier = f->label == PROTOBUF_C_LABEL_REPEATED ? 2 : f->label == PROTOBUF_C_LABEL_OPTIONAL ? 1 : 0;
	info->has_quantifier = info->quantifier != 0;	/* required is the default */
	info->has_messageid = f->type == PROTOBUF_C_TYPE_MESSAGE;
	if (info->has_messageid)
		info->messageid = message_id(t, f->descriptor);
	info->has_enumid = f->type == PROTOBUF_C_TYPE_ENUM;
	if (info->has_enumid)
		info->enumid = enum_id(t, f->descriptor);
	return info;
}

static Scope__MessageInfo *describe_message(struct arena *a, const struct types *t, size_t index)
{
	Scope__MessageInfo *info = new_message(a, &scope__message_info__descriptor);
	const ProtobufCMessageDescriptor *d = t->messages[index];
	uint8_t order[CODEC_MAX_FIELDS];

	if (!info)
		return NULL;
	info->id = index + 1;
	info->name = (char *)d->short_name;
	info->fieldlist = arena_zalloc(a, d->n_fields, sizeof(void *));
	if (!info->fieldlist)
		return NULL;
	codec_order(d, order);
	for (; info->n_fieldlist < d->n_fields; info->n_fieldlist++) {
		Scope__FieldInfo *f = describe_field(a, t, &d->fields[order[info->n_fieldlist]]);

		if (!f)
			return NULL;
		info->fieldlist[info->n_fieldlist] = f;
	}
	return info;
}

/* Which of `nr` types an idList names; all of them if `all`. Returns an id that there isn't, or 0. */
static uint32_t select_ids(const uint32_t *ids, size_t nr_ids, bool all, size_t nr, bool wanted[MAX_TYPES])
{
	for (size_t i = 0; i < MAX_TYPES; i++)
		wanted[i] = all && i < nr;
	for (size_t i = 0; i < nr_ids && !all; i++) {
		if (!ids[i] || ids[i] > nr)
			return ids[i] ? ids[i] : UINT32_MAX;
		wanted[ids[i] - 1] = true;
	}
	return 0;
}

/* Adds what the fields of the wanted messages refer to, and what those refer to. */
static void select_related(const struct types *t, bool wanted[MAX_TYPES])
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < t->nr_messages; i++) {
			const ProtobufCMessageDescriptor *d = t->messages[i];

			for (unsigned k = 0; wanted[i] && k < d->n_fields; k++) {
				uint32_t id = d->fields[k].type == PROTOBUF_C_TYPE_MESSAGE ?
					message_id(t, d->fields[k].descriptor) : 0;

				if (id && !wanted[id - 1])
					more = wanted[id - 1] = true;
			}
		}
	}
}

Scope__MessageInfoList *describe_messages(struct arena *a, const struct service *s, const Scope__MessageSelection *sel,
					  uint32_t *ret_unknown)
{
	Scope__MessageInfoList *list;
	bool wanted[MAX_TYPES];
	struct types t;

	collect(&t, s);
	*ret_unknown = select_ids(sel->idlist, sel->n_idlist, sel->has_includeall && sel->includeall, t.nr_messages, wanted);
	if (*ret_unknown)
		return NULL;
	if (sel->has_includerelated && sel->includerelated)
		select_related(&t, wanted);
	list = new_message(a, &scope__message_info_list__descriptor);
	if (list)
		list->messagelist = arena_zalloc(a, t.nr_messages, sizeof(void *));
	if (!list || !list->messagelist)
		return NULL;
	for (size_t i = 0; i < t.nr_messages; i++) {
		Scope__MessageInfo *info = wanted[i] ? describe_message(a, &t, i) : NULL;

		if (wanted[i] && !info)
			return NULL;
		if (info)
			list->messagelist[list->n_messagelist++] = info;
	}
	return list;
}

static Scope__Enum *describe_enum(struct arena *a, const struct types *t, size_t index)
{
	Scope__Enum *e = new_message(a, &scope__enum__descriptor);
	const ProtobufCEnumDescriptor *d = t->enums[index];

	if (!e)
		return NULL;
	e->id = index + 1;
	e->name = (char *)d->short_name;
	e->valuelist = arena_zalloc(a, d->n_values, sizeof(void *));
	if (!e->valuelist)
		return NULL;
	for (; e->n_valuelist < d->n_values; e->n_valuelist++) {
		Scope__Value *v = new_message(a, &scope__value__descriptor);

		if (!v)
			return NULL;
		v->name = (char *)d->values[e->n_valuelist].name;
		v->number = d->values[e->n_valuelist].value;
		e->valuelist[e->n_valuelist] = v;
	}
	return e;
}

Scope__EnumList *describe_enums(struct arena *a, const struct service *s, const Scope__EnumArg *sel,
				uint32_t *ret_unknown)
{
	Scope__EnumList *list;
	bool wanted[MAX_TYPES];
	struct types t;

	collect(&t, s);
	*ret_unknown = select_ids(sel->idlist, sel->n_idlist, sel->has_includeall && sel->includeall, t.nr_enums, wanted);
	if (*ret_unknown)
		return NULL;
	list = new_message(a, &scope__enum_list__descriptor);
	if (list)
		list->enumlist = arena_zalloc(a, t.nr_enums, sizeof(void *));
	if (!list || !list->enumlist)
		return NULL;
	for (size_t i = 0; i < t.nr_enums; i++) {
		Scope__Enum *e = wanted[i] ? describe_enum(a, &t, i) : NULL;

		if (wanted[i] && !e)
			return NULL;
		if (e)
			list->enumlist[list->n_enumlist++] = e;
	}
	return list;
}
