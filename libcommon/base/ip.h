/** IP addresses and networks: parsing, lists of networks, and which addresses are private. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/** An IPv6 address. IPv4 is stored IPv4-mapped (RFC 4291 section 2.5.5.2), so that each address has
 * one form. */
struct ip {
	uint8_t bytes[16];
};

/** Parse `192.0.2.1` or `2001:db8::1`. */
bool ip_parse(const char *text, struct ip *ret_ip);

/** The address of a socket. False: it is neither IPv4 nor IPv6. */
bool ip_of_socket(const struct sockaddr *socket, struct ip *ret_ip);

bool ip_is_v4(const struct ip *ip);

/** The address as text, in the arena; an IPv4-mapped address as IPv4. */
const char *ip_text(struct arena *arena, const struct ip *ip);

/** Whether the address is one of the public Internet: not loopback, private, link-local, shared,
 * multicast, reserved, or an IPv6 address that embeds such an IPv4 address (NAT64, 6to4). */
bool ip_is_public(const struct ip *ip);

/** A set of networks. Never changes. */
struct ip_networks;

/** Parse a list of addresses and networks, separated by commas or spaces: `10.0.0.0/8, ::1`. In the
 * arena. `word` (may be NULL) is a word that the list may contain besides, and *ret_has_word
 * whether it does. ERR_INVALID: an element is not an address or network. */
enum err_code ip_networks_parse(struct arena *arena, const char *text, const char *word,
                                bool *ret_has_word,
                                const struct ip_networks **ret_networks) attr_must_use;

/** Whether a network of the set contains the address. */
bool ip_networks_have(const struct ip_networks *networks, const struct ip *ip);

/** Whether the set is empty. */
bool ip_networks_empty(const struct ip_networks *networks);
