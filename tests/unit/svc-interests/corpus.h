/** Papers on two topics that share no word, as JSON that paper/paper.h reads. */
#pragma once

#include "base/arena.h"

#define TOPIC_WORDS 12
#define PAPER_WORDS 8

/** Append word `i` of a topic ('a' or 'b'). */
static inline void add_word(struct buf *text, char topic, unsigned i)
{
	static const char letters[] = "bcdfghklmnpr";
	buf_printf(text, "%cq%cz%c ", topic, letters[i % TOPIC_WORDS],
	           letters[i * 7 % TOPIC_WORDS]);
}

/** Append `count` papers on a topic, with ids <topic><number> from `first`. `members` is appended
 * to each paper. */
static inline void add_papers(struct buf *json, char topic, unsigned first, unsigned count,
                              const char *members)
{
	for (unsigned i = first; i < first + count; i++) {
		buf_puts(json, json->length > 1 ? ", " : "");
		buf_printf(json, "{\"arxiv_id\": \"%c%u\", \"title\": \"", topic, i);
		add_word(json, topic, i);
		buf_puts(json, "\", \"abstract\": \"");
		for (unsigned word = 0; word < PAPER_WORDS; word++)
			add_word(json, topic, i * 5 + word * (1 + i % 3));
		buf_printf(json, "\"%s}", members);
	}
}

/** An array of papers on one topic. */
static inline const char *papers_of(struct arena *arena, char topic, unsigned first, unsigned count,
                                    const char *members)
{
	struct buf json = {.arena = arena};
	buf_puts(&json, "[");
	add_papers(&json, topic, first, count, members);
	buf_puts(&json, "]");
	return json.data;
}

/** An array of papers on both topics. */
static inline const char *papers_of_both(struct arena *arena, unsigned first, unsigned count,
                                         const char *members)
{
	struct buf json = {.arena = arena};
	buf_puts(&json, "[");
	add_papers(&json, 'a', first, count, members);
	add_papers(&json, 'b', first, count, members);
	buf_puts(&json, "]");
	return json.data;
}

/** A text with all words of a topic. */
static inline const char *text_on(struct arena *arena, char topic)
{
	struct buf text = {.arena = arena};
	for (unsigned i = 0; i < TOPIC_WORDS; i++)
		add_word(&text, topic, i);
	return text.data;
}
