/* What OAuth providers answer: any JSON is either read as tokens that an HTTP field can carry and
 * whose lifetime is bounded, or refused; words of it are valid UTF-8 without control characters and
 * without the secret. */
#include "provider/oauth_answer.h"

#include "base/base.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "json/json.h"
#include "provider/reason.h"

#include <string.h>

#define SECRET "secret"

static void check_field(const char *text)
{
	for (; text && *text; text++)
		require(*text > 0x20 && *text < 0x7F);
}

static void check_tokens(const struct oauth_tokens *tokens)
{
	require(tokens->access_token[0]);
	check_field(tokens->access_token);
	check_field(tokens->refresh_token);
	check_field(tokens->token_type);
	require(tokens->expires_in_s >= OAUTH_EXPIRES_AT_ONCE &&
	        tokens->expires_in_s <= INT64_C(315360000));
}

static void check_reason(struct arena *arena, const char *text)
{
	const char *reason = reason_clean(arena, text, (const char *[]){SECRET, NULL});
	if (!reason)
		return;
	require(strlen(reason) <= 303 && utf8_is_valid(reason, strlen(reason)));
	for (; *reason; reason++)
		require((unsigned char)*reason >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	yyjson_val *root;
	struct oauth_tokens tokens;
	struct oauth_user user;
	check_reason(arena, arena_strndup(arena, (const char *)data, size));
	if (!json_parse_lenient(arena, (const char *)data, size, SIZE_MAX, &root, NULL)) {
		if (oauth_tokens_read(arena, root, &tokens))
			check_tokens(&tokens);
		if (oauth_user_read(arena, root, &user))
			require(user.id[0] && strlen(user.id) <= 320);
		check_reason(arena, oauth_error_words(arena, root, ""));
	}
	check_reason(arena, oauth_error_words(arena, NULL,
	                                      arena_strndup(arena, (const char *)data, size)));
	arena_free(arena);
	return 0;
}
