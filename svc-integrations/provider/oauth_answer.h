/** Reads what OAuth providers answer. They differ from RFC 6749 in details, and what they send is
 * not trusted. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stdint.h>

/** The life of a token that the provider says has ended: it can be used now, and has to be
 * refreshed at the next use. */
#define OAUTH_EXPIRES_AT_ONCE INT64_C(-1)

/** What a provider answered to a code or a refresh token. */
struct oauth_tokens {
	const char *access_token;
	const char *refresh_token; /* NULL: none */
	const char *token_type;    /* `Bearer` */
	const char *scopes;        /* separated by spaces or commas; NULL: as asked for */
	int64_t expires_in_s;      /* from now; 0: unknown, or never; OAUTH_EXPIRES_AT_ONCE */
};

/** Whose a token is. */
struct oauth_user {
	const char *id;
	const char *login, *email; /* NULL: not given */
	bool is_email_verified;    /* the provider says so */
};

/** Read the answer of a token endpoint, in the arena. False: it has no access token that can be
 * sent in an HTTP field, visible ASCII of at most 16 KiB. Other members of another form are taken
 * for absent. The lifetime may be a number or its text, and is at most ten years; the scopes may be
 * an array. */
bool oauth_tokens_read(struct arena *arena, yyjson_val *root, struct oauth_tokens *ret_tokens);

/** Whether `error` says nothing about the code or the token that was sent: the client is not
 * configured as the provider expects, or the provider has a fault. */
bool oauth_error_is_of_client(const char *error);

/** The words of an answer that is no token: of `error` and `error_description` (RFC 6749), of an
 * object `error` or a list `errors`, of `message`, or the text of a page without its tags. `root`
 * NULL: the answer is not JSON. In the arena, not yet cleaned (reason.h). NULL: it has none. */
const char *oauth_error_words(struct arena *arena, yyjson_val *root, const char *body);

/** Read whose a token is: from the object itself, or the only one in GraphQL's `{"data": {"viewer":
 * ...}}`. Borrows from the document. False: it has no id. Texts over 320 bytes are ignored. */
bool oauth_user_read(struct arena *arena, yyjson_val *root, struct oauth_user *ret_user);

/** Read the code host's list of a user's addresses, `[{"email", "verified", "primary"}]`: whether
 * the user's email is verified. In place of one that is not given or not verified the user gets the
 * primary address, if that is. Borrows from the document. */
void oauth_emails_read(yyjson_val *list, struct oauth_user *user);
