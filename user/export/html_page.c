// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* report.html, as it stands in the tree, inside the program. */

/* the Makefile compiles from the top of the tree, and knows that this depends on the page */
__asm__(
	".section .rodata\n"
	".global html_page, html_page_end\n"
	"html_page:\n"
	".incbin \"user/export/report.html\"\n"
	"html_page_end:\n"
	".byte 0\n"
	".previous\n");
