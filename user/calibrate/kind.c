// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of kinds of browsers. */
#include <ini.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "calibrate/kind.h"
#include "record.h"

/* Only its own pages are shown to it: a sandbox would protect nobody, and can't be set up everywhere. */
static const char *const chromium_args[] = {
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
	"--disable-breakpad", "--disable-component-extensions-with-background-pages", "--disable-extensions",
	"--no-default-browser-check", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
	"--disable-hang-monitor", "--remote-debugging-pipe",
	"--disable-features=DialMediaRouteProvider,OptimizationHints,SpareRendererForSitePerProcess", "--user-data-dir=%s", NULL,
};

static const char *const firefox_args[] = { "--headless", "--no-remote", "--profile", "%s", NULL };

static const char *const firefox_env[] = { "MOZ_DISABLE_CONTENT_SANDBOX=1", "MOZ_CRASHREPORTER_DISABLE=1", NULL };

/* Nothing goes out to the network, nothing is asked, nothing is started ahead of time; a page may close its window, which is
 * how the browser is told to end. */
static const char *const firefox_prefs[] = {
	"\"app.normandy.enabled\", false", "\"app.update.enabled\", false", "\"browser.aboutwelcome.enabled\", false",
	"\"browser.newtabpage.enabled\", false", "\"browser.region.network.url\", \"\"",
	"\"browser.safebrowsing.downloads.enabled\", false", "\"browser.safebrowsing.malware.enabled\", false",
	"\"browser.safebrowsing.phishing.enabled\", false", "\"browser.search.update\", false",
	"\"browser.shell.checkDefaultBrowser\", false", "\"browser.startup.homepage_override.mstone\", \"ignore\"",
	"\"browser.tabs.crashReporting.sendReport\", false", "\"captivedetect.canonicalURL\", \"\"",
	"\"datareporting.policy.dataSubmissionEnabled\", false", "\"dom.allow_scripts_to_close_windows\", true",
	"\"dom.ipc.processPrelaunch.enabled\", false",
	"\"dom.push.connection.enabled\", false", "\"extensions.getAddons.cache.enabled\", false",
	"\"extensions.systemAddon.update.enabled\", false", "\"extensions.update.enabled\", false",
	"\"media.gmp-manager.updateEnabled\", false", "\"network.captive-portal-service.enabled\", false",
	"\"network.connectivity-service.enabled\", false", "\"network.dns.disablePrefetch\", true",
	"\"network.http.speculative-parallel-limit\", 0", "\"services.settings.server\", \"data:,\"",
	"\"toolkit.telemetry.enabled\", false", "\"toolkit.telemetry.server\", \"\"",
	"\"trailhead.firstrun.didSeeAboutWelcome\", true", NULL,
};

/* No bus: nothing of the user's session has a part in it. */
static const char *const webkit_env[] = {
	"GDK_BACKEND=x11", "NO_AT_BRIDGE=1", "GSETTINGS_BACKEND=memory", "DBUS_SESSION_BUS_ADDRESS=disabled:",
	"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", NULL,
};

static const char *const none[] = { NULL };

static const struct browser_kind kinds[] = {
	{ .engine = "blink", .args = chromium_args, .env = none, .pipe = true, .root_navigates = true, .cage = true },
	{ .engine = "gecko", .args = firefox_args, .env = firefox_env, .prefs = firefox_prefs, .from_start = true },
	{ .engine = "webkit", .args = none, .env = webkit_env, .program = "MiniBrowser", .text = KIND_WTF_WEBKIT, .display = true,
	  .from_start = true },
};

const struct browser_kind *kind_of(const char *engine)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].engine, engine))
			return &kinds[i];
	return NULL;
}

struct version {
	char name[32], version[32];
};

static int on_key(void *ctx, const char *section, const char *name, const char *value)
{
	struct version *v = ctx;

	if (!strcmp(section, "App") && !strcmp(name, "Name"))
		snprintf(v->name, sizeof(v->name), "%s", value);
	else if (!strcmp(section, "App") && !strcmp(name, "Version"))
		snprintf(v->version, sizeof(v->version), "%s", value);
	return 1;
}

void kind_read_version(const char *binary, char *ret, size_t size)
{
	char path[PATH_MAX], ini[PATH_MAX + 32];
	struct version v = { 0 };

	snprintf(path, sizeof(path), "%s", binary);
	snprintf(ini, sizeof(ini), "%s/application.ini", dirname(path));
	ret[0] = '\0';
	if (!ini_parse(ini, on_key, &v) && v.name[0])
		snprintf(ret, size, "%s/%s", v.name, v.version);
}
