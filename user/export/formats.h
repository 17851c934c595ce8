/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line for each format's table. */
#ifndef FRAMESCOPE_EXPORT_FORMATS_H
#define FRAMESCOPE_EXPORT_FORMATS_H

#include "export/export.h"

extern const struct export_format export_chrome, export_devtools, export_perfetto, export_metrics, export_folded,
	export_speedscope, export_html, export_csv, export_jsonl;

#endif
