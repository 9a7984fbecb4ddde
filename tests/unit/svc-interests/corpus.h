/** Papers on two subjects that share no word, as JSON that paper.h reads. */
#pragma once

#include "base/arena.h"

#define SUBJECT_WORDS 12
#define PAPER_WORDS   8

/** Word `i` of a subject ('a' or 'b'). */
static inline void add_word(struct buf *text, char subject, unsigned i)
{
	static const char letters[] = "bcdfghklmnpr";
	buf_printf(text, "%cq%cz%c ", subject, letters[i % SUBJECT_WORDS],
	           letters[i * 7 % SUBJECT_WORDS]);
}

/** `count` papers of a subject, ids <subject><number> from `first`; `members` go into each. */
static inline void add_papers(struct buf *json, char subject, unsigned first, unsigned count,
                              const char *members)
{
	for (unsigned i = first; i < first + count; i++) {
		buf_puts(json, json->length > 1 ? ", " : "");
		buf_printf(json, "{\"arxiv_id\": \"%c%u\", \"title\": \"", subject, i);
		add_word(json, subject, i);
		buf_puts(json, "\", \"abstract\": \"");
		for (unsigned word = 0; word < PAPER_WORDS; word++)
			add_word(json, subject, i * 5 + word * (1 + i % 3));
		buf_printf(json, "\"%s}", members);
	}
}

/** An array of papers of one subject. */
static inline const char *papers_of(struct arena *arena, char subject, unsigned first,
                                    unsigned count, const char *members)
{
	struct buf json = {.arena = arena};
	buf_puts(&json, "[");
	add_papers(&json, subject, first, count, members);
	buf_puts(&json, "]");
	return json.data;
}

/** An array of papers of both. */
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

/** A text on a subject. */
static inline const char *text_on(struct arena *arena, char subject)
{
	struct buf text = {.arena = arena};
	for (unsigned i = 0; i < SUBJECT_WORDS; i++)
		add_word(&text, subject, i);
	return text.data;
}
