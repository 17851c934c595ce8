// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every record of a recording as one line of JSON, for tests: what the kernel side said, before any model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "capture/recording_file.h"

static void print_string(const char *s, size_t n)
{
	char *d = malloc(6 * n + 2);

	if (!d)
		exit(1);
	fwrite(d, 1, text_json(s, n, d), stdout);
	free(d);
}

static void print_args(const void *data, size_t bytes)
{
	const unsigned char *p = data, *end = p + bytes;
	char text[RECORD_MAX_STRING * TEXT_GROWTH];
	struct rec_arg a;

	printf(",\"args\":[");
	for (int i = 0; p + sizeof(a) <= end; i++) {
		memcpy(&a, p, sizeof(a));
		p += sizeof(a);
		if (a.bytes > end - p)
			break;
		printf("%s[%d,%d,", i ? "," : "", a.field, a.encoding);
		if (a.encoding == ENC_INT) {
			long long v;

			memcpy(&v, p, sizeof(v));
			printf("%lld]", v);
		} else {
			print_string(text, text_decode(a.encoding, p, a.bytes, text, sizeof(text)));
			printf("]");
		}
		p += (a.bytes + 3) & ~3;
	}
	printf("]");
}

static void print_begin(const struct rec_begin *b)
{
	printf(",\"call\":%llu,\"parent\":%llu,\"sp\":%llu,\"probe\":%u,\"tgid\":%u,\"depth\":%u,\"flags\":%u,\"read\":%u",
	       b->call_id, b->parent_id, b->sp, b->probe, b->tgid, b->depth, b->flags, b->read_ns);
	print_args(b + 1, b->arg_bytes);
}

static void print_end(const struct rec_end *e)
{
	printf(",\"begin\":%llu,\"call\":%llu,\"parent\":%llu,\"sp\":%llu,\"off_cpu\":%llu,\"probe\":%u,\"tgid\":%u,\"depth\":%u,"
	       "\"flags\":%u,\"hidden_ns\":%llu,\"hidden_hits\":%u,\"measured\":%u,\"metrics\":[", e->begin_ns, e->call_id,
	       e->parent_id, e->sp, e->off_cpu_ns, e->probe, e->tgid, e->depth, e->flags, e->hidden_ns, e->hidden_hits,
	       e->measured_ns);
	for (int i = 0; i < e->nr_metrics; i++)
		printf("%s%llu", i ? "," : "", ((const unsigned long long *)(e + 1))[i]);
	printf("]");
}

static void print_aggregate(const struct rec_aggregate *a)
{
	printf(",\"first\":%llu,\"total\":%llu,\"call\":%llu,\"parent\":%llu,\"hits\":%llu,\"probe\":%u,\"tgid\":%u,\"depth\":%u,"
	       "\"flags\":%u", a->first_ns, a->total_ns, a->call_id, a->parent_id, a->hits, a->probe, a->tgid, a->depth,
	       a->flags);
	print_args(a + 1, a->arg_bytes);
}

static void print_task(const struct rec_task *t)
{
	printf(",\"tgid\":%u,\"child\":%u,\"comm\":", t->tgid, t->child_tgid);
	print_string(t->comm, strnlen(t->comm, sizeof(t->comm)));
}

static void print_record(const struct rec_header *h)
{
	const struct rec_loss *l = (const void *)h;
	const struct rec_cpu *c = (const void *)h;
	const struct rec_cost *k = (const void *)h;
	const struct rec_note *n = (const void *)h;

	printf("{\"type\":%u,\"tid\":%u,\"ts\":%llu", h->type, h->tid, h->ts_ns);
	switch (h->type) {
	case REC_BEGIN:
	case REC_MARK:
		print_begin((const void *)h);
		break;
	case REC_END:
		print_end((const void *)h);
		break;
	case REC_AGGREGATE:
		print_aggregate((const void *)h);
		break;
	case REC_THREAD:
	case REC_FORK:
	case REC_EXEC:
	case REC_EXIT:
		print_task((const void *)h);
		break;
	case REC_CPU:
		printf(",\"cpu\":%llu,\"final\":%u", c->cpu_ns, c->final);
		break;
	case REC_COST:
		printf(",\"class\":%u,\"samples\":%u,\"inner\":%llu,\"outer\":%llu,\"spread\":%llu", k->cost_class, k->samples,
		       k->inner_ns, k->outer_ns, k->spread_ns);
		break;
	case REC_LOSS:
		printf(",\"since\":%llu,\"probe\":%u,\"begins\":%u,\"ends\":%u,\"marks\":%u", l->since_ns, l->probe,
		       l->lost_begins, l->lost_ends, l->lost_marks);
		break;
	case REC_NOTE:
		printf(",\"probe\":%u,\"text\":", n->probe);
		print_string((const char *)(n + 1), n->text_bytes);
		break;
	}
	printf("}\n");
}

static void print_tables(struct recording *r)
{
	const struct recording_info *info = recording_get_info(r);
	size_t nr;
	const struct recording_probe *p = recording_get_probes(r, &nr);
	const struct recording_process *procs;
	const struct recording_thread *threads;

	printf("{\"info\":{\"rung\":\"%s\",\"begin\":%llu,\"end\":%llu,\"target_ended\":%d,\"direct_reads\":%d,\"only_under\":%u,"
	       "\"min_duration_ns\":%llu},\"probes\":[", info->rung,
	       (unsigned long long)info->begin_ns, (unsigned long long)info->end_ns, info->target_ended,
	       info->direct_reads, info->only_under, (unsigned long long)info->min_duration_ns);
	for (size_t i = 0; i < nr; i++) {
		const struct probe_stats *s = &p[i].stats;

		printf("%s{\"name\":", i ? "," : "");
		print_string(p[i].name, strlen(p[i].name));
		printf(",\"function\":");
		print_string(p[i].function, strlen(p[i].function));
		printf(",\"refused\":");
		print_string(p[i].refused, strlen(p[i].refused));
		printf(",\"attached\":%d,\"offset\":%llu,\"calls\":%llu,\"ends\":%llu,\"lost_begins\":%llu,\"lost_ends\":%llu,"
		       "\"unwound\":%llu,\"orphan_exits\":%llu,\"too_deep\":%llu,\"read_failed\":%llu,\"faulted_in\":%llu,"
		       "\"hidden\":%llu}", p[i].attached, (unsigned long long)p[i].offset, s->calls, s->ends,
		       s->lost_begins, s->lost_ends, s->unwound, s->orphan_exits, s->too_deep, s->read_failed,
		       s->faulted_in, s->hidden);
	}
	printf("],\"processes\":[");
	procs = recording_get_processes(r, &nr);
	for (size_t i = 0; i < nr; i++) {
		printf("%s{\"pid\":%u,\"inner\":%u,\"parent\":%u,\"start\":%llu,\"end\":%llu,\"name\":", i ? "," : "",
		       procs[i].pid, procs[i].inner_pid, procs[i].parent, (unsigned long long)procs[i].start_ns,
		       (unsigned long long)procs[i].end_ns);
		print_string(procs[i].name, strlen(procs[i].name));
		printf("}");
	}
	printf("],\"threads\":[");
	threads = recording_get_threads(r, &nr);
	for (size_t i = 0; i < nr; i++) {
		printf("%s{\"tid\":%u,\"pid\":%u,\"main\":%d,\"name\":", i ? "," : "", threads[i].tid, threads[i].pid,
		       threads[i].main);
		print_string(threads[i].name, strlen(threads[i].name));
		printf("}");
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	const struct rec_header *rec;
	struct recording *r = NULL;
	struct error err = { 0 };
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: dump-records FILE\n");
		return 2;
	}
	rc = recording_open(argv[1], &r, &err);
	if (!rc) {
		print_tables(r);
		while ((rc = recording_next(r, &rec, &err)) > 0)
			print_record(rec);
	}
	recording_close(r);
	if (rc < 0)
		fprintf(stderr, "dump-records: %s\n", err.text);
	return rc < 0;
}
