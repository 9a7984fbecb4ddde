/* Any bytes as the text of a paper and as a query: tokens lie within the text, and highlighting
 * reads nothing outside it. */
#include "engine/text/token.h"

#include "base/base.h"
#include "engine/text/highlight.h"
#include "fuzz.h"

#include <string.h>

struct check {
	size_t length; /* of the source */
	size_t start;  /* of the last main token */
};

static void check_token(const struct token *token, void *ctx)
{
	struct check *check = ctx;
	require(token->length > 0 && token->length <= TERM_MAX_BYTES);
	require(strlen(token->text) == token->length);
	require(token->start < token->end && token->end <= check->length);
	if (token->is_extra)
		return;
	require(token->start >= check->start);
	check->start = token->start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = arena_alloc(arena, size + 1);
	struct tokenizer *tokenizer = tokenizer_new(size % 3);
	struct check check = {.length = size};
	memcpy(text, data, size);
	struct parsed_query *parsed = query_parse(arena, text, size / 2);
	tokenizer_run(tokenizer, text, size, check_token, &check);
	for (size_t i = 0; i < parsed->sequence_count; i++)
		require(parsed->sequence[i] < parsed->term_count);
	highlight_fragment(arena, tokenizer, parsed, text, size);
	tokenizer_free(tokenizer);
	arena_free(arena);
	return 0;
}
