/** The words that brought a paper, named as a reader of it would.
 *
 * Words that stand side by side in title or abstract are one name: of the matched words "cache" and
 * "KV" and the title "Semantic KV-Cache Compression" comes the name `KV-Cache`. Only what stands in
 * title or abstract is named, also as a part of a compound ("attention" in "FlashAttention").
 */
#pragma once

#include "base/arena.h"
#include "preference/words.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	NAMES_MAX = 4,
	NAME_WORDS_MAX = 4, /* of one name */
	NAME_BYTES = 60,    /* of one name; more is cut at a word */
};

struct name {
	const char *text;
	bool in_title; /* else in the abstract */
};

/** Names, that of the most telling word first. */
struct names {
	struct name items[NAMES_MAX];
	size_t count;
	size_t in_title_count;
};

/** Where words are looked for. NULL is empty. */
struct named_paper {
	const char *title, *abstract;
};

/** Name the matched words `terms`, the most telling first; stop words are passed over, and no stem
 * is named twice. In `arena`. */
struct names names_of(struct arena *arena, struct word_splitter *splitter, const char *const *terms,
                      size_t term_count, struct named_paper paper);

/** `text` on one line without double quotes, cut at a word to about `max` bytes; "" for NULL. In
 * `arena`. */
char *name_clean(struct arena *arena, const char *text, size_t max);
