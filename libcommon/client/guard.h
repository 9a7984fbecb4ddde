/** Keeps calls to addresses that come from outside (a user's URL, a redirect) away from the
 * private network.
 *
 * The address is checked, not the name: libcurl asks before it opens a socket, with the address
 * that it is about to connect to, so a name that resolves differently the second time (DNS
 * rebinding) gains nothing. Before a request is sent it asks again, which covers kept connections.
 * Permitted are public addresses (base/ip.h) and those that FETCH_ALLOW lists.
 */
#pragma once

#include "base/ip.h"
#include "client/transfer.h"

/** Set the networks that are permitted although they are not public. Once, before threads start.
 * Borrows. */
void fetch_guard_allow(const struct ip_networks *networks);

/** Whether FETCH_ALLOW lists the address; and whether it lists any. */
bool fetch_guard_lists(const struct ip *ip);
bool fetch_guard_lists_any(void);

/** Make libcurl ask for the addresses of this transfer, as `guard` says. */
void fetch_guard_set(struct transfer *transfer, enum fetch_guard guard);
