/** Synthetic papers for the tests of the search engine; the same in each run. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/builder.h"

#include <stdint.h>
#include <string.h>

/** A pseudo-random number generator; `state` is the seed. */
struct random_source {
	uint64_t state;
};

/** The next number, 0 to `limit` - 1. */
static inline uint32_t random_below(struct random_source *noise, uint32_t limit)
{
	noise->state = noise->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(noise->state >> 33) % limit;
}

/** Word number `number`: a distinct word that the stemmer does not change. In `arena`. */
static inline const char *sample_word(struct arena *arena, uint32_t number)
{
	static const char letters[] = "bcdfghjkmnpqrtvwxz";
	char word[8] = {'z'};
	size_t length = 1;
	do
		word[length++] = letters[number % 18];
	while ((number /= 18) > 0);
	word[length++] = 'q';
	return arena_strndup(arena, word, length);
}

/** A text of `count` words from a vocabulary of `words`; words with low numbers are more frequent.
 * In `arena`. */
static inline char *sample_text(struct arena *arena, struct random_source *noise, size_t count,
                                uint32_t words)
{
	struct buf buf = {.arena = arena};
	buf_puts(&buf, "");
	for (size_t i = 0; i < count; i++) {
		uint32_t limit = 1 + random_below(noise, words);
		buf_printf(&buf, "%s ", sample_word(arena, random_below(noise, limit)));
	}
	return buf.data ? buf.data : "";
}

/** Paper number `i`: id "p<i>", categories by its number, a text of up to 60 words. In `arena`. */
static inline struct document sample_document(struct arena *arena, struct random_source *noise,
                                              uint32_t i, uint32_t words)
{
	static const char *const names[] = {"cs.CL", "cs.CV", "csx.AA", "cs", "stat.ML"};
	const char **categories = arena_array(arena, 2, sizeof(char *));
	categories[0] = names[i % ARRAY_LEN(names)];
	categories[1] = names[(i / 5) % ARRAY_LEN(names)];
	return (struct document){
		.id = arena_printf(arena, "p%u", i),
		.title = sample_text(arena, noise, random_below(noise, 6), words),
		.abstract = sample_text(arena, noise, random_below(noise, 55), words),
		.categories = categories,
		.category_count = categories[0] != categories[1] ? 2 : 1,
		.published = (int32_t)random_below(noise, 300),
		.has_container = i % 3 == 0,
		.seq = i + 1,
	};
}

static inline void add_document(struct builder *builder, const struct document *document)
{
	builder_add_all(builder, &document, 1);
}

/** A segment of `count` papers. The caller frees it. */
static inline struct segment *sample_segment(uint64_t seed, uint32_t count, uint32_t words)
{
	struct arena *arena = arena_new();
	struct random_source noise = {seed};
	struct builder *builder = builder_new(0);
	for (uint32_t i = 0; i < count; i++) {
		struct document document = sample_document(arena, &noise, i, words);
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	arena_free(arena);
	return segment;
}
