#include "engine/query_names.h"

#include "engine/text/name.h"
#include "engine/vocabulary.h"

#include <string.h>

/* Greatest distance in words of the given and the family name: 3 in "Laurens van der Maaten". */
#define NAME_SPAN 3

/* From this probability on a word is probably a name; below the second one it counts as none, but
 * from the third one on it can be one in a full name. */
#define PROBABLE   0.5f
#define IMPROBABLE 0.25f
#define POSSIBLE   0.05f

/* A word without a capital that more texts have is no name by itself: "song generation". */
#define LOWER_CASE_TEXTS 3

/* Words of the longest query that is one name. */
#define NAME_WORDS 4

/* Words of the longest query in which capitals mark a name although all words have them; in a
 * longer one they mark a title. */
#define CAPITALS_WORDS 3

/* A word of the query. */
struct query_word {
	struct name_word name;
	const struct parsed_query *parsed; /* as a word of texts; without terms it is a stop word */
	uint32_t df;                       /* papers whose text has it */
	float probability;
	bool is_initial;
	bool is_used; /* in a full name */
};

struct finder {
	const struct engine_view *view;
	struct arena *arena;
	const char *text;
	struct parsed_query *parsed;
	struct query_word words[QUERY_NAME_WORDS];
	size_t count;
	bool is_all_capital;
	size_t full_names;
	float weight; /* factor of the weights of names */
};

/* The only personal pronoun that is also a frequent family name, He. A query about a topic has
 * none. */
static bool is_pronoun(const struct query_word *word)
{
	return word->name.is_capital && strcmp(word->name.text, "he") == 0;
}

static bool is_stop_word(const struct query_word *word)
{
	return word->parsed->term_count == 0;
}

/* Whether a capital says that a word is a name: not where all words have one, as in a title. */
static bool are_capitals_significant(const struct finder *finder)
{
	return !finder->is_all_capital || finder->count <= CAPITALS_WORDS;
}

static void read_word(struct finder *finder, struct query_word *word)
{
	char term[TERM_MAX_BYTES + 1];
	word->parsed = query_parse(finder->arena, finder->text + word->name.start,
	                           word->name.end - word->name.start);
	word->is_initial = name_is_initial(&word->name);
	for (size_t i = 0; i < word->parsed->term_count; i++) {
		const struct query_term *of_text = &word->parsed->terms[i];
		uint32_t df = vocabulary_df(finder->view, of_text->text, of_text->length);
		word->df = i > 0 ? MIN_OF(word->df, df) : df; /* it has all its parts */
	}
	uint32_t names = word->is_initial ? 0
	                                  : vocabulary_df(finder->view, term,
	                                                  name_word_term(&word->name, term));
	float prior = word->name.is_capital && are_capitals_significant(finder)
	                      ? QUERY_NAME_PRIOR_CAPITAL
	                      : QUERY_NAME_PRIOR;
	if (names > 0 && (!is_stop_word(word) || is_pronoun(word)))
		word->probability = (float)names / ((float)names + prior * (float)word->df);
}

typedef size_t name_splitter(const char *text, size_t length, struct name_word *words);

static bool read_words(struct finder *finder, size_t length, name_splitter *split)
{
	struct name_word names[NAME_MAX_WORDS];
	finder->count = split(finder->text, length, names);
	finder->is_all_capital = true;
	if (finder->count == 0 || finder->count > QUERY_NAME_WORDS)
		return false;
	for (size_t i = 0; i < finder->count; i++) {
		finder->words[i].name = names[i];
		finder->is_all_capital &= names[i].is_capital;
	}
	for (size_t i = 0; i < finder->count; i++)
		read_word(finder, &finder->words[i]);
	return true;
}

static bool is_topic(const struct query_word *word)
{
	return !word->name.is_capital && word->df > LOWER_CASE_TEXTS;
}

/* How much a word looks like a part of a name: 0, 1 or 2. */
static int rate(const struct query_word *word)
{
	if (word->probability >= PROBABLE)
		return 2;
	return word->is_initial || is_stop_word(word) || word->name.is_capital ||
	       word->probability >= IMPROBABLE;
}

/* Whether the word can be a name beside a stop word, which has no other reason to be there. */
static bool is_possible(const struct query_word *word)
{
	return word->probability >= POSSIBLE;
}

static bool looks_like_name(const struct finder *finder, const struct query_word *one,
                            const struct query_word *other)
{
	bool has_capitals = one->name.is_capital && other->name.is_capital;
	return rate(one) + rate(other) > 2 || (has_capitals && are_capitals_significant(finder)) ||
	       (is_stop_word(one) && is_possible(other)) ||
	       (is_stop_word(other) && is_possible(one));
}

/* Let the word count less as a word of texts. */
static void reduce_term(const struct finder *finder, const struct query_word *word, float by)
{
	for (size_t i = 0; i < word->parsed->term_count; i++) {
		struct query_term *term =
			query_find_term(finder->parsed, word->parsed->terms[i].text);
		if (term)
			term->count *= 1 - by;
	}
}

/* The words from `first` to `last`, as written in the query. */
static const char *written(const struct finder *finder, const struct name_word *first,
                           const struct name_word *last)
{
	return arena_strndup(finder->arena, finder->text + first->start, last->end - first->start);
}

/* Add the term of the full name if there is such an author. */
static bool add_full_name(struct finder *finder, const struct query_word *family,
                          const struct query_word *given)
{
	char term[TERM_MAX_BYTES + 1];
	const struct name_word *first = family < given ? &family->name : &given->name;
	const struct name_word *last = family < given ? &given->name : &family->name;
	if (family->is_initial ||
	    vocabulary_df(finder->view, term, name_full_term(&family->name, &given->name, term)) ==
	            0)
		return false;
	bool is_reversed = family < given && !family->name.is_before_comma;
	query_add_name(finder->parsed, term, written(finder, first, last),
	               finder->weight * (is_reversed ? QUERY_NAME_REVERSED : 1), finder->arena);
	return true;
}

/* Take the words from `first` to `last` as the full name that they are; false: they are none. The
 * order with the family name first is found too, but counts less without a comma. */
static bool take_full_name(struct finder *finder, size_t first, size_t last, bool is_family_last)
{
	struct query_word *one = &finder->words[first];
	struct query_word *other = &finder->words[last];
	if (one->is_used || other->is_used || !looks_like_name(finder, one, other))
		return false;
	bool is_western = add_full_name(finder, other, one);
	bool is_reversed = (is_western || !is_family_last) && add_full_name(finder, one, other);
	if (!is_western && !is_reversed)
		return false;
	for (size_t i = first; i <= last; i++) {
		finder->words[i].is_used = true;
		reduce_term(finder, &finder->words[i], 1);
	}
	finder->full_names++;
	return true;
}

/* First look for names with the family name last, which are the more usual. */
static void find_full_names(struct finder *finder)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < finder->count; i++)
			for (size_t j = i + 1; j < finder->count && j <= i + NAME_SPAN; j++)
				if (take_full_name(finder, i, j, round == 0))
					break;
}

static void add_single_names(struct finder *finder)
{
	char term[TERM_MAX_BYTES + 1];
	for (size_t i = 0; i < finder->count; i++) {
		struct query_word *word = &finder->words[i];
		if (word->is_used || word->probability < IMPROBABLE || is_topic(word))
			continue;
		name_word_term(&word->name, term);
		if (!query_find_term(finder->parsed, term))
			query_add_name(finder->parsed, term,
			               written(finder, &word->name, &word->name),
			               finder->weight * word->probability, finder->arena);
		reduce_term(finder, word, word->probability);
	}
}

/* What the words of the query are, those of full names left out of the last three. */
struct tally {
	size_t capitals; /* capitals and initials */
	size_t initials;
	size_t probable; /* probably names */
	size_t unknown;  /* in no text and no name */
	size_t topics;   /* in texts, and improbable as names */
};

static struct tally tally_words(const struct finder *finder)
{
	struct tally tally = {0};
	for (size_t i = 0; i < finder->count; i++) {
		const struct query_word *word = &finder->words[i];
		tally.capitals += word->name.is_capital || word->is_initial;
		tally.initials += word->is_initial;
		if (word->is_initial || word->is_used)
			continue;
		tally.probable += word->probability >= PROBABLE && !is_topic(word);
		tally.unknown += !is_stop_word(word) && word->df == 0 && word->probability <= 0;
		tally.topics += word->df > 0 && word->probability < PROBABLE;
	}
	return tally;
}

static enum query_names classify(const struct finder *finder)
{
	struct tally tally = tally_words(finder);
	bool has_form = finder->count > 1 && finder->count <= NAME_WORDS &&
	                tally.capitals == finder->count && tally.topics == 0;
	bool has_initial = tally.initials > 0 || finder->words[0].name.is_before_comma;
	if (finder->full_names > 0)
		return QUERY_NAMES_FOUND;
	if (has_form && tally.unknown + tally.probable > 0 &&
	    (has_initial || (tally.probable > 0 && tally.unknown > 0)))
		return QUERY_NAMES_UNKNOWN;
	if (tally.probable > 0)
		return has_form ? QUERY_NAMES_ALL : QUERY_NAMES_FOUND;
	return has_form && tally.unknown == finder->count ? QUERY_NAMES_UNSEEN : QUERY_NAMES_NONE;
}

static enum query_names add_names(const struct engine_view *view, const char *text, size_t length,
                                  name_splitter *split, float weight, struct parsed_query *parsed,
                                  struct arena *arena)
{
	struct finder *finder = arena_new_of(arena, struct finder);
	finder->view = view;
	finder->arena = arena;
	finder->text = text;
	finder->parsed = parsed;
	finder->weight = weight;
	if (!read_words(finder, length, split))
		return QUERY_NAMES_NONE;
	find_full_names(finder);
	enum query_names names = classify(finder);
	if (names != QUERY_NAMES_UNKNOWN)
		add_single_names(finder);
	parsed->has_names |= names != QUERY_NAMES_NONE && names != QUERY_NAMES_UNSEEN;
	return names;
}

static bool is_ascii(const char *text, size_t length)
{
	unsigned char all = 0;
	for (size_t i = 0; i < length; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

enum query_names query_names_add(const struct engine_view *view, const char *text, size_t length,
                                 struct parsed_query *parsed, struct arena *arena)
{
	enum query_names names =
		add_names(view, text, length, name_split, QUERY_NAME_WEIGHT, parsed, arena);
	if (is_ascii(text, length))
		return names;
	enum query_names spelled = add_names(view, text, length, name_split_spelled,
	                                     QUERY_NAME_WEIGHT * QUERY_NAME_SPELLED, parsed, arena);
	bool is_found = spelled == QUERY_NAMES_FOUND || spelled == QUERY_NAMES_ALL;
	/* Papers need not have the names in both spellings. */
	return is_found ? QUERY_NAMES_FOUND : names;
}

/* Whether two words of a text can belong to one name: only a blank is between them, or the point of
 * an initial. */
static bool are_joined(const char *text, const struct name_word *one, const struct name_word *next)
{
	const char *gap = text + one->end;
	gap += *gap == '.' && name_is_initial(one);
	return *gap == ' ' && gap + 1 == text + next->start;
}

/* Count one mention of a name, instead of its words. */
static void add_mention(const struct finder *finder, const char *term,
                        const struct name_word *first, const struct name_word *last)
{
	struct parsed_query *words =
		query_parse(finder->arena, finder->text + first->start, last->end - first->start);
	struct query_term *known = query_find_term(finder->parsed, term);
	if (known)
		known->count += QUERY_NAME_WEIGHT;
	else
		query_add_name(finder->parsed, term, written(finder, first, last),
		               QUERY_NAME_WEIGHT, finder->arena);
	for (size_t i = 0; i < words->term_count; i++) {
		struct query_term *of_text = query_find_term(finder->parsed, words->terms[i].text);
		if (of_text)
			of_text->count = MAX_OF(of_text->count - words->terms[i].count, 0.0f);
	}
}

/* Take the full name that begins with the first word. Returns the number of its words, or 1. */
static size_t take_mention(const struct finder *finder, const struct name_word *words, size_t count)
{
	char term[TERM_MAX_BYTES + 1];
	if (name_is_initial(&words[0])) /* "A Markov chain" */
		return 1;
	for (size_t i = 1; i < count && i <= NAME_SPAN; i++) {
		if (!are_joined(finder->text, &words[i - 1], &words[i]))
			return 1;
		if (!words[0].is_capital || !words[i].is_capital || name_is_initial(&words[i]))
			continue;
		size_t length = name_full_term(&words[i], &words[0], term);
		if (vocabulary_df(finder->view, term, length) == 0)
			continue;
		add_mention(finder, term, &words[0], &words[i]);
		return i + 1;
	}
	return 1;
}

void query_names_add_mentioned(const struct engine_view *view, const char *text, size_t length,
                               struct parsed_query *parsed, struct arena *arena)
{
	struct finder finder = {.view = view, .arena = arena, .text = text, .parsed = parsed};
	struct name_word words[NAME_MAX_WORDS];
	size_t count;
	while ((count = name_split(finder.text, length, words)) > 1) {
		/* A name can go on behind the last words, unless they end the text. */
		bool is_end = count < NAME_MAX_WORDS;
		size_t next = 0;
		while (next < (is_end ? count : count - NAME_SPAN))
			next += take_mention(&finder, words + next, count - next);
		if (is_end)
			break;
		size_t bytes = next < count ? words[next].start : words[count - 1].end;
		finder.text += bytes;
		length -= bytes;
	}
}
