// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a build's calibration as text, whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/outfile.h"
#include "target/site_file.h"
#include "target/site_file_write.h"

#define NR_BYTES 16	/* of a function's beginning */
#define MAX_LINE 190	/* inih reads no longer ones */

static void print_entry(FILE *f, const struct image *img, const struct site_entry *e)
{
	const uint8_t *p = image_at(img, e->site->vaddr, NR_BYTES, NULL);
	char text[MAX_LINE];

	if (!p)
		return;
	fprintf(f, "\n[%s]\noffset = 0x%llx\nbytes = ", e->site->probe->name, (unsigned long long)e->site->offset);
	for (int i = 0; i < NR_BYTES; i++)
		fprintf(f, "%02x", p[i]);
	fprintf(f, "\n");
	if (e->compared)
		fprintf(f, "calls = %u\nreported = %u\n", e->calls, e->reported);
	if (e->dropped[0]) {
		fprintf(f, "dropped = %.180s\n", e->dropped);
		return;
	}
	fprintf(f, "evidence = %.180s\n", e->evidence);
	for (size_t i = 0; i < e->nr_args; i++)
		if (expr_print(&e->args[i], img->arch, text, sizeof(text) - 20) < (int)sizeof(text) - 20)
			fprintf(f, "%s = %s\n", arg_field_name(e->args[i].field), text);
}

char *site_file_text(const struct site_build *b)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "; SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n[build]\nformat = %d\nbuild-id = %s\nsize = %zu\nengine = %s\n",
		SITE_FILE_FORMAT, b->image->build_id, b->image->size, b->engine);
	if (b->cage)
		fprintf(f, "cage = 0x%llx\n", (unsigned long long)b->cage);
	fprintf(f, "made = %.180s\n", b->made);
	for (size_t i = 0; i < b->nr; i++)
		print_entry(f, b->image, &b->entries[i]);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int write_given(const char *text, const char *path, struct error *err)
{
	struct outfile *f;
	int rc = outfile_open(path, &f, err);

	if (rc)
		return rc;
	outfile_write(f, text, strlen(text));
	return outfile_commit(f, err);
}

/* Root's file in root's folder, whoever called sudo: record believes what stands there. */
static int write_cached(const char *text, const char *path)
{
	char tmp[PATH_MAX];
	int fd, rc = 0;
	size_t n = strlen(text);

	if ((size_t)snprintf(tmp, sizeof(tmp), "%s.%d", path, getpid()) >= sizeof(tmp))
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, n) != (ssize_t)n)
		rc = errno ? -errno : -ENOSPC;
	if (!rc && (fchmod(fd, 0644) || fsync(fd)))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (rc)
		unlink(tmp);
	return rc;
}

static int cache_path(const char *build_id, char *ret, size_t size)
{
	const char *dir = getenv("FRAMESCOPE_CACHE");

	if (!dir || !*dir)
		dir = "/var/cache/framescope";
	if ((mkdir(dir, 0755) && errno != EEXIST) || (size_t)snprintf(ret, size, "%s/builds", dir) >= size ||
	    (mkdir(ret, 0755) && errno != EEXIST))
		return errno ? -errno : -ENAMETOOLONG;
	return (size_t)snprintf(ret, size, "%s/builds/%s.sites", dir, build_id) >= size ? -ENAMETOOLONG : 0;
}

int site_file_write(const struct site_build *b, const char *path, char **ret_path, struct error *err)
{
	char *text = site_file_text(b), cached[PATH_MAX] = "";
	int rc;

	if (!text)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (path) {
		rc = write_given(text, path, err);
	} else {
		rc = cache_path(b->image->build_id, cached, sizeof(cached));
		if (!rc)
			rc = write_cached(text, cached);
		if (rc)
			error_set(err, ERR_OUTPUT, rc, "can't write %s: %s; -o names another file",
				  *cached ? cached : "/var/cache/framescope", strerror(-rc));
	}
	free(text);
	if (!rc && ret_path)
		*ret_path = strdup(path ?: cached);
	return rc;
}
