/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files made under sudo belong to the user who called it. */
#ifndef FRAMESCOPE_BASE_OWNER_H
#define FRAMESCOPE_BASE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who called sudo (SUDO_UID and SUDO_GID, only believed as root). false: nobody did. */
bool owner_sudo(uid_t *ret_uid, gid_t *ret_gid);

/* Gives the open file to that user, if there is one; a failure leaves it root's. */
void owner_give(int fd);

#endif
