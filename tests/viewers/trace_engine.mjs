// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads a trace with the engine of DevTools' Performance panel and prints as JSON what that understood.
// usage: node trace_engine.mjs FILE
import fs from 'node:fs';
import zlib from 'node:zlib';
import * as Trace from '@paulirish/trace_engine/models/trace/trace.js';

globalThis.DOMRect ??= class DOMRect {
	constructor(x = 0, y = 0, width = 0, height = 0) {
		Object.assign(this, { x, y, width, height });
	}
	static fromRect(r) {
		return new DOMRect(r.x, r.y, r.width, r.height);
	}
};
globalThis.window ??= globalThis;

const bytes = fs.readFileSync(process.argv[2]);
const text = (process.argv[2].endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes).toString('utf8');
const events = JSON.parse(text).traceEvents;
const complaints = [];
const { error, warn } = console;
console.error = (...args) => complaints.push(args.join(' '));
console.warn = (...args) => complaints.push(args.join(' '));
const model = Trace.TraceModel.Model.createWithAllHandlers();
await model.parse(events);
console.error = error;
console.warn = warn;
const parsed = model.parsedTrace();
const { Renderer, Meta, SelectorStats, ExtensionTraceData, UserTimings } = parsed.data;
const visible = new Set(Trace.Styles.visibleTypes?.() ?? []);
const styles = Trace.Styles.getEventStyle ?? (() => undefined);

function walk(node, depth, found) {
	const e = node.entry;

	found.push({ name: e.name, ph: e.ph, ts: e.ts, dur: e.dur ?? 0, depth, self: node.selfTime,
		drawn: visible.has(e.name), title: styles(e.name)?.title ?? null });
	for (const child of node.children)
		walk(child, depth + 1, found);
}

const threads = [];
for (const [pid, process] of Renderer.processes)
	for (const [tid, thread] of process.threads) {
		const found = [];

		for (const root of thread.tree?.roots ?? [])
			walk(root, 0, found);
		threads.push({ pid, tid, name: thread.name, url: process.url, main: process.isOnMainFrame,
			total: thread.entries.filter((e) => e.ph === 'X').length, events: found.filter((e) => e.ph === 'X') });
	}
const stats = [];
for (const [recalc, found] of SelectorStats.dataForRecalcStyleEvent)
	stats.push({ ts: recalc.ts, timings: found.timings });
process.stdout.write(JSON.stringify({
	generic: Meta.traceIsGeneric, mainFrameURL: Meta.mainFrameURL, bounds: Meta.traceBounds,
	navigations: Meta.mainFrameNavigations.map((n) => n.args.data.documentLoaderURL), complaints, threads, stats,
	tracks: ExtensionTraceData.extensionTrackData.map((t) => ({ name: t.name, group: t.isTrackGroup,
		entries: Object.values(t.entriesByTrack).flat().map((e) => ({ name: e.name, ts: e.ts, dur: e.dur })) })),
	markers: ExtensionTraceData.extensionMarkers.map((m) => ({ name: m.name, ts: m.ts })),
	timings: UserTimings.performanceMeasures.length,
	insights: [...(parsed.insights?.keys() ?? [])],
	matchAttempts: [...(parsed.insights?.values() ?? [])].map((set) => set.model.SlowCSSSelector?.totalMatchAttempts ?? null),
	frames: [...Meta.rendererProcessesByFrame.keys()], mainFrameId: Meta.mainFrameId,
}));
