#include "interest/exclusion.h"

#include "base/base.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum {
	ITEMS_MAX = 64,
	LIST_WORDS = 3, /* an element of a list of things has at most this many words */
	ITEM_BYTES = 80,
};

/* A part of the text. */
struct span {
	const char *start, *end;
};

/* Where a cue may stand, and how far what it refuses reaches. */
enum cue_kind {
	CUE_CLAUSE, /* where a clause begins; to the next comma, or over a list that "or" closes */
	CUE_SHORT,  /* anywhere; as far */
	CUE_LONG,   /* anywhere; to the end of the sentence or a new clause */
	CUE_ORDER,  /* as CUE_LONG, where a clause begins or after "please", "we" and such */
	CUE_OWN,    /* as CUE_ORDER, with "do" or "will" between; not "not want to wait" */
};

struct cue {
	const char *words;
	enum cue_kind kind;
};

/* Cues that stand before what they refuse. Of several that match, the first. An apostrophe stands
 * for the typographic one, too. */
static const struct cue CUES_BEFORE[] = {
	{"not interested in", CUE_LONG},
	{"no interest in", CUE_LONG},
	{"uninterested in", CUE_LONG},
	{"not looking for", CUE_LONG},
	{"not concerned with", CUE_LONG},
	{"not care about", CUE_LONG},
	{"n't care about", CUE_LONG},
	{"not care for", CUE_LONG},
	{"not want", CUE_OWN},
	{"n't want", CUE_OWN},
	{"not need", CUE_OWN},
	{"n't need", CUE_OWN},
	{"not include", CUE_OWN},
	{"n't include", CUE_OWN},
	{"not recommend", CUE_OWN},
	{"n't recommend", CUE_OWN},
	{"not show", CUE_OWN},
	{"n't show", CUE_OWN},
	{"not send", CUE_OWN},
	{"n't send", CUE_OWN},
	{"not cover", CUE_OWN},
	{"n't cover", CUE_OWN},
	{"not consider", CUE_OWN},
	{"stay away from", CUE_LONG},
	{"steer clear of", CUE_LONG},
	{"nothing on", CUE_LONG},
	{"nothing about", CUE_LONG},
	{"no papers on", CUE_LONG},
	{"no papers about", CUE_LONG},
	{"no work on", CUE_LONG},
	{"everything but", CUE_LONG},
	{"anything but", CUE_LONG},
	{"excluding", CUE_LONG},
	{"with the exception of", CUE_LONG},
	{"except for", CUE_LONG},
	{"except", CUE_LONG},
	{"apart from", CUE_LONG},
	{"other than", CUE_LONG},
	{"out of scope:", CUE_LONG},
	{"not in scope:", CUE_LONG},
	{"off topic:", CUE_LONG},
	{"off-topic:", CUE_LONG},
	{"non-goals:", CUE_LONG},
	{"non goals:", CUE_LONG},
	{"excluded:", CUE_LONG},
	{"exclude:", CUE_LONG},
	{"avoid", CUE_ORDER},
	{"exclude", CUE_ORDER},
	{"ignore", CUE_ORDER},
	{"skip", CUE_ORDER},
	{"leave out", CUE_ORDER},
	{"leave aside", CUE_ORDER},
	{"omit", CUE_ORDER},
	{"but not", CUE_SHORT},
	{"and not", CUE_SHORT},
	{"but no", CUE_SHORT},
	{"and no", CUE_SHORT},
	{"please no", CUE_SHORT},
	{"nor", CUE_SHORT},
	{"without", CUE_SHORT},
	{"neither", CUE_CLAUSE},
	{"not", CUE_CLAUSE},
	{"no", CUE_CLAUSE},
	{"minus", CUE_CLAUSE},
	/* Other languages; only words that English does not have. */
	{"nicht interessiert an", CUE_LONG},
	{"kein interesse an", CUE_LONG},
	{"aber nicht", CUE_SHORT},
	{"kein", CUE_SHORT},
	{"keine", CUE_SHORT},
	{"keinen", CUE_SHORT},
	{"ohne", CUE_SHORT},
	{"pas de", CUE_SHORT},
	{"no nos interesa", CUE_LONG},
	{"no nos interesan", CUE_LONG},
	{"non ci interessa", CUE_LONG},
	{"non ci interessano", CUE_LONG},
	{"senza", CUE_SHORT},
};

/* Words that make "no" or "not" no cue when they follow it. */
static const char *const NO_CUE[] = {
	"only",   "just", "longer", "matter",      "need",  "doubt",  "one",
	"single", "yet",  "merely", "necessarily", "more",  "less",   "simply",
	"even",   "free", "sure",   "all",         "every", "always",
};

/* Cues that stand after what they refuse. */
static const char *const CUES_AFTER[] = {
	"out of scope",       "out-of-scope",       "off topic",         "off-topic",
	"not in scope",       "not of interest",    "of no interest",    "not relevant",
	"irrelevant",         "not interesting",    "uninteresting",     "not needed",
	"not wanted",         "unwanted",           "not welcome",       "not a goal",
	"not goals",          "a non-goal",         "non-goals",         "not considered",
	"not covered",        "not included",       "not interest us",   "not interest me",
	"n't interest us",    "n't interest me",    "need not apply",    "can be skipped",
	"should be skipped",  "can be ignored",     "should be ignored", "can be left out",
	"should be left out", "should be excluded", "should be avoided", "is excluded",
	"are excluded",       "is not our topic",   "are not our topic", "not our focus",
};

/* Headings of lists of what is refused. */
static const char *const HEADINGS[] = {
	"out of scope", "non-goals",         "non goals",      "nongoals",
	"not in scope", "exclusions",        "excluded",       "exclude",
	"anti-goals",   "not interested in", "we do not want", "what we do not want",
	"not wanted",   "not covered",       "off topic",      "off-topic",
};

/* Words before a cue of CUE_ORDER. */
static const char *const ORDERING[] = {"please",  "we",   "i",   "should", "must", "want to",
                                       "like to", "also", "and", "but",    "let's"};

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

static bool begins_with(const char *text, const char *end, const char *prefix)
{
	for (; *prefix; prefix++) {
		if (text >= end)
			return false;
		if (*prefix == '\'' && end - text >= 3 && memcmp(text, "\xe2\x80\x99", 3) == 0) {
			text += 3;
			continue;
		}
		if (tolower((unsigned char)*text) != *prefix)
			return false;
		text++;
	}
	return true;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether the words stand at `text`, with no letter before or after them. `after` is their end. */
static bool is_at(const char *text, struct span all, const char *words, const char **ret_after)
{
	bool is_suffix = *words == 'n' && words[1] == '\'';
	if (!begins_with(text, all.end, words))
		return false;
	if (text > all.start && is_word_char(text[-1]) && is_word_char(*words) && !is_suffix)
		return false;
	const char *after = text;
	for (const char *at = words; *at; at++)
		after += *at == '\'' && (unsigned char)*after >= 0x80 ? 3 : 1;
	if (after < all.end && is_word_char(*after) && is_word_char(after[-1]))
		return false;
	*ret_after = after;
	return true;
}

static const char *skip_blank(const char *text, const char *end)
{
	while (text < end && !is_word_char(*text))
		text++;
	return text;
}

/* The last word character before `text` is followed by punctuation: a clause begins at `text`. */
static bool begins_clause(const char *text, const char *start)
{
	while (text > start && isblank((unsigned char)text[-1]))
		text--;
	return text == start || !(is_word_char(text[-1]) || strchr("'\"`%", text[-1]));
}

/* Where one of the words begins that ends before `text`, or NULL. */
static const char *before_one_of(const char *text, const char *start, const char *const *words,
                                 size_t count)
{
	while (text > start && isblank((unsigned char)text[-1]))
		text--;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		const char *at = text - length, *after;
		if ((size_t)(text - start) >= length &&
		    is_at(at, (struct span){start, text}, words[i], &after))
			return at;
	}
	return NULL;
}

static bool is_one_of(const char *text, const char *end, const char *const *words, size_t count)
{
	const char *after;
	for (size_t i = 0; i < count; i++)
		if (is_at(text, (struct span){text, end}, words[i], &after))
			return true;
	return false;
}

static const char *const TO = "to";

/* The beginning of "do", "will" or "would" before `text`, or `text`. */
static const char *before_auxiliary(const char *text, const char *start)
{
	static const char *const words[] = {"do", "will", "would"};
	const char *at = before_one_of(text, start, words, ARRAY_LEN(words));
	return at ? at : text;
}

/* The beginning of "we do" or "I will" before `text`, or `text`. */
static const char *before_subject(const char *text, const char *start)
{
	static const char *const words[] = {"we", "i"};
	text = before_auxiliary(text, start);
	const char *at = before_one_of(text, start, words, ARRAY_LEN(words));
	return at ? at : text;
}

static bool stands_right(const struct cue *cue, const char *text, const char *after,
                         struct span sentence)
{
	if (cue->kind == CUE_SHORT)
		return !is_one_of(skip_blank(after, sentence.end), sentence.end, NO_CUE,
		                  ARRAY_LEN(NO_CUE));
	if (cue->kind == CUE_LONG)
		return true;
	if (cue->kind == CUE_OWN) {
		if (is_one_of(skip_blank(after, sentence.end), sentence.end, &TO, 1))
			return false;
		text = before_auxiliary(text, sentence.start);
	}
	if (cue->kind == CUE_ORDER || cue->kind == CUE_OWN)
		return begins_clause(text, sentence.start) ||
		       before_one_of(text, sentence.start, ORDERING, ARRAY_LEN(ORDERING));
	return begins_clause(text, sentence.start) &&
	       !is_one_of(skip_blank(after, sentence.end), sentence.end, NO_CUE, ARRAY_LEN(NO_CUE));
}

/* Whether a cue can begin at `text`: with the first letter of a word, or the "n" of "n't". That is
 * asked first, because there are a hundred cues. */
static bool can_begin_cue(const char *text, const char *start)
{
	if (!isalpha((unsigned char)*text))
		return false;
	return text == start || !is_word_char(text[-1]) || tolower((unsigned char)*text) == 'n';
}

/* The cue at `text`, or NULL. */
static const struct cue *cue_at(const char *text, struct span sentence, const char **ret_after)
{
	for (size_t i = 0; i < ARRAY_LEN(CUES_BEFORE); i++)
		if (is_at(text, sentence, CUES_BEFORE[i].words, ret_after) &&
		    stands_right(&CUES_BEFORE[i], text, *ret_after, sentence))
			return &CUES_BEFORE[i];
	return NULL;
}

static size_t count_words(struct span span)
{
	size_t count = 0;
	for (const char *at = span.start; at < span.end; at++)
		count += is_word_char(*at) && (at == span.start || !is_word_char(at[-1]));
	return count;
}

static bool has_or(struct span span)
{
	const char *after;
	for (const char *at = span.start; at < span.end; at++)
		if (is_at(at, span, "or", &after) || is_at(at, span, "nor", &after) ||
		    is_at(at, span, "and", &after))
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
		if (begins_with(text, end, NEW_CLAUSE[i]))
			return true;
	return false;
}

static bool begins_contrast(const char *text, const char *end)
{
	static const char *const words[] = {" but ", " however ", " instead ", " unless ",
	                                    " \xe2\x80\x94 "};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (begins_with(text, end, words[i]))
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

/* The end of what the cue refuses; it begins at `text`. */
static const char *reach(const struct cue *cue, const char *text, struct sentence *sentence)
{
	const char *end = next_contrast(sentence, text);
	struct span part = part_until_comma(text, end);
	if (cue->kind != CUE_CLAUSE && cue->kind != CUE_SHORT) {
		while (goes_on(part, end))
			part.end = part_until_comma(part.end + 1, end).end;
		return part.end;
	}
	/* A list goes on while its elements are short, and one of them has the "or" that closes it.
	 * Of a longer one than is kept, only the first element is refused: else each cue of a text
	 * of cues would read all that follows it. */
	const char *closed = part.end;
	for (size_t count = 1; count < ITEMS_MAX && goes_on(part, end); count++) {
		part = part_until_comma(part.end + 1, end);
		if (has_or(part) && count_words(part) <= 2 * LIST_WORDS)
			closed = part.end;
		if (has_or(part) || count_words(part) > LIST_WORDS)
			break;
	}
	return closed;
}

/* The beginning of the subject whose verb is before `cue`: its clause, with the list that it
 * closes. */
static const char *subject_start(const char *start, const char *cue)
{
	static const char *const openings[] = {" but ", " while ", " although ", " though ",
	                                       " whereas "};
	for (const char *at = start; at < cue; at++)
		for (size_t i = 0; i < ARRAY_LEN(openings); i++)
			if (begins_with(at, cue, openings[i]))
				start = at + strlen(openings[i]);
	const char *from = cue;
	bool is_list = false;
	for (const char *at = cue; at > start;) {
		const char *comma = at - 1;
		while (comma > start && *comma != ',' && *comma != '(' && *comma != ':')
			comma--;
		struct span part = {*comma == ',' || *comma == '(' || *comma == ':' ? comma + 1
		                                                                    : comma,
		                    at};
		if (at != cue && count_words(part) > LIST_WORDS)
			break;
		from = part.start;
		is_list = is_list || has_or(part);
		if (!is_list || comma == start || *comma != ',')
			break;
		at = comma;
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
		if (is_one_of(at, span.end, ITEM_ENDS, ARRAY_LEN(ITEM_ENDS)) && out.length > 0)
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
		bool is_between = strchr(",;/()\n", *at) ||
		                  ((at == span.start || !is_word_char(at[-1])) &&
		                   is_one_of(at, span.end, conjunctions, ARRAY_LEN(conjunctions)));
		if (!is_between)
			continue;
		add_item(finder, (struct span){start, at});
		while (at < span.end && is_word_char(*at))
			at++;
		start = at;
	}
	add_item(finder, (struct span){start, span.end});
}

/* Whether the cue after a subject stands at `text`. */
static bool after_cue_at(const char *text, struct span sentence, const char **ret_after)
{
	for (size_t i = 0; i < ARRAY_LEN(CUES_AFTER); i++)
		if (is_at(text, sentence, CUES_AFTER[i], ret_after))
			return true;
	return false;
}

/* Take the exclusions out of a sentence, and append the rest. */
static void read_sentence(struct finder *finder, struct span sentence)
{
	struct sentence reading = {.all = sentence};
	const char *kept_from = sentence.start, *after;
	for (const char *at = sentence.start; at < sentence.end;) {
		if (!can_begin_cue(at, sentence.start)) {
			at++;
			continue;
		}
		const struct cue *cue = cue_at(at, sentence, &after);
		if (cue) {
			const char *end = reach(cue, after, &reading);
			const char *from =
				cue->kind == CUE_OWN ? before_subject(at, kept_from) : at;
			add_items(finder, (struct span){after, end});
			buf_add(&finder->kept, kept_from, (size_t)(from - kept_from));
			kept_from = at = end;
			continue;
		}
		if (after_cue_at(at, sentence, &after)) {
			const char *subject = subject_start(kept_from, at);
			add_items(finder, (struct span){subject, at});
			buf_add(&finder->kept, kept_from, (size_t)(subject - kept_from));
			kept_from = at = after;
			continue;
		}
		at++;
	}
	buf_add(&finder->kept, kept_from, (size_t)(sentence.end - kept_from));
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
	line = skip_blank(line, end);
	for (size_t i = 0; i < ARRAY_LEN(HEADINGS); i++)
		if (is_at(line, (struct span){line, end}, HEADINGS[i], &after) &&
		    skip_blank(after, end) == end)
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
		bool is_empty = skip_blank(text, end) == end;
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
