#include "interest/exclusion.h"

#include "base/base.h"
#include "interest/cue.h"

#include <ctype.h>
#include <string.h>

enum {
	ITEMS_MAX = 64,
	LIST_WORDS = 3, /* an element of a list of things has at most this many words */
	ITEM_BYTES = 80,
};

/* Headings of lists of what is refused. */
static const char *const HEADINGS[] = {
	"out of scope", "non-goals",         "non goals",      "nongoals",
	"not in scope", "exclusions",        "excluded",       "exclude",
	"anti-goals",   "not interested in", "we do not want", "what we do not want",
	"not wanted",   "not covered",       "off topic",      "off-topic",
};

/* Beginnings of a clause that says again what is wanted. */
static const char *const NEW_CLAUSE[] = {
	"but ",   "we ",     "i ",        "only ", "just ",   "focus",  "instead", "rather",
	"please", "prefer",  "the focus", "our ",  "give ",   "show ",  "my ",     "though",
	"unless", "because", "since ",    "so ",   "however", "which ", "and we ", "while ",
};

/* Words that end an item: what follows them says where or why. */
static const char *const ITEM_ENDS[] = {
	"bitte",    "por favor", "per favore", "please",   "at all", "here",    "either",
	"because",  "since",     "unless",     "if",       "thanks", "for now", "that",
	"which",    "yet",       "as they",    "as it",    "though", "who",     "this time",
	"for this", "in this",   "in the",     "from the", "are",    "is",
};

/* Words that name nothing. */
static const char GENERIC[] =
	" a an the any anything all more papers paper work works research results result content "
	"stuff things thing topics topic articles article related about on of kind kinds type "
	"types sort other such purely pure just only please to do be is are was it they them these "
	"those this that we us our my i me and or nor not no with for in methods approaches "
	"studies study kind application applications task tasks domain domains setting settings "
	"another further also additional everything side part parts explicitly currently does did "
	"will would should can could may s t use using based ";

static bool has_or(struct span span)
{
	const char *after;
	for (const char *at = span.start; at < span.end; at++)
		if (words_at(at, span, "or", &after) || words_at(at, span, "nor", &after) ||
		    words_at(at, span, "and", &after))
			return true;
	return false;
}

/* The part of a clause up to a comma, a parenthesis, a colon or a dash. */
static struct span part_until_comma(const char *text, const char *end)
{
	const char *comma = text;
	while (comma < end && !strchr(",():", *comma) &&
	       !(comma[0] == ' ' && comma[1] == '-' && comma[2] == ' '))
		comma++;
	return (struct span){text, comma};
}

/* Whether a new clause begins behind the comma that ends before `text`. The next comma is asked for
 * itself: a text of commas alone is read once. */
static bool begins_new_clause(const char *text, const char *end)
{
	while (text < end && *text != ',' && !is_word_char(*text))
		text++;
	for (size_t i = 0; i < ARRAY_LEN(NEW_CLAUSE); i++)
		if (words_begin(text, end, NEW_CLAUSE[i]))
			return true;
	return false;
}

static bool begins_contrast(const char *text, const char *end)
{
	static const char *const words[] = {" but ", " however ", " instead ", " unless ",
	                                    " \xe2\x80\x94 "};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words_begin(text, end, words[i]))
			return true;
	return false;
}

/* A sentence that is read from its start to its end. */
struct sentence {
	struct span all;
	const char *contrast; /* NULL: not looked for yet */
};

/* Where a clause with "but" or "only" begins at `text` or behind it, else the sentence's end. The
 * texts of several calls follow each other, so each letter is looked at once for all cues. */
static const char *next_contrast(struct sentence *sentence, const char *text)
{
	if (sentence->contrast && text <= sentence->contrast)
		return sentence->contrast;
	while (text < sentence->all.end && !begins_contrast(text, sentence->all.end))
		text++;
	sentence->contrast = text;
	return text;
}

/* Whether a list goes on behind the part. */
static bool goes_on(struct span part, const char *end)
{
	return part.end < end && *part.end == ',' && !begins_new_clause(part.end + 1, end);
}

/* The end of what a cue refuses that goes on to a new clause. */
static const char *clause_end(const char *text, const char *end)
{
	struct span part = part_until_comma(text, end);
	while (goes_on(part, end))
		part.end = part_until_comma(part.end + 1, end).end;
	return part.end;
}

/* The end of what a cue refuses that goes on to the next comma, or over a list: while its elements
 * are short, and one of them has the "or" that closes it. Of a longer one than is kept, only the
 * first element is refused: else each cue of a text of cues would read all that follows it. */
static const char *list_end(const char *text, const char *end)
{
	struct span part = part_until_comma(text, end);
	const char *closed = part.end;
	for (size_t count = 1; count < ITEMS_MAX && goes_on(part, end); count++) {
		part = part_until_comma(part.end + 1, end);
		if (has_or(part) && words_count(part) <= 2 * LIST_WORDS)
			closed = part.end;
		if (has_or(part) || words_count(part) > LIST_WORDS)
			break;
	}
	return closed;
}

/* The end of what the cue refuses; it begins at `text`. */
static const char *reach(const struct cue *cue, const char *text, struct sentence *sentence)
{
	const char *end = next_contrast(sentence, text);
	bool is_near = cue->kind == CUE_CLAUSE || cue->kind == CUE_SHORT;
	return is_near ? list_end(text, end) : clause_end(text, end);
}

/* Behind the last word before `end` that opens a clause. */
static const char *clause_start(const char *start, const char *end)
{
	static const char *const openings[] = {" but ", " while ", " although ", " though ",
	                                       " whereas "};
	for (const char *at = start; at < end; at++)
		for (size_t i = 0; i < ARRAY_LEN(openings); i++)
			if (words_begin(at, end, openings[i]))
				start = at + strlen(openings[i]);
	return start;
}

/* The part before `end`, from a comma, a parenthesis or a colon on. */
static struct span part_before(const char *end, const char *start)
{
	struct span part = {end, end};
	while (part.start > start && !strchr(",(:", part.start[-1]))
		part.start--;
	return part;
}

/* The beginning of the subject whose verb is before `cue`: its clause, with the list that it
 * closes. */
static const char *subject_start(const char *start, const char *cue)
{
	const char *from = cue;
	bool is_list = false;
	start = clause_start(start, cue);
	for (const char *at = cue; at > start; at = from - 1) {
		struct span part = part_before(at, start);
		if (at != cue && words_count(part) > LIST_WORDS)
			break;
		from = part.start;
		is_list = is_list || has_or(part);
		if (!is_list || from == start || from[-1] != ',')
			break;
	}
	return from;
}

/* What was found so far. */
struct finder {
	struct arena *arena;
	struct buf kept;
	const char **items;
	size_t count;
};

static bool is_generic(const char *word, size_t length)
{
	char framed[ITEM_BYTES];
	if (length + 3 > sizeof(framed))
		return false;
	framed[0] = ' ';
	for (size_t i = 0; i < length; i++)
		framed[i + 1] = (char)tolower((unsigned char)word[i]);
	memcpy(framed + length + 1, " ", 2);
	return strstr(GENERIC, framed) != NULL;
}

/* Add an item, without words that name nothing. */
static void add_item(struct finder *finder, struct span span)
{
	struct buf out = {.arena = finder->arena};
	for (const char *at = span.start; at < span.end;) {
		if (words_one_at(at, span.end, ITEM_ENDS, ARRAY_LEN(ITEM_ENDS)) && out.length > 0)
			break;
		const char *end = at;
		while (end < span.end && (is_word_char(*end) || (end > at && *end == '-')))
			end++;
		if (end > at && !is_generic(at, (size_t)(end - at)) && out.length < ITEM_BYTES) {
			buf_puts(&out, out.length ? " " : "");
			buf_add(&out, at, (size_t)(end - at));
		}
		at = end > at ? end : at + 1;
	}
	if (out.length > 0 && finder->count < ITEMS_MAX)
		finder->items[finder->count++] = out.data;
}

/* Add the elements of a list: between commas, "and" and "or". */
static void add_items(struct finder *finder, struct span span)
{
	static const char *const conjunctions[] = {"or", "and", "nor", "oder", "und", "ou"};
	const char *start = span.start;
	for (const char *at = span.start; at < span.end; at++) {
		bool is_between =
			strchr(",;/()\n", *at) ||
			((at == span.start || !is_word_char(at[-1])) &&
		         words_one_at(at, span.end, conjunctions, ARRAY_LEN(conjunctions)));
		if (!is_between)
			continue;
		add_item(finder, (struct span){start, at});
		while (at < span.end && is_word_char(*at))
			at++;
		start = at;
	}
	add_item(finder, (struct span){start, span.end});
}

/* A cue with what it refuses. */
struct exclusion {
	struct span all;     /* what is taken out of the text */
	struct span refused; /* a list of items */
};

/* The exclusion whose cue is at `at`. False: there is none. It begins at `kept_from` or later. */
static bool exclusion_at(const char *at, const char *kept_from, struct sentence *sentence,
                         struct exclusion *ret_found)
{
	const char *after;
	if (!cue_can_begin(at, sentence->all.start))
		return false;
	const struct cue *cue = cue_at(at, sentence->all, &after);
	if (cue) {
		const char *from = cue->kind == CUE_OWN ? cue_subject(at, kept_from) : at;
		const char *end = reach(cue, after, sentence);
		*ret_found = (struct exclusion){.all = {from, end}, .refused = {after, end}};
		return true;
	}
	if (!cue_after_at(at, sentence->all, &after))
		return false;
	const char *subject = subject_start(kept_from, at);
	*ret_found = (struct exclusion){.all = {subject, after}, .refused = {subject, at}};
	return true;
}

/* Take the exclusions out of a sentence, and append the rest. */
static void read_sentence(struct finder *finder, struct span all)
{
	struct sentence sentence = {.all = all};
	const char *kept_from = all.start;
	for (const char *at = all.start; at < all.end;) {
		struct exclusion found;
		if (!exclusion_at(at, kept_from, &sentence, &found)) {
			at++;
			continue;
		}
		add_items(finder, found.refused);
		buf_add(&finder->kept, kept_from, (size_t)(found.all.start - kept_from));
		kept_from = at = found.all.end;
	}
	buf_add(&finder->kept, kept_from, (size_t)(all.end - kept_from));
}

/* The end of the sentence that begins at `text`: behind its full stop, or before a line break. */
static const char *sentence_end(const char *text)
{
	for (; *text && *text != '\n'; text++) {
		bool is_stop = strchr(".!?;", *text) &&
		               (*text == ';' || text[1] == '\0' || isspace((unsigned char)text[1]));
		if (is_stop)
			return text + 1;
	}
	return text;
}

static const char *line_end(const char *text)
{
	return text + strcspn(text, "\n");
}

/* Whether the line is the heading of a list of what is refused. */
static bool is_heading(const char *line)
{
	const char *end = line_end(line), *after;
	line = words_skip_blank(line, end);
	for (size_t i = 0; i < ARRAY_LEN(HEADINGS); i++)
		if (words_at(line, (struct span){line, end}, HEADINGS[i], &after) &&
		    words_skip_blank(after, end) == end)
			return true;
	return false;
}

/* Take out the list under a heading. Returns its end: an empty line behind an element, or a
 * heading. */
static const char *read_list(struct finder *finder, const char *text)
{
	bool has_element = false;
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = line_end(text);
		bool is_empty = words_skip_blank(text, end) == end;
		if (*text == '#' || (is_empty && has_element))
			return text;
		add_items(finder, (struct span){text, end});
		has_element = has_element || !is_empty;
	}
	return text;
}

struct exclusions exclusions_find(struct arena *arena, const char *text)
{
	struct finder finder = {.arena = arena, .kept = {.arena = arena}};
	finder.items = arena_array(arena, ITEMS_MAX, sizeof(*finder.items));
	buf_puts(&finder.kept, "");
	bool is_line_start = true;
	while (*text) {
		if (is_line_start && is_heading(text) && *line_end(text)) {
			text = read_list(&finder, line_end(text) + 1);
			continue;
		}
		const char *end = sentence_end(text);
		bool has_stop = end > text && end[-1] != '\n' && strchr(".!?;", end[-1]);
		read_sentence(&finder, (struct span){text, end - has_stop});
		buf_add(&finder.kept, end - has_stop, has_stop);
		is_line_start = *end == '\n';
		if (is_line_start)
			buf_puts(&finder.kept, "\n");
		text = is_line_start ? end + 1 : end;
	}
	return (struct exclusions){finder.kept.data, finder.items, finder.count};
}
