/** Finds the phrases of a paper that the search matched, as they are written in the paper.
 *
 * Matched words that are adjacent in the title or the abstract form one phrase: the matched words
 * "cache" and "KV" and the title "Semantic KV-Cache Compression" give the phrase `KV-Cache`. A word
 * can also match a part of a compound ("attention" in "FlashAttention"). A word that is in neither
 * title nor abstract gives no phrase.
 */
#pragma once

#include "base/arena.h"
#include "paper/words.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	PHRASES_MAX = 4,
	PHRASE_WORDS_MAX = 4,
	PHRASE_BYTES = 60, /* a longer phrase is cut at a word */
};

struct phrase {
	const char *text;
	bool in_title; /* false: in the abstract */
};

/** Phrases, in the order of the matched words. */
struct phrases {
	struct phrase items[PHRASES_MAX];
	size_t count;
	size_t in_title_count;
};

/** The texts to search for phrases. NULL is an empty text. */
struct phrase_source {
	const char *title, *abstract;
};

/** The phrases of the matched words `terms`, which are ordered by weight, highest first. Stop words
 * are skipped, and each stem occurs in one phrase only. In `arena`. */
struct phrases matched_phrases(struct arena *arena, struct word_splitter *splitter,
                               const char *const *terms, size_t term_count,
                               struct phrase_source source);

/** `text` on one line, with single instead of double quotes, cut at a word to about `max` bytes; ""
 * for NULL. In `arena`. */
char *text_clean(struct arena *arena, const char *text, size_t max);
