#include "engine/text/highlight.h"

#include "engine/text/fold.h"
#include "engine/text/mem.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"

/* What another occurrence of a term adds to the score of a fragment; the first one adds 1. */
#define REPEATED_TERM_SCORE 0.1f

/* A word of the text that matches a term of the query. */
struct match {
	size_t start; /* bytes */
	size_t end;
	uint32_t term; /* index in the query */
};

struct finder {
	const struct parsed_query *query;
	struct match *matches; /* in order, without overlaps */
	size_t count;
	size_t capacity;
};

/* A part of the text, in bytes. */
struct span {
	size_t start;
	size_t end;
};

static uint32_t find_term(const struct parsed_query *query, const struct token *token)
{
	for (uint32_t i = 0; i < query->term_count; i++)
		if (query->terms[i].length == token->length &&
		    memcmp(query->terms[i].text, token->text, token->length) == 0)
			return i;
	return QUERY_NO_TERM;
}

/* Token callback: add a match. A match that contains others replaces them: "GPT-4", not "GPT". */
static void add_match(const struct token *token, void *ctx)
{
	struct finder *finder = ctx;
	uint32_t term = find_term(finder->query, token);
	if (term == QUERY_NO_TERM)
		return;
	while (finder->count > 0 && finder->matches[finder->count - 1].start >= token->start &&
	       finder->matches[finder->count - 1].end <= token->end)
		finder->count--;
	if (finder->count > 0 && token->start < finder->matches[finder->count - 1].end)
		return;
	if (finder->count == finder->capacity) {
		finder->capacity = mem_capacity(finder->capacity, 64);
		finder->matches =
			mem_resize(finder->matches, finder->capacity, sizeof(*finder->matches));
	}
	finder->matches[finder->count++] = (struct match){token->start, token->end, term};
}

/* The offset `count` characters after `at`, at most `length`. */
static size_t skip_characters(const char *text, size_t length, size_t at, size_t count)
{
	uint32_t code;
	for (; count > 0 && at < length; count--)
		at += fold_decode(text + at, length - at, &code);
	return at;
}

/* The end of the longest fragment that begins at `at`. */
static size_t window_end(const char *text, size_t length, size_t at)
{
	return skip_characters(text, length, at, HIGHLIGHT_CHARACTERS);
}

/* Score the matches from number `first` on that end before `end`. */
static float score_matches(const struct finder *finder, size_t first, size_t end)
{
	uint64_t seen = 0;
	float sum = 0;
	for (size_t i = first; i < finder->count && finder->matches[i].end <= end; i++) {
		uint64_t bit = UINT64_C(1) << (finder->matches[i].term % 64);
		sum += (seen & bit) != 0 ? REPEATED_TERM_SCORE : 1.0f;
		seen |= bit;
	}
	return sum;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool ends_sentence(const char *text, size_t length, size_t at)
{
	return (text[at] == '.' || text[at] == '!' || text[at] == '?') &&
	       (at + 1 >= length || is_space(text[at + 1]));
}

/* The start of the fragment whose first match is at `start`: the start of the sentence if it is at
 * most `lead` characters before the match, else the first full word within `lead` characters. */
static size_t fragment_start(const char *text, size_t length, size_t start, size_t lead)
{
	size_t word = start;
	size_t at = start;
	for (; lead > 0 && at > 0; lead--) {
		do
			at--;
		while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80);
		if (ends_sentence(text, length, at))
			return word;
		if (is_space(text[at]))
			word = at + 1;
	}
	return at == 0 ? 0 : word;
}

static size_t count_characters(const char *text, size_t start, size_t end)
{
	size_t count = 0;
	uint32_t code;
	for (; start < end; count++)
		start += fold_decode(text + start, end - start, &code);
	return count;
}

/* The fragment whose first match is number `first`. Room that the matches leave is divided between
 * the text before and after them. The end moves back to a space after the last match, if any. */
static struct span fragment_span(const struct finder *finder, const char *text, size_t length,
                                 size_t first)
{
	struct span span = {.start = finder->matches[first].start};
	size_t last_end = finder->matches[first].end;
	size_t limit = window_end(text, length, span.start);
	for (size_t i = first; i < finder->count && finder->matches[i].end <= limit; i++)
		last_end = finder->matches[i].end;
	size_t used = count_characters(text, span.start, last_end);
	if (used < HIGHLIGHT_CHARACTERS)
		span.start =
			fragment_start(text, length, span.start, (HIGHLIGHT_CHARACTERS - used) / 2);
	span.end = window_end(text, length, span.start);
	if (span.end == length)
		return span;
	while (span.end > last_end && !is_space(text[span.end]))
		span.end--;
	span.end = MAX_OF(span.end, MIN_OF(last_end, window_end(text, length, span.start)));
	return span;
}

static void add_escaped(struct buf *buf, const char *text, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++) {
		switch (text[i]) {
		case '&':
			buf_puts(buf, "&amp;");
			break;
		case '<':
			buf_puts(buf, "&lt;");
			break;
		case '>':
			buf_puts(buf, "&gt;");
			break;
		default:
			buf_add(buf, text + i, 1);
		}
	}
}

static char *write_fragment(struct arena *arena, const struct finder *finder, const char *text,
                            size_t length, struct span span)
{
	struct buf buf = {.arena = arena};
	size_t at = span.start;
	if (span.start > 0)
		buf_puts(&buf, ELLIPSIS);
	for (size_t i = 0; i < finder->count; i++) {
		const struct match *match = &finder->matches[i];
		if (match->start < span.start || match->end > span.end)
			continue;
		add_escaped(&buf, text, at, match->start);
		buf_puts(&buf, HIGHLIGHT_BEGIN);
		add_escaped(&buf, text, match->start, match->end);
		buf_puts(&buf, HIGHLIGHT_END);
		at = match->end;
	}
	add_escaped(&buf, text, at, span.end);
	if (span.end < length)
		buf_puts(&buf, ELLIPSIS);
	return buf.data;
}

char *highlight_fragment(struct arena *arena, struct tokenizer *tokenizer,
                         const struct parsed_query *query, const char *text, size_t length)
{
	struct finder finder = {.query = query};
	float best_score = 0;
	size_t best = 0;
	char *fragment = NULL;
	if (query->is_stop_words)
		tokenizer_run_stop_words(tokenizer, text, length, add_match, &finder);
	else
		tokenizer_run(tokenizer, text, length, add_match, &finder);
	for (size_t i = 0; i < finder.count; i++) {
		float score = score_matches(&finder, i,
		                            window_end(text, length, finder.matches[i].start));
		if (score > best_score) {
			best_score = score;
			best = i;
		}
	}
	if (finder.count > 0)
		fragment = write_fragment(arena, &finder, text, length,
		                          fragment_span(&finder, text, length, best));
	free(finder.matches);
	return fragment;
}

void highlight_whole(struct buf *out, const char *text, size_t length)
{
	buf_puts(out, HIGHLIGHT_BEGIN);
	add_escaped(out, text, 0, length);
	buf_puts(out, HIGHLIGHT_END);
}
