/** Which addresses an endpoint may have. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** For the `check` of a field: an absolute https URL without a user name, at the default port or
 * one from 1024 on, whose host is a name or a public address. http, and private addresses, only
 * where FETCH_ALLOW lists the network. A name that resolves to a private address is accepted here:
 * what it resolves to is checked at each connection (client/guard.h). */
bool endpoint_url_check(const char *text, size_t length, const char **ret_message);

/** Whether an address that endpoint_url_check() accepts is one of Slack's incoming webhooks, or of
 * a compatible server in a network of FETCH_ALLOW. */
bool endpoint_url_is_slack(const char *url);

/** The address as it is shown, which is a secret: `https://hooks.slack.com/services/...XXXX`. In
 * the arena. */
const char *endpoint_url_masked(struct arena *arena, const char *url);
