/** Reads what OAuth providers answer. They differ from RFC 6749 in details, and what they send is
 * not trusted. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stdint.h>

/** What a provider answered to a code or a refresh token. */
struct oauth_tokens {
	const char *access_token;
	const char *refresh_token; /* NULL: none */
	const char *token_type;    /* `Bearer` */
	const char *scopes;        /* separated by spaces or commas; NULL: as asked for */
	int64_t expires_in_s;      /* from now; 0: unknown, or never */
};

/** Whose a token is. */
struct oauth_user {
	const char *id;
	const char *login, *email; /* NULL: not told */
};

/** Read the answer of a token endpoint, in the arena. False: it has no token that can be sent in an
 * HTTP field, visible ASCII of at most 16 KiB. The lifetime may be a number or its text, and is at
 * most ten years. */
bool oauth_tokens_read(struct arena *arena, yyjson_val *root, struct oauth_tokens *ret_tokens);

/** Whether `error` says nothing about the code or the token that was sent: the client is not
 * configured as the provider expects, or the provider has a fault. */
bool oauth_error_is_of_client(const char *error);

/** Read whose a token is: from the object itself, or the only one in GraphQL's `{"data": {"viewer":
 * ...}}`. Borrows from the document. False: it has no id. Texts over 320 bytes are ignored. */
bool oauth_user_read(struct arena *arena, yyjson_val *root, struct oauth_user *ret_user);
