/** gateway/retention/: how long is kept what has ended: keys that were revoked or have expired,
 * with their counts and sessions, and invitations. Until then a key is shown in what it did.
 * Internal to the gateway. */
#pragma once

#include "base/config.h"
#include "service/retained_table.h"

/** KEY_DAYS. */
extern const struct setting KEY_RETENTION_SETTINGS[];

/** The tables of the schema `account`. */
extern const struct retained_table ACCOUNT_TABLES[];
