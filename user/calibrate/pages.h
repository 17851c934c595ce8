/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pages that calibration shows a browser: made up on request, served on loopback by a process of its own. */
#ifndef FRAMESCOPE_CALIBRATE_PAGES_H
#define FRAMESCOPE_CALIBRATE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

/* Where the pages are, and those that are elsewhere: what a browser shows of another site, it does in another process or
 * frame, and what it left behind of the page before isn't there. */
#define PAGE_HOST "127.0.0.1"
#define PAGE_OTHER_HOST "127.0.0.2"

/* A page's title becomes this and its name when it has done all it does. */
#define PAGE_READY "ready "

/* The document NAME.html has the sheets NAME-one.css and NAME-two.css, the scripts NAME-one.js, NAME-two.js and
 * NAME-three.mjs (a module), a style and a script of its own, and a frame for each document named in `frames`. Events
 * with the URL NAME-event for a name are dispatched in it, and it is w by h pixels large. */
struct page {
	const char *name;
	int w, h;		/* more than a window, and less than what is painted ahead of scrolling */
	const char *frames[3];	/* up to NULL */
	bool elsewhere;		/* where the browser is led from page to page, this one is of another site than others are */
};

extern const struct page calibrate_pages[];	/* ends with a NULL name; those in frames come behind theirs */
extern const char *const calibrate_page_files[];	/* what follows a page's name: ".html", "-one.css", …; NULL */
extern const char *const calibrate_page_events[];	/* names of events that every page is told by the browser; NULL */

struct pages {
	pid_t pid;
	uint16_t port;
	int fd;			/* readable when a page waits */
};

/* The page of a browser that nobody can talk to: like all others when they are done, it asks what to show next. */
#define PAGE_START "start"
/* Instead of a page: the window is to be closed. */
#define PAGE_END "end"

/* Begins to serve as this user, who ends with us. `asking`: pages that are done wait for the next one. */
int pages_start(uid_t uid, gid_t gid, bool asking, struct pages *ret, struct error *err);
/* The name of a page that waits, once. False: none does. */
bool pages_waiting(struct pages *p, char *ret, size_t size);
/* Tells the page that waits which one to show. */
void pages_next(struct pages *p, const char *name);
void pages_stop(struct pages *p);

#endif
