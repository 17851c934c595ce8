// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A user's own engine: C++ with classes, a function found by a string, and two of the names that native.engine knows.
// cflags: -std=c++17 -fno-inline -fno-ipa-sra -fno-ipa-cp -fno-ipa-ra
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#define FN __attribute__((noinline, noclone, used))

namespace toy {

struct Url {
	long pad;
	std::string text;
};

struct Document {
	int version;
	Url url;
	const char *title;
	char16_t wide[8];
};

struct Frame {
	std::unique_ptr<Document> document;
	Frame *parent;
	struct Rect { int32_t x, y, w, h; } dirty;
};

class Layout {
public:
	FN int run(Frame *frame);
	FN int run(Frame *frame, int times);
};

int Layout::run(Frame *frame)
{
	asm volatile("" ::: "memory");
	return frame->dirty.w;
}

int Layout::run(Frame *frame, int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += run(frame);
	return sum;
}

/* only its text tells it in a stripped program */
FN int paint(Frame *frame, char *log, size_t size)
{
	return snprintf(log, size, "painted %d rectangles of the toy", frame->dirty.w);
}

}

extern "C" {
FN void framescope_layout(uint64_t frame, const char *url) { asm volatile("" :: "r"(frame), "r"(url) : "memory"); }
FN void framescope_paint(uint64_t frame, int x, int y, int w, int h)
{
	asm volatile("" :: "r"(frame), "r"(x), "r"(y), "r"(w), "r"(h) : "memory");
}
}

int main()
{
	toy::Frame frames[2];
	toy::Layout layout;
	char line[16], log[64];

	for (int i = 0; i < 2; i++) {
		frames[i].document = std::make_unique<toy::Document>();
		frames[i].document->url.text = "https://toy.example/a page with a long address/" + std::to_string(i);
		frames[i].document->title = i ? "second" : "first";
		memcpy(frames[i].document->wide, u"w\u00edde\u2603", 12);
		frames[i].parent = i ? &frames[0] : nullptr;
		frames[i].dirty = { -1 - i, 2, 300, 400 };
	}
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < 2; i++) {
		layout.run(&frames[i], 3);
		toy::paint(&frames[i], log, sizeof(log));
		framescope_layout((uint64_t)&frames[i], frames[i].document->title);
		framescope_paint((uint64_t)&frames[i], -5, 6, 7, 8);
	}
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 1 : 0;
}
