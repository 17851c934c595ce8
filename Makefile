# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make [V=1] [O=DIR] [SAN=address,undefined] [DEBUG=1] [STATIC=1] [CROSS_COMPILE=…] [TARGET]
#   all              build/framescope; with STATIC=1 build/static/framescope too, which needs no library
#   check            tests that need no root; check-root: those that attach; check-fuzz: fuzzing, for seconds each; check-all
#   check-kernels    on other kernels, in virtual machines: FRAMESCOPE_KERNELS=all or a list like "6.1 6.18"
#   bench            what probing costs; JSON=FILE keeps the figures; bench-cost: only the calls'
#   tests, fuzz      builds those programs; ARCH=arm64 bpf: only the BPF objects, for another architecture
#   install          DESTDIR= PREFIX=/usr/local; uninstall takes the same; clean removes what was built
#   V=1 shows commands, O= builds elsewhere, SAN= takes the compiler's sanitizers, DEBUG=1 doesn't optimise

O ?= build
PREFIX ?= /usr/local
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(Q),@printf '  %-8s %s\n' '$(1)' '$(2)')

CC := $(CROSS_COMPILE)gcc
AR := $(CROSS_COMPILE)ar
CLANG ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool) /usr/sbin/bpftool)
PROTOC_C ?= protoc-c
PKG_CONFIG ?= pkg-config

MACHINE := $(shell $(CC) -dumpmachine)
ARCH := $(if $(filter aarch64%,$(MACHINE)),arm64,x86_64)
BPF_ARCH := $(if $(filter arm64,$(ARCH)),arm64,x86)

PKGS := libbpf libelf libdw zlib libprotobuf-c jansson libevent libcap-ng inih
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

WARN := -Wall -Wextra -Wtype-limits -Wshadow -Werror
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 $(WARN) $(if $(DEBUG),-O0) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
# _FILE_OFFSET_BITS and -fstack-protector matter since the program reads hostile files as root
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -Iuser -I$(O)/gen -MMD -MP \
	-DFRAMESCOPE_PREFIX='"$(PREFIX)"' $(shell $(PKG_CONFIG) --cflags $(PKGS))
LDFLAGS += $(if $(SAN),-fsanitize=$(SAN))
LDLIBS += $(shell $(PKG_CONFIG) --libs $(PKGS)) -liberty -lpthread -lm

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:bpf/%.bpf.c=$(O)/bpf/%.bpf.o)
SKEL := $(O)/gen/programs.skel.h $(O)/gen/programs_counters.skel.h $(O)/gen/snoop.skel.h
PROTO := $(wildcard user/*/*.proto)
PROTO_C := $(PROTO:user/%.proto=$(O)/gen/%.pb-c.c)
PROTO_OBJ := $(PROTO_C:.c=.o)
USER_SRC := $(wildcard user/*/*.c)
USER_OBJ := $(USER_SRC:%.c=$(O)/%.o)
LIB_OBJ := $(filter-out $(O)/user/cli/main.o,$(USER_OBJ)) $(PROTO_OBJ)
GEN_H := $(O)/gen/version.h

UNIT_SRC := $(wildcard tests/unit/*.c tests/replay/*.c)
UNIT_BIN := $(UNIT_SRC:tests/%.c=$(O)/tests/%)
# Targets are built as their users would build theirs: optimised, and each with the flags named in its first lines
TARGET_SRC := $(wildcard tests/engine/targets/*.c tests/engine/targets/*.cc)
TARGET_BIN := $(patsubst tests/%.c,$(O)/tests/%,$(patsubst tests/%.cc,$(O)/tests/%,$(TARGET_SRC)))
VIEWER_BIN := $(O)/tests/viewers/recordings
TOOL_BIN := $(patsubst tools/%.c,$(O)/tools/%,$(wildcard tools/*.c))
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/%.c=$(O)/tests/%)

STATIC_BIN := $(O)/static/framescope
GUEST_SRC := $(wildcard tests/kernels/*.c)
GUEST_BIN := $(GUEST_SRC:tests/%.c=$(O)/static/tests/%) $(addprefix $(O)/static/tests/engine/targets/,calls throws)

all: $(O)/framescope $(if $(STATIC),$(STATIC_BIN))

bpf: $(BPF_OBJ)

# from the objects, not the archive: the command table's weak references would not pull members out of one
$(O)/framescope: $(USER_OBJ) $(PROTO_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same objects. The linker's warnings would be about names of users, hosts and services: looking those up needs the
# C library's shared parts at run time, and without them only numbers are understood.
$(STATIC_BIN): $(USER_OBJ) $(PROTO_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie -Wl,--no-warnings -o $@ $^ \
		$(shell $(PKG_CONFIG) --static --libs $(PKGS)) -liberty -lpthread -lm

$(O)/libframescope.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/user/%.o: user/%.c | $(SKEL) $(PROTO_C) $(GEN_H)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(O)/user/export/html_page.o: user/export/report.html

$(O)/gen/%.pb-c.o: $(O)/gen/%.pb-c.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-shadow -c -o $@ $<

$(O)/gen/%.pb-c.c: user/%.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(@D) && $(PROTOC_C) --proto_path=user --c_out=$(O)/gen $<

BPF_COMPILE = $(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Werror -Iinclude -Ivmlinux/$(ARCH) \
	-idirafter $(shell $(CLANG) -print-resource-dir)/include -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D) && $(BPF_COMPILE)

# the same programs for recordings with perf counters: see bpf/metrics.bpf.h
$(O)/bpf/counters/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(BPF_COMPILE) -DCOUNTERS

# one object of all programs: they share their maps and globals by name. The one that defines them comes first,
# since libbpf 1.1's linker lays a map out wrongly when it meets its declaration before its definition.
# snoop stands alone: it is loaded by calibration and never by a recording
$(O)/bpf/programs.o: $(filter-out %/snoop.bpf.o,$(BPF_OBJ))
$(O)/bpf/programs_counters.o: $(patsubst $(O)/bpf/%,$(O)/bpf/counters/%,$(filter-out %/snoop.bpf.o,$(BPF_OBJ)))
$(O)/bpf/programs.o $(O)/bpf/programs_counters.o:
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $(filter %/probe.bpf.o,$^) $(filter-out %/probe.bpf.o,$^)

$(O)/gen/snoop.skel.h: $(O)/bpf/snoop.bpf.o
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D) && $(BPFTOOL) gen skeleton $< name snoop_bpf_skel > $@.new && mv $@.new $@

$(O)/gen/%.skel.h: $(O)/bpf/%.o
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D) && $(BPFTOOL) gen skeleton $< name $* > $@

# rewritten only when the version changes, so that nothing else is rebuilt
$(GEN_H): FORCE
	$(Q)mkdir -p $(@D) && echo '#define FRAMESCOPE_VERSION "$(VERSION)"' > $@.new && \
		{ cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }

$(O)/tests/unit/%: tests/unit/%.c $(O)/libframescope.a
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(O)/libframescope.a -lcmocka $(LDLIBS)

$(O)/tests/replay/%: tests/replay/%.c $(O)/libframescope.a
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(O)/libframescope.a -lcmocka $(LDLIBS)

# What makes recordings for the exporters' tests
$(O)/tests/viewers/%: tests/viewers/%.c $(O)/libframescope.a
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(O)/libframescope.a $(LDLIBS)

# Small programs of ours beside the scripts: $(O)/tools/bench-recording
$(O)/tools/%: tools/%.c $(O)/libframescope.a
	$(call say,TOOL,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(O)/libframescope.a $(LDLIBS)

# A target's own flags: a line "cflags: …" (and "ldflags: …") in its first comment
flags_of = $(shell sed -n '1,12s/^.*\b$(1): *\(.*[^ */]\).*$$/\1/p' $<)
$(O)/tests/engine/targets/%: tests/engine/targets/%.c
	$(call say,TARGET,$<)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall $(call flags_of,cflags) -o $@ $< $(call flags_of,ldflags) -lpthread -ldl

$(O)/tests/engine/targets/%: tests/engine/targets/%.cc
	$(call say,TARGET,$<)
	$(Q)mkdir -p $(@D) && $(CROSS_COMPILE)g++ -O2 -g -Wall $(call flags_of,cflags) -o $@ $< $(call flags_of,ldflags) -lpthread -ldl

# What runs in a virtual machine that has no libraries
$(O)/static/tests/%: tests/%.c
	$(call say,GUEST,$<)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(WARN) -static $(call flags_of,cflags) -o $@ $< $(call flags_of,ldflags) -lpthread

$(O)/static/tests/engine/targets/%: tests/engine/targets/%.c
	$(call say,GUEST,$<)
	$(Q)mkdir -p $(@D) && $(CC) -O2 -g -Wall -static $(call flags_of,cflags) -o $@ $< $(call flags_of,ldflags) -lpthread

# without tail calls, which exit probes show beside their caller
$(O)/static/tests/engine/targets/%: tests/engine/targets/%.cc
	$(call say,GUEST,$<)
	$(Q)mkdir -p $(@D) && $(CROSS_COMPILE)g++ -O2 -g -Wall -static -fno-optimize-sibling-calls $(call flags_of,cflags) -o $@ $< $(call flags_of,ldflags) -lpthread

# libFuzzer; the harnesses include what they need from the library, built again with clang's sanitizers
$(O)/tests/fuzz/%: tests/fuzz/%.c $(filter-out user/cli/main.c user/capture/% user/calibrate/%,$(USER_SRC)) \
		$(wildcard user/capture/recording_*.c) $(addprefix user/calibrate/,profile.c trace.c timeline.c wants.c report.c) | $(PROTO_C) $(SKEL) $(GEN_H)
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D) && $(CLANG) -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Wno-comment \
		$(filter-out -MMD -MP,$(CPPFLAGS)) -Itests -o $@ $< \
		$(shell sed -n '1,12s/^.*\bsources: *\(.*[^ */]\).*$$/\1/p' $<) $(LDLIBS)

tests: $(UNIT_BIN) $(TARGET_BIN) $(VIEWER_BIN) $(TOOL_BIN)
targets: $(TARGET_BIN)
guests: $(STATIC_BIN) $(GUEST_BIN) $(O)/tools/dump-records
fuzz: $(FUZZ_BIN)

check: all $(UNIT_BIN) $(VIEWER_BIN) $(TOOL_BIN)
	$(Q)O=$(O) tests/run unit replay viewers

check-root: all $(TARGET_BIN) $(TOOL_BIN)
	$(Q)O=$(O) tests/run engine

check-fuzz: $(FUZZ_BIN)
	$(Q)O=$(O) tests/run fuzz

check-all: all tests fuzz
	$(Q)O=$(O) tests/run unit replay viewers fuzz engine

# FRAMESCOPE_KERNELS="6.18 5.10" or =all chooses the kernels
check-kernels: guests
	$(Q)O=$(O) tests/run kernels

bench: all $(TARGET_BIN) $(TOOL_BIN)
	$(Q)O=$(O) tools/bench $(if $(JSON),--json $(JSON))

bench-cost: all $(TARGET_BIN) $(TOOL_BIN)
	$(Q)O=$(O) tools/bench --only cost $(if $(JSON),--json $(JSON))

install: all
	install -Dm755 $(O)/framescope $(DESTDIR)$(PREFIX)/bin/framescope
	install -d $(DESTDIR)$(PREFIX)/share/framescope/engines/builds
	install -m644 user/engines/*.engine $(DESTDIR)$(PREFIX)/share/framescope/engines
	$(if $(wildcard user/engines/builds/*.sites),install -m644 user/engines/builds/*.sites $(DESTDIR)$(PREFIX)/share/framescope/engines/builds)
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	sed 's|/usr/local/share|$(PREFIX)/share|' user/cli/framescope.1 > $(DESTDIR)$(PREFIX)/share/man/man1/framescope.1
	chmod 644 $(DESTDIR)$(PREFIX)/share/man/man1/framescope.1
	install -Dm644 user/cli/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/framescope

# what install put there; the folders of others stay
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/framescope $(DESTDIR)$(PREFIX)/share/man/man1/framescope.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/framescope
	rm -rf $(DESTDIR)$(PREFIX)/share/framescope

help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' Makefile

clean:
	rm -rf $(O)

FORCE:
.PHONY: all bpf tests targets guests fuzz check check-root check-fuzz check-all check-kernels bench bench-cost install uninstall help clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:
-include $(USER_OBJ:.o=.d) $(PROTO_OBJ:.o=.d) $(BPF_OBJ:.o=.d) $(BPF_OBJ:$(O)/bpf/%.o=$(O)/bpf/counters/%.d) $(UNIT_BIN:=.d) $(O)/user/cli/main.d
