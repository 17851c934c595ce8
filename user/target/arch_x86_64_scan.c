// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bulk pass over x86-64 code: finds e8, e9 and rip-relative lea by their bytes, sixteen at a time. */
#include <string.h>
#include "target/arch_x86_64.h"
#include "target/scan.h"

/* Sixteen bytes; compiles to SSE2 on x86-64 and to NEON on arm64. */
typedef uint8_t vec __attribute__((vector_size(16)));

static inline vec load(const uint8_t *p)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* One bit per byte of a comparison's result. */
static inline unsigned int mask_of(vec v)
{
#ifdef __SSE2__
	return __builtin_ia32_pmovmskb128((char __attribute__((vector_size(16))))v);
#else
	unsigned int m = 0;

	for (int i = 0; i < 16; i++)
		m |= (unsigned int)(v[i] & 1) << i;
	return m;
#endif
}

static inline int32_t read_s32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void report(const uint8_t *p, uint64_t vaddr, struct code_sink *sink)
{
	switch (*p) {
	case 0xe8:
	case 0xe9:
		code_sink_call(sink, vaddr, vaddr + 5 + read_s32(p + 1), *p == 0xe9);
		break;
	default:	/* 8d /r with a rip-relative operand; the REX in front of it belongs to the instruction */
		code_sink_address(sink, vaddr - 1, vaddr + 6 + read_s32(p + 2));
	}
}

static inline bool interesting(const uint8_t *p)
{
	return *p == 0xe8 || *p == 0xe9 || (*p == 0x8d && (p[1] & 0xc7) == 0x05);
}

void x86_scan(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink)
{
	const vec call = (vec){} + 0xe8, low_bit = (vec){} + 1, lea = (vec){} + 0x8d;
	const vec rip_mask = (vec){} + 0xc7, rip = (vec){} + 0x05;
	size_t i = 0;

	/* 16 bytes and the six of an instruction that begins in the last of them */
	for (; i < n && avail - i >= 32; i += 16) {
		vec v = load(code + i), w = load(code + i + 1);
		vec hit = (vec)((v & ~low_bit) == call) | ((vec)(v == lea) & (vec)((w & rip_mask) == rip));
		unsigned int m = mask_of(hit);

		if (n - i < 16)
			m &= (1u << (n - i)) - 1;
		for (; m; m &= m - 1) {
			unsigned int k = __builtin_ctz(m);

			report(code + i + k, vaddr + i + k, sink);
		}
	}
	for (; i < n && avail - i >= 6; i++)
		if (interesting(code + i))
			report(code + i, vaddr + i, sink);
}

static inline void report_branch(const uint8_t *p, uint64_t vaddr, struct code_sink *sink)
{
	if (*p == 0xe9)
		code_sink_branch(sink, vaddr, vaddr + 5 + read_s32(p + 1));
	else if (*p == 0x0f && (p[1] & 0xf0) == 0x80)
		code_sink_branch(sink, vaddr, vaddr + 6 + read_s32(p + 2));
	else if (*p == 0x8d && (p[1] & 0xc7) == 0x05)
		code_sink_branch(sink, vaddr - 1, vaddr + 6 + read_s32(p + 2));
}

/* Short jumps never lead to another function's part. */
void x86_branches(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink)
{
	const vec jump = (vec){} + 0xe9, lea = (vec){} + 0x8d, two = (vec){} + 0x0f;
	size_t i = 0;

	for (; i < n && avail - i >= 32; i += 16) {
		vec v = load(code + i);
		unsigned int m = mask_of((vec)(v == jump) | (vec)(v == lea) | (vec)(v == two));

		if (n - i < 16)
			m &= (1u << (n - i)) - 1;
		for (; m; m &= m - 1)
			report_branch(code + i + __builtin_ctz(m), vaddr + i + __builtin_ctz(m), sink);
	}
	for (; i < n && avail - i >= 6; i++)
		report_branch(code + i, vaddr + i, sink);
}
