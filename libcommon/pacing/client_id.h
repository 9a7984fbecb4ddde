/** Which client an address is of, for limits on requests without a key. */
#pragma once

#include "crypto/uuid.h"

/** The client, in the form of an account's id: its IPv4 address, mapped to IPv6; its IPv6 network
 * /64, in which a client chooses its address itself; or one for all that have no address (a unix
 * socket). */
struct uuid client_id(const char *address);
