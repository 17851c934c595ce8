// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The recording file: what survives a crash, a full disk and damage; how it comes to its name; what its tables keep. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>
#include "capture/recording_file.h"
#include "capture/recording_format.h"
#include "capture/recording_tables.h"
#include "replay/stream.h"

static char folder[] = "/tmp/framescope-test-XXXXXX";
static struct error err;

static const char *in_folder(const char *name)
{
	static char path[4][256];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static const struct recording_probe some_probes[] = {
	{ .name = "one", .label = "One", .type = EVENT_LAYOUT, .kind = PROBE_KIND_SPAN, .attached = true },
	{ .name = "two", .label = "Two", .type = EVENT_PAINT, .kind = PROBE_KIND_MARK, .refused = "no such function" },
};

static const struct recording_info some_info = { .target_pid = 7, .begin_ns = 1000, .end_ns = 99000, .tool = "test" };

/* `nr` calls in four blocks or so. */
static void fill(struct recording_writer *w, struct stream *s, int nr)
{
	const struct rec_header *r;
	int i = 0;

	assert_int_equal(recording_write_probes(w, some_probes, 2), 0);
	assert_int_equal(recording_write_process(w, &(struct recording_process){ .pid = 7, .name = "p" }), 0);
	assert_int_equal(recording_write_thread(w, &(struct recording_thread){ .tid = 7, .pid = 7, .name = "t" }), 0);
	for (int k = 0; k < nr; k++) {
		stream_begin(s, 7, 2000 + 100 * k, k % 2, 0x7000);
		stream_text(s, FIELD_URL, k % 3 ? "http://one.test/" : "http://other.test/");
		stream_end(s, 7, 2050 + 100 * k);
	}
	for (r = stream_next(s, NULL); r; r = stream_next(s, r), i++) {
		assert_int_equal(recording_write_record(w, r), 0);
		if (i % (nr / 2) == nr / 2 - 1)
			assert_int_equal(recording_writer_flush(w), 0);
	}
}

/* A whole file in memory as bytes. */
static uint8_t *make_file(struct stream *s, int nr, size_t *ret_size)
{
	struct recording_writer *w;
	uint8_t *bytes;
	int fd;

	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	fill(w, s, nr);
	assert_int_equal(recording_writer_finish_fd(w, &some_info, some_probes, 2, &fd, &err), 0);
	*ret_size = lseek(fd, 0, SEEK_END);
	bytes = malloc(*ret_size);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, *ret_size, 0), *ret_size);
	close(fd);
	return bytes;
}

static int open_bytes(const void *bytes, size_t n, struct recording **ret)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	err.text[0] = 0;
	return recording_open_fd(fd, "file", ret, &err);
}

/* How many records it has; they must be those of the stream in its order, perhaps with gaps. */
static int count_same(struct recording *r, const struct stream *s)
{
	const struct rec_header *want = stream_next(s, NULL), *rec;
	int rc, n = 0;

	while ((rc = recording_next(r, &rec, &err)) > 0) {
		while (want && (want->size != rec->size || memcmp(want, rec, rec->size)))
			want = stream_next(s, want);
		assert_non_null(want);
		want = stream_next(s, want);
		n++;
	}
	assert_int_equal(rc, 0);
	return n;
}

static bool is_sentence(const char *text)
{
	return strlen(text) > 20 && !strchr(text, '\n');
}

/* Every length that a crash may leave. */
static void test_truncated(void **unused)
{
	struct stream s = { 0 };
	size_t size, last = 0;
	uint8_t *file = make_file(&s, 60, &size);
	struct recording *r;
	int seen = 0;

	(void)unused;
	for (size_t n = 0; n <= size; n++) {
		int rc = open_bytes(file, n, &r);

		assert_int_equal(rc < 0, n < sizeof(struct file_header));
		if (rc) {
			assert_true(is_sentence(err.text) && err.kind == ERR_INPUT);
			continue;
		}
		assert_int_equal(recording_get_info(r)->truncated, n < size);
		seen = count_same(r, &s);
		assert_true(seen >= (int)last);	/* never fewer than in a shorter file */
		last = seen;
		recording_close(r);
	}
	assert_int_equal(seen, 120);
	free(file);
	stream_free(&s);
}

/* Where the last block begins */
static size_t find_last_block(const uint8_t *file, size_t size)
{
	struct block_header h;
	size_t at = sizeof(struct file_header);

	for (memcpy(&h, file + at, sizeof(h)); h.type != BLOCK_END; memcpy(&h, file + at, sizeof(h))) {
		at += sizeof(h) + h.stored;
		assert_true(at < size);
	}
	return at;
}

static int damage_every_byte(uint8_t *file, size_t size, const struct stream *s, uint8_t bits)
{
	size_t last = find_last_block(file, size);
	int refused = 0;

	for (size_t at = 0; at < size; at++) {
		struct recording *r;
		size_t nr;

		file[at] ^= bits;
		if (open_bytes(file, size, &r)) {
			assert_true(is_sentence(err.text) && err.kind == ERR_INPUT);
			refused++;
		} else {
			const struct recording_info *info = recording_get_info(r);

			assert_true(info->truncated);
			/* nothing follows that would show that the last one is more than missing */
			if (at < last || at >= last + sizeof(struct block_header))
				assert_int_equal(info->damaged_blocks, 1);
			/* one block at most is lost, of four with records */
			assert_true(count_same(r, s) >= 120 - 30);
			recording_get_probes(r, &nr);
			assert_int_equal(nr, 2);
			recording_close(r);
		}
		file[at] ^= bits;
	}
	return refused;
}

/* Every single byte changed: nothing wrong is taken for right, and one block at most is lost. */
static void test_damaged(void **unused)
{
	static const uint8_t bits[] = { 0x01, 0x80, 0xff, 0x24 };
	struct stream s = { 0 };
	size_t size;
	uint8_t *file = make_file(&s, 60, &size);

	(void)unused;
	for (size_t i = 0; i < sizeof(bits); i++)
		assert_int_equal(damage_every_byte(file, size, &s, bits[i]), sizeof(struct file_header));
	free(file);
	stream_free(&s);
}

/* What stands behind the end is not read; a block cut out of the middle is missed. */
static void test_other_damage(void **unused)
{
	struct stream s = { 0 };
	size_t size, first = sizeof(struct file_header), cut;
	uint8_t *file = make_file(&s, 60, &size);
	struct block_header h;
	struct recording *r;

	(void)unused;
	file = realloc(file, 2 * size);
	memcpy(file + size, file, size);
	assert_int_equal(open_bytes(file, 2 * size, &r), 0);
	assert_false(recording_get_info(r)->truncated);
	assert_int_equal(count_same(r, &s), 120);
	recording_close(r);

	/* up to the first block of records, and that one away */
	for (memcpy(&h, file + first, sizeof(h)); h.type != BLOCK_RECORDS; memcpy(&h, file + first, sizeof(h)))
		first += sizeof(h) + h.stored;
	cut = sizeof(h) + h.stored;
	memmove(file + first, file + first + cut, size - first - cut);
	assert_int_equal(open_bytes(file, size - cut, &r), 0);
	assert_true(recording_get_info(r)->truncated);
	assert_int_equal(count_same(r, &s), 90);
	recording_close(r);
	free(file);
	stream_free(&s);
}

static void noisy(struct stream *s, int nr)
{
	uint64_t x = 88172645463325252ULL;

	for (int k = 0; k < nr; k++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		stream_mark(s, 7, 2000 + k, 0, x);
		stream_int(s, FIELD_ID, x * 31);
	}
}

/* Blocks larger than the window in which the next header is searched, that header at every place in it. */
static void test_far_damage(void **unused)
{
	struct stream s = { 0 };
	struct recording_writer *w;
	struct recording *r;
	struct block_header h;
	size_t size, at = sizeof(struct file_header);
	uint8_t *file;
	int fd;

	(void)unused;
	noisy(&s, 60000);
	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	for (const struct rec_header *rec = stream_next(&s, NULL); rec; rec = stream_next(&s, rec))
		assert_int_equal(recording_write_record(w, rec), 0);
	assert_int_equal(recording_writer_finish_fd(w, &some_info, some_probes, 2, &fd, &err), 0);
	size = lseek(fd, 0, SEEK_END);
	file = malloc(size);
	assert_int_equal(pread(fd, file, size, 0), size);
	close(fd);
	/* false starts in what is skipped must not lead astray */
	for (memcpy(&h, file + at, sizeof(h)); h.type != BLOCK_RECORDS; memcpy(&h, file + at, sizeof(h)))
		at += sizeof(h) + h.stored;
	assert_true(h.stored > 3 * 65536);
	for (size_t i = 0; i < 200; i++)
		memcpy(file + at + sizeof(h) + i * 997, "FBLK", 4);
	/* windows of 64 KiB overlap by a header; the next header moves from behind a boundary to before it */
	for (int i = 0; i < 80; i++) {
		size_t cut = i ? 1 : (sizeof(h) + h.stored - 1 - 40) % (65536 - sizeof(h) + 1);

		memset(file + at, 0, sizeof(h));
		memmove(file + at + sizeof(h), file + at + sizeof(h) + cut, size - at - sizeof(h) - cut);
		size -= cut;
		assert_int_equal(open_bytes(file, size, &r), 0);
		assert_int_equal(recording_get_info(r)->damaged_blocks, 1);
		assert_int_equal(count_same(r, &s), 60000 - h.count);
		recording_close(r);
	}
	free(file);
	stream_free(&s);
}

static void set_crc(struct file_header *h)
{
	h->crc = crc32(0, (const uint8_t *)h, offsetof(struct file_header, crc));
}

static void test_not_ours(void **unused)
{
	struct file_header h = { .magic = RECORDING_MAGIC, .version = RECORDING_VERSION, .size = sizeof(h) };
	struct recording *r;

	(void)unused;
	set_crc(&h);
	assert_int_equal(open_bytes(&h, sizeof(h), &r), 0);
	assert_true(recording_get_info(r)->truncated);
	recording_close(r);

	h.version = RECORDING_VERSION + 1;
	set_crc(&h);
	assert_true(open_bytes(&h, sizeof(h), &r) < 0);
	assert_non_null(strstr(err.text, "newer framescope"));
	h.version = RECORDING_VERSION;
	h.features = 1ULL << 40;
	set_crc(&h);
	assert_true(open_bytes(&h, sizeof(h), &r) < 0);
	assert_non_null(strstr(err.text, "newer framescope"));

	assert_true(open_bytes("{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":2}]}", 44, &r) < 0);
	assert_non_null(strstr(err.text, "is not a recording"));
	assert_true(open_bytes("", 0, &r) < 0);
	assert_non_null(strstr(err.text, "is empty"));
	assert_true(recording_open(folder, &r, &err) < 0);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(recording_open(in_folder("none"), &r, &err), -ENOENT);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	assert_true(recording_open(in_folder("fifo"), &r, &err) < 0);
}

static void test_tables(void **unused)
{
	const struct recording_probe p = {
		.name = "Document::Update", .label = "UpdateLayoutTree", .category = "blink", .engine = "blink", .group = "g",
		.function = "f()", .module = "/usr/lib/x y", .build_id = "00ff", .source = "anchor", .evidence = "e",
		.refused = "r", .offset = 0xfedcba9876543210, .type = EVENT_REFLOW, .kind = PROBE_KIND_FLOW_END,
		.role = ROLE_WINDOW_CLOSED, .cost_class = COST_NOP5, .attached = true,
		.stats = { 1, 2, 3, 4, 5, 6, 7, 8, 9, UINT64_MAX, { 1, [FIELD_URL] = 2, [FIELD_KEY] = UINT64_MAX } },
	};
	struct recording_process proc = { 12, 2, 1, 5, 0, "renderer", "chromium --type=renderer", "blink", true };
	struct recording_thread thread = { 13, 12, "Compositor", true };
	struct recording_info info = {
		.target_pid = 12, .begin_ns = 5, .end_ns = UINT64_MAX, .begin_realtime_ns = -3, .tool = "framescope 1",
		.kernel = "6.18", .machine = "x86_64", .rung = "perf links", .overhead_source = "none",
		.metric_names = { "page-faults", "cycles" }, .metric_units = { "count" }, .nr_metrics = 2, .target_ended = true,
		.only_under = EVENT_LAYOUT, .min_duration_ns = UINT64_MAX,
	};
	const struct recording_probe *probes;
	const struct recording_process *procs;
	const struct recording_thread *threads;
	const struct recording_info *got;
	struct recording_writer *w;
	struct recording *r;
	size_t nr;
	int fd;

	(void)unused;
	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	assert_int_equal(recording_write_probes(w, some_probes, 2), 0);
	assert_int_equal(recording_write_process(w, &proc), 0);
	assert_int_equal(recording_write_process(w, &(struct recording_process){ .pid = 14 }), 0);
	proc.end_ns = 77;
	assert_int_equal(recording_write_process(w, &proc), 0);
	assert_int_equal(recording_write_thread(w, &thread), 0);
	assert_int_equal(recording_writer_flush(w), 0);
	thread.name = "Compos\xff\xfeitor";
	assert_int_equal(recording_write_thread(w, &thread), 0);
	assert_int_equal(recording_writer_finish_fd(w, &info, &p, 1, &fd, &err), 0);
	assert_int_equal(recording_open_fd(fd, "memory", &r, &err), 0);

	got = recording_get_info(r);
	assert_int_equal(got->version, RECORDING_VERSION);
	assert_false(got->truncated);
	assert_true(got->target_pid == 12 && got->begin_ns == 5 && got->end_ns == UINT64_MAX && got->begin_realtime_ns == -3);
	assert_string_equal(got->tool, "framescope 1");
	assert_string_equal(got->kernel, "6.18");
	assert_string_equal(got->machine, "x86_64");
	assert_string_equal(got->rung, "perf links");
	assert_string_equal(got->overhead_source, "none");
	assert_int_equal(got->nr_metrics, 2);
	assert_string_equal(got->metric_names[1], "cycles");
	assert_string_equal(got->metric_units[0], "count");
	assert_string_equal(got->metric_units[1], "");	/* NULL becomes "" */
	assert_true(got->target_ended && got->only_under == EVENT_LAYOUT && got->min_duration_ns == UINT64_MAX);

	probes = recording_get_probes(r, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(probes[1].refused, "no such function");
	assert_string_equal(probes[0].name, p.name);
	assert_string_equal(probes[0].label, p.label);
	assert_string_equal(probes[0].category, p.category);
	assert_string_equal(probes[0].engine, p.engine);
	assert_string_equal(probes[0].group, p.group);
	assert_string_equal(probes[0].function, p.function);
	assert_string_equal(probes[0].module, p.module);
	assert_string_equal(probes[0].build_id, p.build_id);
	assert_string_equal(probes[0].source, p.source);
	assert_string_equal(probes[0].evidence, p.evidence);
	assert_string_equal(probes[0].refused, p.refused);
	assert_true(probes[0].offset == p.offset && probes[0].type == p.type && probes[0].kind == p.kind &&
		    probes[0].role == p.role && probes[0].cost_class == p.cost_class && probes[0].attached);
	assert_memory_equal(&probes[0].stats, &p.stats, sizeof(p.stats));

	procs = recording_get_processes(r, &nr);
	assert_int_equal(nr, 2);
	assert_true(procs[0].pid == 12 && procs[0].inner_pid == 2 && procs[0].parent == 1 && procs[0].start_ns == 5 &&
		    procs[0].end_ns == 77 && procs[0].own_pages && !procs[1].own_pages);
	assert_string_equal(procs[0].cmdline, proc.cmdline);
	assert_string_equal(procs[1].name, "");
	threads = recording_get_threads(r, &nr);
	assert_int_equal(nr, 1);
	assert_true(threads[0].tid == 13 && threads[0].pid == 12 && threads[0].main);
	assert_string_equal(threads[0].name, "Compos\xef\xbf\xbd\xef\xbf\xbditor");
	recording_close(r);
}

/* What was written before the last fields of its tables came up, and what later ones come up behind. */
static void test_other_fields(void **unused)
{
	struct recording_process proc = { 12, 2, 1, 5, 0, "renderer", "chromium", "blink", true };
	struct recording_info info = { .direct_reads = true, .only_under = EVENT_LAYOUT, .min_duration_ns = 5 };

	(void)unused;
	for (int less = 0; less <= 2; less++) {
		struct recording_tables t;
		struct bytes b = { 0 };

		assert_int_equal(table_put_info(&b, &info), 0);
		assert_int_equal(b.p[0], b.n - 1);
		b.p[0] -= less;
		tables_init(&t);
		assert_int_equal(tables_take(&t, BLOCK_INFO, 1, b.p, b.n - less), 0);
		assert_true(t.info.direct_reads);
		assert_int_equal(t.info.only_under, less < 2 ? EVENT_LAYOUT : 0);
		assert_int_equal(t.info.min_duration_ns, less < 1 ? 5 : 0);
		tables_release(&t);
		free(b.p);
	}
	for (int more = -1; more <= 1; more++) {
		struct recording_tables t;
		struct bytes b = { 0 };

		assert_int_equal(table_put_process(&b, &proc), 0);
		assert_int_equal(b.p[0], b.n - 1);	/* the item's size, in one byte */
		assert_int_equal(bytes_add_varint(&b, 1), 0);
		b.p[0] += more;
		tables_init(&t);
		assert_int_equal(tables_take(&t, BLOCK_PROCESSES, 1, b.p, b.n - 1 + more), 0);
		assert_int_equal(t.nr_processes, 1);
		assert_string_equal(t.processes[0].engine, "blink");
		assert_int_equal(t.processes[0].own_pages, more >= 0);
		tables_release(&t);
		free(b.p);
	}
}

/* A probe table that does not fit into one block, threads beyond one, and texts that are too long. */
static void test_large_tables(void **unused)
{
	char *text = malloc(20001);
	struct recording_probe *p = calloc(RECORD_MAX_PROBES, sizeof(*p));
	const struct recording_probe *got;
	const struct recording_thread *threads;
	struct recording_writer *w;
	struct recording *r;
	size_t nr;
	int fd;

	(void)unused;
	memset(text, 'x', 20000);
	text[20000] = 0;
	for (uint32_t i = 0; i < RECORD_MAX_PROBES; i++) {
		p[i] = (struct recording_probe){ .name = "p", .evidence = i % 3 ? text : text + 19000, .offset = i };
	}
	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	for (uint32_t i = 0; i < 30000; i++)
		assert_int_equal(recording_write_thread(w, &(struct recording_thread){ i, i / 10, "abcdefghij", false }), 0);
	assert_int_equal(recording_write_probes(w, p, RECORD_MAX_PROBES + 1), -EINVAL);
	assert_int_equal(recording_writer_finish_fd(w, &some_info, p, RECORD_MAX_PROBES, &fd, &err), 0);
	assert_int_equal(recording_open_fd(fd, "memory", &r, &err), 0);
	got = recording_get_probes(r, &nr);
	assert_int_equal(nr, RECORD_MAX_PROBES);
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(got[i].offset, i);
		assert_int_equal(strlen(got[i].evidence), i % 3 ? RECORDING_MAX_TEXT : 1000);
	}
	threads = recording_get_threads(r, &nr);
	assert_int_equal(nr, 30000);
	assert_int_equal(threads[29999].tid, 29999);
	assert_false(recording_get_info(r)->truncated);
	recording_close(r);
	free(text);
	free(p);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void check_text(const char *path, const char *text)
{
	char buf[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, buf, sizeof(buf) - 1), strlen(text));
	assert_string_equal(buf, text);
	close(fd);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void check_complete(const char *path, const struct stream *s, int want)
{
	struct recording *r;

	assert_int_equal(recording_open(path, &r, &err), 0);
	assert_false(recording_get_info(r)->truncated);
	assert_int_equal(count_same(r, s), want);
	recording_close(r);
}

/* The name appears when all is written, whatever stood there before, and nothing else changes. */
static void test_rename(void **unused)
{
	const char *path = in_folder("out.fscope"), *partial = in_folder("out.fscope.partial");
	struct stream s = { 0 };
	struct recording_writer *w;
	struct stat st;

	(void)unused;
	write_text(in_folder("precious"), "precious");
	assert_int_equal(symlink("precious", path), 0);
	assert_int_equal(recording_writer_create(path, &w, &err), 0);
	fill(w, &s, 60);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(partial, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(recording_writer_bytes(w), st.st_size);
	assert_int_equal(recording_writer_finish(w, &some_info, some_probes, 2, &err), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_false(exists(partial));
	check_text(in_folder("precious"), "precious");
	check_complete(path, &s, 120);

	assert_int_equal(recording_writer_create(path, &w, &err), 0);
	recording_writer_abort(w);
	assert_false(exists(partial));
	check_complete(path, &s, 120);
	recording_writer_abort(NULL);
	stream_free(&s);
}

static void test_refused_names(void **unused)
{
	static const char *const names[] = { "", "sub", "fifo2", "none/x", "left", "link" };
	struct recording_writer *w;

	(void)unused;
	assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
	assert_int_equal(mkfifo(in_folder("fifo2"), 0600), 0);
	write_text(in_folder("left.partial"), "left");
	assert_int_equal(symlink("left.partial", in_folder("link.partial")), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		err.text[0] = 0;
		assert_true(recording_writer_create(in_folder(names[i]), &w, &err) < 0);
		assert_int_equal(err.kind, ERR_OUTPUT);
		assert_true(is_sentence(err.text));
	}
	assert_true(recording_writer_create("/dev/null", &w, &err) < 0);
	assert_true(recording_writer_create("", &w, &err) < 0);
	check_text(in_folder("left.partial"), "left");
	assert_false(exists(in_folder("left")));
}

static void test_owner(void **unused)
{
	const char *path = in_folder("owned.fscope");
	struct recording_writer *w;
	struct stat st;

	(void)unused;
	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_int_equal(recording_writer_create(path, &w, &err), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(recording_writer_finish(w, &some_info, NULL, 0, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_uid == 12345 && st.st_gid == 23456 && (st.st_mode & 07777) == 0600);
}

/* killed: PATH.partial has the probes as they were found, and an end. */
static void test_crash(void **unused)
{
	const char *path = in_folder("crash.fscope"), *partial = in_folder("crash.fscope.partial");
	struct stream s = { 0 };
	const struct recording_probe *probes;
	const struct recording_thread *threads;
	struct recording_writer *w;
	struct recording *r;
	size_t nr;

	(void)unused;
	assert_int_equal(recording_writer_create(path, &w, &err), 0);
	fill(w, &s, 60);
	assert_int_equal(recording_open(partial, &r, &err), 0);
	assert_true(recording_get_info(r)->truncated);
	assert_int_equal(recording_get_info(r)->damaged_blocks, 0);
	assert_int_equal(recording_get_info(r)->end_ns, 2050 + 100 * 59);
	assert_true(recording_get_info(r)->begin_ns > 0 && recording_get_info(r)->begin_realtime_ns > 0);
	probes = recording_get_probes(r, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(probes[0].name, "one");
	threads = recording_get_threads(r, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(threads[0].name, "t");
	assert_int_equal(count_same(r, &s), 120);
	recording_close(r);
	recording_writer_abort(w);
	stream_free(&s);
}

/* A full disk: the error sticks and says what is left; what was flushed before can be read. */
static void test_full_disk(void **unused)
{
	const char *path = in_folder("full.fscope"), *partial = in_folder("full.fscope.partial");
	struct rlimit old, limit;
	struct stream s = { 0 };
	const struct rec_header *rec;
	struct recording_writer *w;
	struct recording *r;
	struct stat st;
	int rc = 0, n = 0;

	(void)unused;
	noisy(&s, 60000);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ .rlim_cur = 700000, .rlim_max = old.rlim_max };
	assert_int_equal(recording_writer_create(path, &w, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (rec = stream_next(&s, NULL); rec && !rc; rec = stream_next(&s, rec))
		rc = recording_write_record(w, rec);
	assert_int_equal(rc, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	rec = stream_next(&s, NULL);
	assert_int_equal(recording_write_record(w, rec), -EFBIG);
	assert_int_equal(recording_writer_flush(w), -EFBIG);
	assert_int_equal(recording_writer_finish(w, &some_info, some_probes, 2, &err), -EFBIG);
	assert_true(is_sentence(err.text) && err.kind == ERR_OUTPUT && strstr(err.text, "full.fscope.partial"));
	assert_false(exists(path));
	assert_int_equal(stat(partial, &st), 0);
	assert_true(st.st_size > 250000 && st.st_size <= 700000);
	assert_int_equal(recording_open(partial, &r, &err), 0);
	assert_true(recording_get_info(r)->truncated);
	assert_int_equal(recording_get_info(r)->damaged_blocks, 0);	/* no half block is left */
	n = count_same(r, &s);
	assert_true(n > 10000 && n < 60000);
	recording_close(r);
	stream_free(&s);
}

static void test_bad_records(void **unused)
{
	struct recording_writer *w;
	struct recording *r;
	const struct rec_header *rec;
	struct rec_header h = { .type = 1, .size = 16 };
	int fd;

	(void)unused;
	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	h.size = 8;
	assert_int_equal(recording_write_record(w, &h), -EINVAL);
	h.size = RECORD_MAX_SIZE + 8;
	assert_int_equal(recording_write_record(w, &h), -EINVAL);
	h.size = 20;
	assert_int_equal(recording_write_record(w, &h), -EINVAL);
	h.size = 16;
	assert_int_equal(recording_write_record(w, &h), 0);	/* does not stick */
	assert_int_equal(recording_writer_finish_fd(w, &some_info, NULL, 0, &fd, &err), 0);
	assert_int_equal(recording_open_fd(fd, "memory", &r, &err), 0);
	assert_int_equal(recording_next(r, &rec, &err), 1);
	assert_memory_equal(rec, &h, 16);
	assert_int_equal(recording_next(r, &rec, &err), 0);
	recording_close(r);
}

static int make_folder(void **unused)
{
	(void)unused;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
	char command[64];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_other_damage),
		cmocka_unit_test(test_far_damage),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_other_fields),
		cmocka_unit_test(test_large_tables),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_refused_names),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_bad_records),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
