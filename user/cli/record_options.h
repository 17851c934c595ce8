/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of framescope record, parsed. */
#ifndef FRAMESCOPE_CLI_RECORD_OPTIONS_H
#define FRAMESCOPE_CLI_RECORD_OPTIONS_H

#include "capture/capture.h"
#include "export/export.h"

struct record_options {
	struct capture_options capture;
	const char *output;
	const struct export_format *format;	/* NULL: .fscope */
	double seconds;				/* 0: without end */
	bool strict, quiet;
	/* storage */
	char *default_output;
	const char **probes, **functions, **metrics;
};

/* 0: go on. Otherwise the command ends with exit code result - 1 (so 1 is success: --help was asked for). */
int record_options_parse(struct record_options *o, int argc, char **argv);
void record_options_free(struct record_options *o);

#endif
