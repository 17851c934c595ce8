// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a browser says of itself, as calibration reads it: a Chrome trace, Gecko's profile and WebKit's timeline. An
 * event of theirs has a wanted name and doesn't end before it begins.
 * sources: user/calibrate/profile.c user/calibrate/trace.c user/calibrate/timeline.c user/calibrate/wants.c user/calibrate/report.c user/base/json_repair.c user/base/jsonscan.c user/base/jsonspan.c user/base/trace_events.c user/base/text.c user/base/error.c user/target/anchor_syntax.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include "calibrate/report.h"

static void read_as(const struct reporter *reporter, int fd)
{
	struct report r = { 0 };

	if (report_want(&r, "Styles") || report_want(&r, "Reflow (sync)") != 1 ||
	    report_want(&r, "RecalculateStyles") != 2 || lseek(fd, 0, SEEK_SET))
		abort();
	reporter->read(fd, &r);
	for (size_t i = 0; i < r.nr; i++)
		if (r.v[i].name > 2 || r.v[i].end_ns < r.v[i].begin_ns)
			abort();
	report_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("report", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	read_as(&reporter_gecko, fd);
	read_as(&reporter_chrome, fd);
	read_as(&reporter_webkit, fd);
	close(fd);
	return 0;
}
