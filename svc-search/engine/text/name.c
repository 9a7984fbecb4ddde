#include "engine/text/name.h"

#include "base/base.h"
#include "engine/text/chunk.h"
#include "engine/text/fold.h"

#include <string.h>

/* Marks the terms of names. */
#define NAME_MARK '@'

/* State of name_split(). */
struct splitter {
	const char *text;
	size_t length;
	struct name_word *words;
	size_t count;
	bool is_open;       /* the last word can go on */
	bool splits_hyphen; /* a hyphen ends a word */
	bool is_spelled;    /* letters are spelled out where they can be: "oe" for ö */
	bool has_spelled;   /* one was */
};

static void close_word(struct splitter *splitter)
{
	if (!splitter->is_open)
		return;
	struct name_word *word = &splitter->words[splitter->count - 1];
	word->text[word->length] = '\0';
	word->is_before_comma = word->end < splitter->length && splitter->text[word->end] == ',';
	splitter->is_open = false;
}

static void add_unit(struct splitter *splitter, const struct unit *unit)
{
	if (!splitter->is_open && splitter->count == NAME_MAX_WORDS)
		return;
	if (!splitter->is_open)
		splitter->words[splitter->count++] =
			(struct name_word){.start = unit->start, .is_capital = unit->is_upper};
	struct name_word *word = &splitter->words[splitter->count - 1];
	splitter->is_open = true;
	word->end = unit->end;
	if (word->length + unit->length > NAME_WORD_BYTES)
		return;
	memcpy(word->text + word->length, unit->text, unit->length);
	word->length += unit->length;
	if (!splitter->is_spelled || !unit->spelled || word->length == NAME_WORD_BYTES)
		return;
	word->text[word->length++] = unit->spelled;
	splitter->has_spelled = true;
}

static void add_chunk(struct splitter *splitter, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->count; i++) {
		const struct unit *unit = &chunk->units[i];
		if (unit->kind <= UNIT_DIGIT)
			add_unit(splitter, unit);
		else if (unit->kind == UNIT_JOINER && splitter->is_open && !splitter->splits_hyphen)
			splitter->words[splitter->count - 1].is_hyphenated = true;
		else if (unit->kind != UNIT_APOSTROPHE && unit->kind != UNIT_DROPPED)
			close_word(splitter);
	}
}

static size_t split(const char *text, size_t length, bool splits_hyphen, bool is_spelled,
                    struct name_word *words)
{
	struct chunk_reader reader = {.text = text, .length = length};
	struct splitter splitter = {
		.text = text,
		.length = length,
		.words = words,
		.splits_hyphen = splits_hyphen,
		.is_spelled = is_spelled,
	};
	struct chunk chunk;
	while (splitter.count < NAME_MAX_WORDS && chunk_next(&reader, &chunk)) {
		/* Each ideograph is a chunk. */
		if (splitter.is_open && words[splitter.count - 1].end != chunk.units[0].start)
			close_word(&splitter);
		add_chunk(&splitter, &chunk);
	}
	close_word(&splitter);
	return is_spelled && !splitter.has_spelled ? 0 : splitter.count;
}

size_t name_split(const char *text, size_t length, struct name_word *words)
{
	return split(text, length, false, false, words);
}

size_t name_split_spelled(const char *text, size_t length, struct name_word *words)
{
	return split(text, length, false, true, words);
}

/* Bytes of the first letter. */
static size_t initial_length(const struct name_word *word)
{
	uint32_t code;
	return fold_decode(word->text, word->length, &code);
}

bool name_is_initial(const struct name_word *word)
{
	bool is_digit = word->text[0] >= '0' && word->text[0] <= '9';
	return initial_length(word) == word->length && !is_digit;
}

static size_t write_term(const struct name_word *family, const char *given, size_t given_length,
                         char *out)
{
	size_t length = 0;
	out[length++] = NAME_MARK;
	memcpy(out + length, family->text, family->length);
	length += family->length;
	if (given_length > 0) {
		out[length++] = ' ';
		memcpy(out + length, given, given_length);
		length += given_length;
	}
	out[length] = '\0';
	return length;
}

_Static_assert(2 * NAME_WORD_BYTES + 2 <= TERM_MAX_BYTES, "a full name is a term");

size_t name_word_term(const struct name_word *word, char *out)
{
	return write_term(word, NULL, 0, out);
}

size_t name_full_term(const struct name_word *family, const struct name_word *given, char *out)
{
	return write_term(family, given->text, given->length, out);
}

static bool is_suffix(const struct name_word *word)
{
	static const char *const suffixes[] = {"jr", "sr", "ii", "iii", "iv"};
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		if (strcmp(word->text, suffixes[i]) == 0)
			return true;
	return false;
}

/* The number of the family name. */
static size_t find_family(const struct name_word *words, size_t count)
{
	size_t family = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || !is_suffix(&words[i]))
			family = i;
		if (words[i].is_before_comma)
			break;
	}
	return family;
}

/* The given name: the first word that is not part of the family name; NULL: there is none. */
static const struct name_word *find_given(const struct name_word *words, size_t count,
                                          size_t family)
{
	size_t first = words[family].is_before_comma ? family + 1 : 0;
	if (first < count && first != family && !is_suffix(&words[first]))
		return &words[first];
	return NULL;
}

static void emit_word(const struct name_word *word, name_term_cb *cb, void *ctx)
{
	char term[TERM_MAX_BYTES + 1];
	cb(term, name_word_term(word, term), ctx);
}

/* Emit the parts of a hyphenated word. */
static void emit_parts(const char *name, const struct name_word *word, name_term_cb *cb, void *ctx)
{
	struct name_word parts[NAME_MAX_WORDS];
	size_t count = split(name + word->start, word->end - word->start, true, false, parts);
	for (size_t i = 0; i < count; i++)
		if (!name_is_initial(&parts[i]))
			emit_word(&parts[i], cb, ctx);
}

static void emit_name(const char *name, const struct name_word *words, size_t count,
                      name_term_cb *cb, void *ctx)
{
	char term[TERM_MAX_BYTES + 1];
	if (count == 0)
		return;
	size_t family = find_family(words, count);
	const struct name_word *given = find_given(words, count, family);
	for (size_t i = 0; i < count; i++)
		if (i == family || !name_is_initial(&words[i]))
			emit_word(&words[i], cb, ctx);
	for (size_t i = 0; i < count; i++)
		if (words[i].is_hyphenated)
			emit_parts(name, &words[i], cb, ctx);
	if (!given)
		return;
	cb(term, write_term(&words[family], given->text, initial_length(given), term), ctx);
	if (!name_is_initial(given))
		cb(term, name_full_term(&words[family], given, term), ctx);
}

static bool is_ascii(const char *text, size_t length)
{
	unsigned char all = 0;
	for (size_t i = 0; i < length; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

void name_index_terms(const char *name, size_t length, name_term_cb *cb, void *ctx)
{
	struct name_word words[NAME_MAX_WORDS];
	emit_name(name, words, name_split(name, length, words), cb, ctx);
	if (!is_ascii(name, length))
		emit_name(name, words, name_split_spelled(name, length, words), cb, ctx);
}
