#include "engine/text/wanted.h"

#include "engine/text/intern.h"
#include "engine/text/token.h"

#include <math.h>
#include <stdlib.h>

struct reader {
	struct wanted *wanted;
	struct arena *arena;
	struct intern texts;
	const char *source;
	size_t term_capacity;
	size_t sequence_capacity;
};

static struct wanted_term *add_term(struct reader *reader, const struct token *token)
{
	struct wanted *wanted = reader->wanted;
	struct wanted_term *term;
	size_t size = sizeof(*wanted->terms);

	if (wanted->term_count == reader->term_capacity) {
		wanted->terms =
			arena_grow(reader->arena, wanted->terms, reader->term_capacity * size,
		                   reader->term_capacity * size * 2);
		reader->term_capacity *= 2;
	}
	term = &wanted->terms[wanted->term_count++];
	term->text = arena_strndup(reader->arena, token->text, token->length);
	term->length = token->length;
	term->word = arena_strndup(reader->arena, reader->source + token->start,
	                           token->end - token->start);
	term->is_extra = true;
	return term;
}

static void add_to_sequence(struct reader *reader, uint32_t number)
{
	struct wanted *wanted = reader->wanted;
	size_t size = sizeof(uint32_t);

	if (wanted->sequence_count == reader->sequence_capacity) {
		wanted->sequence = arena_grow(reader->arena, wanted->sequence,
		                              reader->sequence_capacity * size,
		                              reader->sequence_capacity * size * 2);
		reader->sequence_capacity *= 2;
	}
	wanted->sequence[wanted->sequence_count++] = number;
}

static void read_token(const struct token *token, void *ctx)
{
	struct reader *reader = ctx;
	uint32_t number = intern_add(&reader->texts, token->text, token->length);
	struct wanted_term *term = number < reader->wanted->term_count
	                                   ? &reader->wanted->terms[number]
	                                   : add_term(reader, token);

	term->count += token->is_extra ? WANTED_EXTRA_COUNT : 1.0f;
	if (token->is_extra)
		return;
	term->is_extra = false;
	add_to_sequence(reader, number);
}

struct wanted *wanted_parse(struct arena *arena, const char *text, size_t length)
{
	struct wanted *wanted = arena_new_of(arena, struct wanted);
	struct reader reader = {.wanted = wanted,
	                        .arena = arena,
	                        .source = text,
	                        .term_capacity = 16,
	                        .sequence_capacity = 16};
	struct tokenizer *tokenizer = tokenizer_new(length > 2000 ? 1024 : 0);

	wanted->terms = arena_array(arena, reader.term_capacity, sizeof(*wanted->terms));
	wanted->sequence = arena_array(arena, reader.sequence_capacity, sizeof(uint32_t));
	tokenizer_run(tokenizer, text, length, read_token, &reader);
	tokenizer_free(tokenizer);
	intern_done(&reader.texts);
	return wanted;
}

struct rated {
	uint32_t number;
	float value;
};

static int compare_rated(const void *a, const void *b)
{
	const struct rated *left = a;
	const struct rated *right = b;

	if (left->value < right->value)
		return 1;
	if (left->value > right->value)
		return -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

void wanted_keep_best(struct wanted *wanted, size_t count, struct arena *arena)
{
	struct rated *rated = arena_array(arena, wanted->term_count, sizeof(*rated));
	uint32_t *renumbered = arena_array(arena, wanted->term_count, sizeof(*renumbered));
	size_t kept = 0;

	if (wanted->term_count <= count)
		return;
	for (uint32_t i = 0; i < wanted->term_count; i++) {
		struct wanted_term *term = &wanted->terms[i];

		if (term->count > 1.0f)
			term->count = 1.0f + logf(term->count);
		rated[i] = (struct rated){i, term->count * term->idf};
		renumbered[i] = WANTED_NONE;
	}
	qsort(rated, wanted->term_count, sizeof(*rated), compare_rated);
	for (size_t i = 0; i < count; i++)
		renumbered[rated[i].number] = 0;
	for (uint32_t i = 0; i < wanted->term_count; i++) {
		if (renumbered[i] == WANTED_NONE)
			continue;
		renumbered[i] = (uint32_t)kept;
		wanted->terms[kept++] = wanted->terms[i];
	}
	wanted->term_count = kept;
	for (size_t i = 0; i < wanted->sequence_count; i++)
		wanted->sequence[i] = renumbered[wanted->sequence[i]];
}
