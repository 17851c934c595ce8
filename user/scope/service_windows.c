// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Service window-manager 2.1. Windows are what the backend says; a profiler only watches, so it opens and closes none.
 * ModifyFilter concerns the events of other services, which have none here: it is checked and has no effect.
 */
#include <stdlib.h>
#include <string.h>
#include "scope/client.h"
#include "scope/window_manager.pb-c.h"

enum { EVENT_ON_WINDOW_UPDATED = 4, EVENT_ON_WINDOW_CLOSED = 5, EVENT_ON_WINDOW_ACTIVATED = 6, EVENT_ON_WINDOW_LOADED = 7 };

/* WindowManager 2.1, WindowInfo.windowType. */
static const char *const window_types[] = {
	"normal", "download", "cache", "plugins", "history", "help", "mail_view", "mail_compose", "newsfeed_view", "ad",
	"im_view", "p2p_view", "brand_view", "print_selection", "js_console", "gadget", "controller", "info", "dialog",
	"thumbnail", "normal_hidden", "devtools",
};

static int type_index(const char *type)
{
	for (size_t i = 0; i < sizeof(window_types) / sizeof(window_types[0]); i++)
		if (!strcmp(window_types[i], type))
			return i;
	return -1;
}

static uint32_t default_hidden_types(void)
{
	return 1u << type_index("normal_hidden") | 1u << type_index("devtools");
}

static bool is_shown(const struct client *c, const struct scope_window *w)
{
	int type = type_index(w->type);

	return type < 0 || !(c->hidden_types & 1u << type);
}

static size_t get_windows(struct scope_host *h, const struct scope_window **ret, uint32_t *ret_active)
{
	return h->backend.windows(h->backend.arg, ret, ret_active);
}

const struct scope_window *windows_find(struct scope_host *h, uint32_t id)
{
	const struct scope_window *w;
	uint32_t active;
	size_t n = get_windows(h, &w, &active);

	for (size_t i = 0; i < n; i++)
		if (w[i].id == id)
			return &w[i];
	return NULL;
}

/* FNV-1a, of what OnWindowUpdated tells. */
static uint64_t hash_window(const struct scope_window *w)
{
	uint64_t hash = 0xcbf29ce484222325 ^ w->opener;

	for (const char *p = w->title; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3;
	for (const char *p = w->type; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3;
	return hash;
}

static void fill_window(WindowManager__WindowInfo *info, const struct scope_window *w)
{
	window_manager__window_info__init(info);
	info->windowid = w->id;
	info->title = (char *)w->title;
	info->windowtype = (char *)w->type;
	info->openerid = w->opener;
}

static const struct known_window *find_known(const struct client *c, uint32_t id)
{
	for (size_t i = 0; i < c->nr_windows; i++)
		if (c->windows[i].id == id)
			return &c->windows[i];
	return NULL;
}

static void send_window_id(struct client *c, uint32_t event, uint32_t window)
{
	WindowManager__WindowID id = WINDOW_MANAGER__WINDOW_ID__INIT;

	id.windowid = window;
	client_event(c, &service_window_manager, event, &id.base);
}

/* Takes down what the client knows from now on. */
static void remember(struct client *c, const struct scope_window *w, size_t n, uint32_t active)
{
	struct known_window *known = calloc(n + 1, sizeof(*known));

	if (!known) {
		client_kill(c);
		return;
	}
	for (size_t i = 0; i < n; i++)
		known[i] = (struct known_window){ .id = w[i].id, .hash = hash_window(&w[i]) };
	free(c->windows);
	c->windows = known;
	c->nr_windows = n;
	c->active_window = active;
	c->windows_stale = false;
}

void windows_sync(struct client *c)
{
	const struct scope_window *w;
	uint32_t active;
	size_t n;

	if (!(c->enabled & 1u << SERVICE_WINDOW_MANAGER))
		return;
	if (c->paused) {
		c->windows_stale = true;
		return;
	}
	n = get_windows(c->host, &w, &active);
	for (size_t i = 0; i < n; i++) {
		const struct known_window *known = find_known(c, w[i].id);
		WindowManager__WindowInfo info;

		if (!is_shown(c, &w[i]) || (known && known->hash == hash_window(&w[i])))
			continue;
		fill_window(&info, &w[i]);
		client_event(c, &service_window_manager, EVENT_ON_WINDOW_UPDATED, &info.base);
	}
	for (size_t k = 0; k < c->nr_windows; k++) {
		size_t i = 0;

		while (i < n && w[i].id != c->windows[k].id)
			i++;
		if (i == n)
			send_window_id(c, EVENT_ON_WINDOW_CLOSED, c->windows[k].id);
	}
	if (active && active != c->active_window)
		send_window_id(c, EVENT_ON_WINDOW_ACTIVATED, active);
	remember(c, w, n, active);
}

static void enabled(struct client *c)
{
	const struct scope_window *w;
	uint32_t active;
	size_t n = get_windows(c->host, &w, &active);

	c->hidden_types = default_hidden_types();
	remember(c, w, n, active);
}

static void disabled(struct client *c)
{
	free(c->windows);
	c->windows = NULL;
	c->nr_windows = 0;
	c->windows_stale = false;
}

static void run_get_active_window(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	WindowManager__WindowID id = WINDOW_MANAGER__WINDOW_ID__INIT;
	const struct scope_window *w;

	(void)arg;
	if (!get_windows(c->host, &w, &id.windowid) || !id.windowid) {
		client_fail(c, r, STATUS_INTERNAL_ERROR, "There is no window: the browser has ended or none of its processes "
			    "runs a page");
		return;
	}
	client_reply(c, r, &id.base);
}

static void run_list_windows(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	WindowManager__WindowList list = WINDOW_MANAGER__WINDOW_LIST__INIT;
	WindowManager__WindowInfo *infos;
	const struct scope_window *w;
	uint32_t active;
	size_t n = get_windows(c->host, &w, &active);

	(void)arg;
	infos = calloc(n + 1, sizeof(*infos));
	list.windowlist = calloc(n + 1, sizeof(*list.windowlist));
	if (!infos || !list.windowlist) {
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "No memory for the answer");
	} else {
		for (size_t i = 0; i < n; i++) {
			if (!is_shown(c, &w[i]))
				continue;
			fill_window(&infos[i], &w[i]);
			list.windowlist[list.n_windowlist++] = &infos[i];
		}
		client_reply(c, r, &list.base);
	}
	free(list.windowlist);
	free(infos);
}

static bool are_patterns(char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(patterns[i], "*"))
			return false;
	return true;
}

static void run_modify_filter(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const WindowManager__WindowFilter *f = (const WindowManager__WindowFilter *)arg;

	if (!are_patterns(f->includepatternlist, f->n_includepatternlist) ||
	    !are_patterns(f->excludepatternlist, f->n_excludepatternlist))
		client_fail(c, r, STATUS_BAD_REQUEST, "The only pattern is '*'");
	else
		client_reply_default(c, r);
}

static void run_modify_type_filter(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const WindowManager__ModifyTypeFilterArg *a = (const WindowManager__ModifyTypeFilterArg *)arg;
	uint32_t types = 0;

	if (!strcmp(a->mode, "default")) {
		c->hidden_types = default_hidden_types();
		client_reply_default(c, r);
		return;
	}
	for (size_t i = 0; i < a->n_typelist; i++) {
		int type = type_index(a->typelist[i]);

		if (type < 0) {
			client_fail(c, r, STATUS_BAD_REQUEST, "There is no window type '%s'", a->typelist[i]);
			return;
		}
		types |= 1u << type;
	}
	if (!strcmp(a->mode, "replace")) {
		c->hidden_types = types;
	} else if (!strcmp(a->mode, "append")) {
		c->hidden_types |= types;
	} else {
		client_fail(c, r, STATUS_BAD_REQUEST, "The mode can be 'replace', 'append' or 'default'");
		return;
	}
	client_reply_default(c, r);
}

static void refuse(struct client *c, const struct request *r, const char *what)
{
	client_fail(c, r, STATUS_INTERNAL_ERROR, "framescope watches a browser and can't %s", what);
}

static void run_create_window(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	(void)arg;
	refuse(c, r, "open windows in it");
}

static void run_close_window(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	if (!windows_find(c->host, ((const WindowManager__CloseWindowArg *)arg)->windowid))
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no such window; ListWindows lists them");
	else
		refuse(c, r, "close its windows");
}

static void run_open_url(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	if (!windows_find(c->host, ((const WindowManager__OpenURLArg *)arg)->windowid))
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no such window; ListWindows lists them");
	else
		refuse(c, r, "open URLs in it");
}

static const struct command commands[] = {
	{ "GetActiveWindow", 1, &window_manager__default__descriptor, &window_manager__window_id__descriptor,
	  run_get_active_window },
	{ "ListWindows", 2, &window_manager__default__descriptor, &window_manager__window_list__descriptor,
	  run_list_windows },
	{ "ModifyFilter", 3, &window_manager__window_filter__descriptor, &window_manager__default__descriptor,
	  run_modify_filter },
	{ "CreateWindow", 8, &window_manager__create_window_arg__descriptor, &window_manager__window_id__descriptor,
	  run_create_window },
	{ "CloseWindow", 9, &window_manager__close_window_arg__descriptor, &window_manager__default__descriptor,
	  run_close_window },
	{ "OpenURL", 10, &window_manager__open_urlarg__descriptor, &window_manager__default__descriptor, run_open_url },
	{ "ModifyTypeFilter", 11, &window_manager__modify_type_filter_arg__descriptor,
	  &window_manager__default__descriptor, run_modify_type_filter },
};

static const struct service_event events[] = {
	{ "OnWindowUpdated", EVENT_ON_WINDOW_UPDATED, &window_manager__window_info__descriptor },
	{ "OnWindowClosed", EVENT_ON_WINDOW_CLOSED, &window_manager__window_id__descriptor },
	{ "OnWindowActivated", EVENT_ON_WINDOW_ACTIVATED, &window_manager__window_id__descriptor },
	{ "OnWindowLoaded", EVENT_ON_WINDOW_LOADED, &window_manager__window_id__descriptor },
};

const struct service service_window_manager = {
	.name = "window-manager", .version = "2.1",
	.commands = commands, .nr_commands = sizeof(commands) / sizeof(commands[0]),
	.events = events, .nr_events = sizeof(events) / sizeof(events[0]),
	.enabled = enabled, .disabled = disabled,
};
