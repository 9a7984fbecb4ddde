#include "engine/text/parsed_query.h"

#include "engine/text/intern.h"
#include "engine/text/token.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text of more bytes repeats words, so its stems are cached. */
#define LONG_TEXT_BYTES 2000
#define CACHE_SLOTS     1024

/* State of query_parse(). */
struct parser {
	struct parsed_query *query;
	struct arena *arena;
	struct intern texts;
	const char *source;
	size_t term_capacity;
	size_t sequence_capacity;
};

static struct query_term *add_term(struct parser *parser, const struct token *token)
{
	struct parsed_query *query = parser->query;
	size_t bytes = parser->term_capacity * sizeof(*query->terms);
	if (query->term_count == parser->term_capacity) {
		query->terms = arena_grow(parser->arena, query->terms, bytes, bytes * 2);
		parser->term_capacity *= 2;
	}
	struct query_term *term = &query->terms[query->term_count++];
	term->text = arena_strndup(parser->arena, token->text, token->length);
	term->length = token->length;
	term->word = arena_strndup(parser->arena, parser->source + token->start,
	                           token->end - token->start);
	term->is_extra = true;
	return term;
}

/* Token callback: count the term, and append a main token to the sequence. */
static void add_token(const struct token *token, void *ctx)
{
	struct parser *parser = ctx;
	struct parsed_query *query = parser->query;
	uint32_t number = intern_add(&parser->texts, token->text, token->length);
	struct query_term *term =
		number < query->term_count ? &query->terms[number] : add_term(parser, token);
	term->count += token->is_extra ? QUERY_EXTRA_COUNT : 1.0f;
	if (token->is_extra)
		return;
	term->is_extra = false;
	size_t bytes = parser->sequence_capacity * sizeof(uint32_t);
	if (query->sequence_count == parser->sequence_capacity) {
		query->sequence = arena_grow(parser->arena, query->sequence, bytes, bytes * 2);
		parser->sequence_capacity *= 2;
	}
	query->sequence[query->sequence_count++] = number;
}

static struct parsed_query *parse(struct arena *arena, const char *text, size_t length,
                                  bool keeps_stop_words)
{
	struct parsed_query *query = arena_new_of(arena, struct parsed_query);
	struct parser parser = {.query = query,
	                        .arena = arena,
	                        .source = text,
	                        .term_capacity = 16,
	                        .sequence_capacity = 16};
	struct tokenizer *tokenizer = tokenizer_new(length > LONG_TEXT_BYTES ? CACHE_SLOTS : 0);
	query->terms = arena_array(arena, parser.term_capacity, sizeof(*query->terms));
	query->sequence = arena_array(arena, parser.sequence_capacity, sizeof(uint32_t));
	query->is_stop_words = keeps_stop_words;
	if (keeps_stop_words)
		tokenizer_run_stop_words(tokenizer, text, length, add_token, &parser);
	else
		tokenizer_run(tokenizer, text, length, add_token, &parser);
	tokenizer_free(tokenizer);
	intern_done(&parser.texts);
	return query;
}

struct parsed_query *query_parse(struct arena *arena, const char *text, size_t length)
{
	return parse(arena, text, length, false);
}

struct parsed_query *query_parse_stop_words(struct arena *arena, const char *text, size_t length)
{
	return parse(arena, text, length, true);
}

struct query_term *query_find_term(const struct parsed_query *query, const char *text)
{
	for (size_t i = 0; i < query->term_count; i++)
		if (strcmp(query->terms[i].text, text) == 0)
			return &query->terms[i];
	return NULL;
}

void query_add_name(struct parsed_query *query, const char *text, const char *word, float count,
                    struct arena *arena)
{
	size_t bytes = query->term_count * sizeof(*query->terms);
	struct query_term *terms = arena_array(arena, query->term_count + 1, sizeof(*query->terms));
	if (bytes > 0)
		memcpy(terms, query->terms, bytes);
	terms[query->term_count++] = (struct query_term){
		.text = arena_strdup(arena, text),
		.length = strlen(text),
		.word = arena_strdup(arena, word),
		.count = count,
		.is_name = true,
	};
	query->terms = terms;
}

struct rated_term {
	uint32_t number;
	float weight;
};

static int compare_rated(const void *a, const void *b)
{
	const struct rated_term *left = a;
	const struct rated_term *right = b;
	if (left->weight < right->weight)
		return 1;
	if (left->weight > right->weight)
		return -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

void query_keep_best(struct parsed_query *query, size_t count, struct arena *arena)
{
	struct rated_term *rated = arena_array(arena, query->term_count, sizeof(*rated));
	uint32_t *renumbered = arena_array(arena, query->term_count, sizeof(*renumbered));
	size_t kept = 0;
	if (query->term_count <= count)
		return;
	for (uint32_t i = 0; i < query->term_count; i++) {
		struct query_term *term = &query->terms[i];
		if (term->count > 1.0f)
			term->count = 1.0f + logf(term->count);
		rated[i] = (struct rated_term){i, term->count * term->idf};
		renumbered[i] = QUERY_NO_TERM;
	}
	qsort(rated, query->term_count, sizeof(*rated), compare_rated);
	for (size_t i = 0; i < count; i++)
		renumbered[rated[i].number] = 0;
	for (uint32_t i = 0; i < query->term_count; i++) {
		if (renumbered[i] == QUERY_NO_TERM)
			continue;
		renumbered[i] = (uint32_t)kept;
		query->terms[kept++] = query->terms[i];
	}
	query->term_count = kept;
	for (size_t i = 0; i < query->sequence_count; i++)
		query->sequence[i] = renumbered[query->sequence[i]];
}

static float weight_of(const struct query_term *term)
{
	return term->count * term->idf;
}

float query_coverage(const struct parsed_query *query, uint64_t matched)
{
	float covered = 0;
	float all = 0;
	for (size_t i = 0; i < query->term_count; i++) {
		float weight = query->terms[i].is_extra ? 0 : weight_of(&query->terms[i]);
		all += weight;
		covered += matched >> i & 1 ? weight : 0;
	}
	return all > 0 ? covered / all : 0;
}

static bool is_listed(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

const char *const *query_words(const struct parsed_query *query, uint64_t matched, size_t max,
                               struct arena *arena, size_t *ret_count)
{
	const struct query_term *terms = query->terms;
	const char **words = arena_array(arena, max, sizeof(*words));
	size_t count = 0;
	while (matched != 0 && count < max) {
		size_t best = (size_t)__builtin_ctzll(matched);
		for (uint64_t others = matched; others != 0; others &= others - 1) {
			size_t i = (size_t)__builtin_ctzll(others);
			if (weight_of(&terms[i]) > weight_of(&terms[best]))
				best = i;
		}
		matched &= ~(UINT64_C(1) << best);
		if (!terms[best].is_extra && weight_of(&terms[best]) > 0 &&
		    !is_listed(terms[best].word, words, count))
			words[count++] = terms[best].word;
	}
	*ret_count = count;
	return words;
}
