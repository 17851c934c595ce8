// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The same without unwind tables: functions are known by what stands around them.
 * cflags: -O2 -fno-inline -fPIE -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer
 * ldflags: -pie
 */
#include "texts.c"
