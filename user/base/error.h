/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one error object: library code fills it in and returns -errno, commands print it. */
#ifndef FRAMESCOPE_BASE_ERROR_H
#define FRAMESCOPE_BASE_ERROR_H

/* What went wrong, for the caller's next step. The values are the command's exit codes (man page). */
enum error_kind {
	ERR_NONE = 0,
	ERR_OTHER = 1,
	ERR_USAGE = 2,		/* command line */
	ERR_NO_TARGET = 3,	/* no such process */
	ERR_PERMISSION = 4,	/* a capability is missing */
	ERR_KERNEL = 5,		/* the kernel lacks something */
	ERR_NOTHING = 6,	/* nothing to probe in this process */
	ERR_OUTPUT = 7,		/* can't write */
	ERR_INPUT = 8,		/* not a recording, damaged, malformed engine definition */
	ERR_LOSS = 9,		/* records were lost, under --strict */
	ERR_CHANGED = 10,	/* a module was replaced on disk since it was mapped */
};

struct error {
	enum error_kind kind;
	int code;		/* -errno */
	char text[768];		/* one sentence: cause, object, remedy. No newline */
};

/* Sets *err (which may be NULL) and returns `code`, which must be negative. */
int error_set(struct error *err, enum error_kind kind, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "text: " in front of what *err says. Returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
