// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Output files that stand complete under their name or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/outfile.h"
#include "base/owner.h"
#include "base/text.h"

#define BUFFER_BYTES (256 << 10)

struct outfile {
	char *path, *temporary;	/* temporary is NULL for standard output, and for a file that has no name yet */
	int fd, error;
	bool nameless;		/* what is killed leaves nothing behind */
	uint64_t bytes;
	size_t fill;
	char *buffer;
	bool gzip;
	z_stream z;
	unsigned char *packed;
};

static void outfile_free(struct outfile *f)
{
	if (f->gzip)
		deflateEnd(&f->z);
	if (f->fd >= 0 && f->fd != STDOUT_FILENO)
		close(f->fd);
	free(f->packed);
	free(f->buffer);
	free(f->temporary);
	free(f->path);
	free(f);
}

static bool ends_in(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && !strcmp(s + n - t, tail);
}

/* A name beside the target that nobody can guess, so that a shared folder can't be prepared for us. */
static int choose_name(struct outfile *f)
{
	uint64_t r;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		return -EIO;
	free(f->temporary);
	if (asprintf(&f->temporary, "%s.%016llx.tmp", f->path, (unsigned long long)r) >= 0)
		return 0;
	f->temporary = NULL;
	return -ENOMEM;
}

/* A file without a name in the target's folder, where its system has such; it is given one when it is complete. */
static bool open_nameless(struct outfile *f)
{
	const char *slash = strrchr(f->path, '/');
	char *folder = slash ? strndup(f->path, slash - f->path + 1) : strdup(".");

	/* the only way to its name goes through /proc */
	if (folder && !access("/proc/self/fd", X_OK))
		f->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
	f->nameless = f->fd >= 0;
	return f->nameless;
}

static int open_temporary(struct outfile *f)
{
	if (open_nameless(f))
		return 0;
	for (int tries = 0; tries < 16; tries++) {
		int rc = choose_name(f);

		if (rc)
			return rc;
		f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* A name that is taken can't be given, only moved to: one of our own comes between. */
static int name_it(struct outfile *f)
{
	char proc[40];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", f->fd);
	for (int tries = 0; tries < 16; tries++) {
		int rc = choose_name(f);

		if (rc)
			return rc;
		if (!linkat(AT_FDCWD, proc, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int outfile_open(const char *path, struct outfile **ret, struct error *err)
{
	struct outfile *f = calloc(1, sizeof(*f));
	struct stat st;
	int rc = -ENOMEM;

	if (!f)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	f->fd = -1;
	f->path = strdup(path);
	f->buffer = malloc(BUFFER_BYTES);
	f->gzip = ends_in(path, ".gz") || ends_in(path, ".gzip");
	if (!f->path || !f->buffer)
		goto fail;
	if (f->gzip) {
		f->packed = malloc(BUFFER_BYTES);
		/* 15 + 16: a gzip header; one member, since viewers stop at the first */
		if (!f->packed || deflateInit2(&f->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
			f->gzip = false;
			goto fail;
		}
	}
	if (!strcmp(path, "-")) {
		f->fd = STDOUT_FILENO;
	} else if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		/* a pipe or device: nothing to be renamed; a folder fails here with its own reason */
		f->fd = open(path, O_WRONLY | O_CLOEXEC);
		rc = -errno;
		if (f->fd < 0)
			goto fail;
	} else {
		rc = open_temporary(f);
		if (rc)
			goto fail;
		owner_give(f->fd);
	}
	*ret = f;
	return 0;
fail:
	error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; name a folder that exists and is writable with -o", path,
		  strerror(-rc));
	outfile_free(f);
	return rc;
}

static int put(struct outfile *f, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(f->fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return f->error = -errno;
		p += w;
		n -= w;
	}
	return 0;
}

static int flush(struct outfile *f, int mode)
{
	if (f->error)
		return f->error;
	if (!f->gzip) {
		int rc = put(f, f->buffer, f->fill);

		f->fill = 0;
		return rc;
	}
	f->z.next_in = (unsigned char *)f->buffer;
	f->z.avail_in = f->fill;
	f->fill = 0;
	do {
		f->z.next_out = f->packed;
		f->z.avail_out = BUFFER_BYTES;
		deflate(&f->z, mode);
		if (put(f, f->packed, BUFFER_BYTES - f->z.avail_out))
			return f->error;
	} while (!f->z.avail_out || f->z.avail_in);
	return 0;
}

int outfile_write(struct outfile *f, const void *data, size_t n)
{
	const char *p = data;

	f->bytes += n;
	while (n) {
		size_t part = n < BUFFER_BYTES - f->fill ? n : BUFFER_BYTES - f->fill;

		if (f->error)
			return f->error;
		memcpy(f->buffer + f->fill, p, part);
		f->fill += part;
		p += part;
		n -= part;
		if (f->fill == BUFFER_BYTES)
			flush(f, Z_NO_FLUSH);
	}
	return f->error;
}

int outfile_printf(struct outfile *f, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return f->error = -E2BIG;
	return outfile_write(f, text, n);
}

int outfile_json_string(struct outfile *f, const char *s, size_t n)
{
	char text[6 * 512 + 2];

	/* in pieces that end on character boundaries; the quotes of inner pieces are left out */
	outfile_write(f, "\"", 1);
	while (n) {
		size_t part = n, len;

		if (part > 512) {
			part = 512;
			while (part > 508 && ((unsigned char)s[part] & 0xc0) == 0x80)
				part--;
		}
		len = text_json(s, part, text);
		outfile_write(f, text + 1, len - 2);
		s += part;
		n -= part;
	}
	return outfile_write(f, "\"", 1);
}

int outfile_u64(struct outfile *f, uint64_t v)
{
	char text[20];
	size_t i = sizeof(text);

	do
		text[--i] = '0' + v % 10;
	while (v /= 10);
	return outfile_write(f, text + i, sizeof(text) - i);
}

/* v / 10^digits, without trailing zeros behind the point */
static int put_fixed(struct outfile *f, uint64_t v, int digits)
{
	char text[24];
	size_t i = sizeof(text), end;
	uint64_t whole = v, rest;
	uint64_t scale = 1;

	for (int d = 0; d < digits; d++)
		scale *= 10;
	rest = v % scale;
	whole = v / scale;
	outfile_u64(f, whole);
	if (!rest)
		return f->error;
	for (int d = 0; d < digits; d++, rest /= 10)
		text[--i] = '0' + rest % 10;
	end = sizeof(text);
	while (text[end - 1] == '0')
		end--;
	text[--i] = '.';
	return outfile_write(f, text + i, end - i);
}

int outfile_us(struct outfile *f, uint64_t ns)
{
	return put_fixed(f, ns, 3);
}

int outfile_ms(struct outfile *f, uint64_t ns)
{
	return put_fixed(f, ns, 6);
}

uint64_t outfile_bytes(const struct outfile *f)
{
	return f->bytes;
}

int outfile_commit(struct outfile *f, struct error *err)
{
	int rc = flush(f, Z_FINISH);

	if (!rc && (f->temporary || f->nameless)) {
		/* EINVAL: a file system that has no fsync; nothing to be done about it */
		if (fsync(f->fd) && errno != EINVAL)
			rc = -errno;
		if (!rc && f->nameless)
			rc = name_it(f);
		if (!rc && rename(f->temporary, f->path))
			rc = -errno;
	}
	if (rc)
		return outfile_fail(f, rc, err);
	outfile_free(f);
	return 0;
}

int outfile_fail(struct outfile *f, int rc, struct error *err)
{
	if (f->temporary)
		error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; nothing was left under that name", f->path, strerror(-rc));
	else if (!strcmp(f->path, "-"))
		error_set(err, ERR_OUTPUT, rc, "can't write to standard output: %s", strerror(-rc));
	else
		error_set(err, ERR_OUTPUT, rc, "can't write to '%s': %s", f->path, strerror(-rc));
	outfile_discard(f);
	return rc;
}

void outfile_discard(struct outfile *f)
{
	if (!f)
		return;
	if (f->temporary)
		unlink(f->temporary);
	outfile_free(f);
}
