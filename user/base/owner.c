// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files made under sudo belong to the user who called it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/owner.h"

static bool parse_id(const char *text, unsigned *ret)
{
	char *end;
	unsigned long v;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v >= 0xffffffffu)
		return false;
	*ret = v;
	return true;
}

bool owner_sudo(uid_t *ret_uid, gid_t *ret_gid)
{
	unsigned uid, gid;

	if (geteuid() || !parse_id(getenv("SUDO_UID"), &uid) || !parse_id(getenv("SUDO_GID"), &gid))
		return false;
	*ret_uid = uid;
	*ret_gid = gid;
	return true;
}

void owner_give(int fd)
{
	uid_t uid;
	gid_t gid;

	if (owner_sudo(&uid, &gid) && fchown(fd, uid, gid))
		return;
}
