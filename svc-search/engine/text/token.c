#include "engine/text/token.h"

#include "engine/text/chunk.h"
#include "engine/text/mem.h"

#include <libstemmer.h>

#include <string.h>

/* Longest stem that the cache stores, in bytes; longer ones are rare. */
#define CACHED_BYTES 23

#define CACHE_LINE_BYTES 64

/* Maximum words of a compound that also gives a joined token; longer compounds are phrases. */
#define COMPOUND_MAX_WORDS 5

/* One slot of the stem cache, which is direct-mapped: a new stem replaces the one in its slot. The
 * slot is empty if the key is. Most of the time of a lookup is that of one cache miss. */
struct cached_stem {
	struct word_key key;
	char text[CACHED_BYTES + 1]; /* the stem, NUL-terminated */
	uint32_t memo;               /* see struct token */
	uint32_t memo_age;           /* `memo` counts if this is that of the tokenizer */
	uint8_t length;              /* of the stem; 0 for a stop word */
} __attribute__((aligned(CACHE_LINE_BYTES)));

struct tokenizer {
	struct sb_stemmer *stemmer;
	struct cached_stem *cache;
	size_t cache_slots;
	uint32_t memo_age; /* calls of tokenizer_clear_memos() */
	bool keeps_stop_words;
};

/* State of one tokenizer_run(). */
struct run {
	struct tokenizer *tokenizer;
	const struct chunk *chunk;
	token_cb *cb;
	void *ctx;
};

struct tokenizer *tokenizer_new(size_t cache_slots)
{
	struct tokenizer *tokenizer = mem_array(1, sizeof(*tokenizer));
	tokenizer->stemmer = sb_stemmer_new("english", NULL);
	require(tokenizer->stemmer);
	tokenizer->cache_slots = cache_slots;
	if (cache_slots > 0) {
		size_t size = cache_slots * sizeof(struct cached_stem);
		tokenizer->cache = aligned_alloc(CACHE_LINE_BYTES, size);
		require(tokenizer->cache);
		memset(tokenizer->cache, 0, size);
	}
	return tokenizer;
}

void tokenizer_free(struct tokenizer *tokenizer)
{
	if (!tokenizer)
		return;
	sb_stemmer_delete(tokenizer->stemmer);
	free(tokenizer->cache);
	free(tokenizer);
}

void tokenizer_clear_memos(struct tokenizer *tokenizer)
{
	tokenizer->memo_age++;
}

/* Stop words, which are too common in English to identify a topic, by first letter. Each word is
 * between two spaces. Articles, pronouns, prepositions, conjunctions and auxiliary verbs; no nouns,
 * and no adverb that can be a topic. */
static const char *const stop_words[26] = {
	['a' - 'a'] =
		(" a about above after again against all also although am among an and any are"
                 " as at "),
	['b' - 'a'] = " be because been before being below between both but by ",
	['c' - 'a'] = " can cannot could ",
	['d' - 'a'] = " did do does doing don done down during ",
	['e' - 'a'] = " each either etc ",
	['f' - 'a'] = " few for from further ",
	['h' - 'a'] = " had has have having he her here hers herself him himself his how however ",
	['i' - 'a'] = " i if in into is it its itself ",
	['j' - 'a'] = " just ",
	['l' - 'a'] = " let ",
	['m' - 'a'] = " may me might more most much must my myself ",
	['n' - 'a'] = " nor not ",
	['o' - 'a'] = (" of off on once only onto or other otherwise ought our ours ourselves out"
                       " over own "),
	['p' - 'a'] = " per ",
	['r' - 'a'] = " rather ",
	['s' - 'a'] = " same shall she should since so some such ",
	['t' - 'a'] = (" than that the their theirs them themselves then there therefore these they"
                       " this those though through thus to too toward towards "),
	['u' - 'a'] = " under until up upon us ",
	['v' - 'a'] = " very via ",
	['w' - 'a'] = (" was we were what when where whereas whether which while who whom whose why"
                       " will with within without would "),
	['y' - 'a'] = " yet you your yours yourself ",
};

/* Bytes of the longest stop word with a space on each side and a terminator. */
#define STOP_WORD_ROOM 16

/* Whether the folded, unstemmed word is a stop word. */
static bool is_stop_word(const char *text, size_t length)
{
	if (length == 0 || length > STOP_WORD_ROOM - 3 || text[0] < 'a' || text[0] > 'z')
		return false;
	if (!stop_words[text[0] - 'a'] || memchr(text, ' ', length))
		return false;
	char word[STOP_WORD_ROOM];
	word[0] = ' ';
	memcpy(word + 1, text, length);
	word[length + 1] = ' ';
	word[length + 2] = '\0';
	return strstr(stop_words[text[0] - 'a'], word) != NULL;
}

static bool is_stemmable(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (word[i] < 'a' || word[i] > 'z')
			return false;
	return length > 2;
}

/* Whether the word is a plural that Porter2 does not stem because it has no vowel: "llms". */
static bool is_acronym_plural(const char *word, size_t length)
{
	if (length < 4 || word[length - 1] != 's' || word[length - 2] == 's')
		return false;
	for (size_t i = 0; i < length; i++)
		if (strchr("aeiouy", word[i]))
			return false;
	return true;
}

/* Write the stem of `word` to `out` (room for TERM_MAX_BYTES + 1). Returns its length, 0 for a stop
 * word. */
static size_t stem_uncached(struct tokenizer *tokenizer, const char *word, size_t length, char *out)
{
	if (!tokenizer->keeps_stop_words && is_stop_word(word, length))
		return 0;
	if (!is_stemmable(word, length)) {
		memcpy(out, word, length);
		return length;
	}
	if (is_acronym_plural(word, length)) {
		memcpy(out, word, length - 1);
		return length - 1;
	}
	const sb_symbol *stem =
		sb_stemmer_stem(tokenizer->stemmer, (const sb_symbol *)word, (int)length);
	require(stem);
	size_t stem_length = (size_t)sb_stemmer_length(tokenizer->stemmer);
	stem_length = MIN_OF(stem_length, (size_t)TERM_MAX_BYTES);
	memcpy(out, stem, stem_length);
	return stem_length;
}

/* The slot of the word, whose length is that of its key; NULL: its stem is too long for the
 * cache. */
static struct cached_stem *find_stem(struct tokenizer *tokenizer, const struct word_key *key,
                                     size_t length)
{
	uint64_t hash = word_key_hash(key);
	struct cached_stem *slot = &tokenizer->cache[hash * tokenizer->cache_slots >> 32];
	if (!word_key_is_equal(&slot->key, key)) {
		char text[TERM_MAX_BYTES + 1];
		size_t stem_length =
			stem_uncached(tokenizer, (const char *)key->parts, length, text);
		if (stem_length > CACHED_BYTES)
			return NULL;
		*slot = (struct cached_stem){.key = *key,
		                             .length = (uint8_t)stem_length,
		                             .memo_age = tokenizer->memo_age};
		memcpy(slot->text, text, stem_length);
	}
	if (slot->memo_age != tokenizer->memo_age) {
		slot->memo_age = tokenizer->memo_age;
		slot->memo = 0;
	}
	return slot;
}

/* Call back with the term of a word whose stem is in the cache. */
static void emit_cached(struct run *run, struct cached_stem *stem, size_t start, size_t end,
                        bool is_extra)
{
	struct token token = {stem->text, stem->length, start, end, is_extra, &stem->memo};
	if (token.length > 0)
		run->cb(&token, run->ctx);
}

/* The largest length up to `limit` that cuts no character of the `length` bytes at `text`. */
static size_t cut_length(const char *text, size_t length, size_t limit)
{
	if (limit >= length)
		return length;
	while (limit > 0 && ((unsigned char)text[limit] & 0xC0) == 0x80)
		limit--;
	return limit;
}

/* The same without the cache. */
static void emit_uncached(struct run *run, const char *text, size_t length, size_t start,
                          size_t end, bool is_extra)
{
	char term[TERM_MAX_BYTES + 1];
	struct token token = {.text = term, .start = start, .end = end, .is_extra = is_extra};
	length = cut_length(text, length, TERM_MAX_BYTES);
	token.length = stem_uncached(run->tokenizer, text, length, term);
	if (token.length == 0)
		return;
	term[token.length] = '\0';
	run->cb(&token, run->ctx);
}

/* Call back with the term of the word `text`, which is in the source from `start` to `end`. */
static void emit_at(struct run *run, const char *text, size_t length, size_t start, size_t end,
                    bool is_extra)
{
	struct cached_stem *stem = NULL;
	if (length <= WORD_KEY_BYTES && run->tokenizer->cache_slots > 0) {
		struct word_key key = word_key_of(text, length);
		stem = find_stem(run->tokenizer, &key, length);
	}
	if (stem)
		emit_cached(run, stem, start, end, is_extra);
	else
		emit_uncached(run, text, length, start, end, is_extra);
}

/* The same for a word that covers the chunk's units from `first` up to, not including, `last`. */
static void emit(struct run *run, const char *text, size_t length, size_t first, size_t last,
                 bool is_extra)
{
	emit_at(run, text, length, run->chunk->units[first].start, run->chunk->units[last - 1].end,
	        is_extra);
}

/* Copy the text of units `first` up to `last` to `out`, without joiners and signs, as far as `room`
 * bytes allow. A point between other units is kept, as in "3.5". */
static size_t copy_units(const struct chunk *chunk, size_t first, size_t last, char *out,
                         size_t room)
{
	size_t length = 0;
	for (size_t i = first; i < last; i++) {
		const struct unit *unit = &chunk->units[i];
		bool is_number_point = unit->kind == UNIT_POINT && i > first && i + 1 < last;
		if (unit->kind >= UNIT_JOINER && !is_number_point)
			continue;
		if (length + unit->length > room)
			break;
		memcpy(out + length, unit->text, unit->length);
		length += unit->length;
	}
	return length;
}

static void emit_units(struct run *run, size_t first, size_t last, bool is_extra)
{
	char word[TERM_MAX_BYTES];
	size_t length = copy_units(run->chunk, first, last, word, sizeof(word));
	if (length > 0)
		emit(run, word, length, first, last, is_extra);
}

/* Emit the word with its letters spelled out: "schroedinger" for "Schrödinger". Nothing if it has
 * none that can be. */
static void emit_spelled(struct run *run, size_t first, size_t last)
{
	char word[TERM_MAX_BYTES];
	size_t length = 0;
	bool is_other = false;
	for (size_t i = first; i < last; i++) {
		const struct unit *unit = &run->chunk->units[i];
		if (unit->kind > UNIT_DIGIT)
			continue;
		if (length + unit->length + 1 > sizeof(word))
			break;
		memcpy(word + length, unit->text, unit->length);
		length += unit->length;
		if (unit->spelled)
			word[length++] = unit->spelled;
		is_other |= unit->spelled != 0;
	}
	if (is_other)
		emit(run, word, length, first, last, true);
}

/* Whether a part of a CamelCase word begins at unit `i`; the word ends before `last`. */
static bool splits_case(const struct chunk *chunk, size_t i, size_t last)
{
	const struct unit *units = chunk->units;
	if (!units[i].is_upper)
		return false;
	if (!units[i - 1].is_upper)
		return units[i - 1].kind == UNIT_LETTER;
	return i + 2 < last && units[i + 1].kind == UNIT_LETTER && !units[i + 1].is_upper &&
	       units[i + 2].kind == UNIT_LETTER && !units[i + 2].is_upper;
}

/* Whether letters change to digits, or digits to letters, at unit `i`. */
static bool splits_digits(const struct chunk *chunk, size_t i, size_t last attr_unused)
{
	const struct unit *units = chunk->units;
	return (units[i].kind == UNIT_DIGIT && units[i - 1].kind == UNIT_LETTER) ||
	       (units[i].kind == UNIT_LETTER && units[i - 1].kind == UNIT_DIGIT);
}

typedef bool split_test(const struct chunk *chunk, size_t i, size_t last);

/* Emit the parts of more than one character into which `test` splits the word; nothing if it does
 * not split it. */
static void emit_parts(struct run *run, size_t first, size_t last, split_test *test)
{
	size_t begin = first;
	for (size_t i = first + 1; i <= last; i++) {
		if (i < last && !test(run->chunk, i, last))
			continue;
		if (i == last && begin == first)
			return;
		if (i - begin > 1)
			emit_units(run, begin, i, true);
		begin = i;
	}
}

/* Emit the main and extra tokens of one word, which has no joiner inside. */
static void emit_word(struct run *run, size_t first, size_t last)
{
	const struct chunk *chunk = run->chunk;
	const char *name = last - first == 1 ? chunk_greek_name(&chunk->units[first]) : NULL;
	if (name) {
		emit(run, name, strlen(name), first, last, false);
		return;
	}
	emit_units(run, first, last, false);
	if (chunk->has_spelled)
		emit_spelled(run, first, last);
	if (last - first < 2 || chunk->units[last - 1].kind == UNIT_SUFFIX)
		return;
	emit_parts(run, first, last, splits_case);
	emit_parts(run, first, last, splits_digits);
}

/* Emit the joined form of the compound from unit `first` up to `last`: "gpt4" for "gpt-4". */
static void emit_joined(struct run *run, size_t first, size_t last)
{
	size_t length = 0;
	char word[TERM_MAX_BYTES];
	for (size_t begin = first, end; begin < last; begin = end + 1) {
		end = chunk_word_end(run->chunk, begin);
		const char *name =
			end - begin == 1 ? chunk_greek_name(&run->chunk->units[begin]) : NULL;
		if (name && length + strlen(name) <= sizeof(word)) {
			memcpy(word + length, name, strlen(name));
			length += strlen(name);
		} else {
			length += copy_units(run->chunk, begin, end, word + length,
			                     sizeof(word) - length);
		}
	}
	if (length > 0)
		emit(run, word, length, first, last, true);
}

/* Emit the tokens of the words that hyphens or underscores join from unit `first` on. Returns the
 * unit after them. */
static size_t emit_compound(struct run *run, size_t first)
{
	const struct chunk *chunk = run->chunk;
	size_t words = 0;
	size_t begin = first;
	size_t end;
	for (;;) {
		end = chunk_word_end(chunk, begin);
		emit_word(run, begin, end);
		words++;
		if (end + 1 >= chunk->count || chunk->units[end].kind != UNIT_JOINER ||
		    chunk->units[end + 1].kind > UNIT_DIGIT)
			break;
		begin = end + 1;
	}
	if (words > 1 && words <= COMPOUND_MAX_WORDS)
		emit_joined(run, first, end);
	return end;
}

static void emit_plain(struct run *run, const struct plain_word *word)
{
	size_t end = word->start + word->length;
	struct cached_stem *stem = NULL;
	if (run->tokenizer->cache_slots > 0)
		stem = find_stem(run->tokenizer, &word->key, word->length);
	if (stem)
		emit_cached(run, stem, word->start, end, false);
	else
		emit_uncached(run, (const char *)word->key.parts, word->length, word->start, end,
		              false);
}

static void emit_plain_words(struct run *run, struct chunk_reader *reader)
{
	struct plain_word word;
	while (chunk_next_plain(reader, &word))
		emit_plain(run, &word);
}

void tokenizer_run(struct tokenizer *tokenizer, const char *text, size_t length, token_cb *cb,
                   void *ctx)
{
	struct chunk_reader reader = {.text = text, .length = length};
	struct chunk chunk;
	struct run run = {.tokenizer = tokenizer, .chunk = &chunk, .cb = cb, .ctx = ctx};
	for (emit_plain_words(&run, &reader); chunk_next(&reader, &chunk);
	     emit_plain_words(&run, &reader)) {
		size_t id_length;
		const char *id = chunk_arxiv_id(&chunk, &id_length);
		if (id) {
			emit(&run, id, id_length, 0, chunk.count, false);
			continue;
		}
		for (size_t i = 0; i < chunk.count;) {
			if (chunk.units[i].kind <= UNIT_DIGIT)
				i = emit_compound(&run, i);
			else
				i++;
		}
	}
}

void tokenizer_run_stop_words(struct tokenizer *tokenizer, const char *text, size_t length,
                              token_cb *cb, void *ctx)
{
	size_t cache_slots = tokenizer->cache_slots;
	tokenizer->keeps_stop_words = true;
	tokenizer->cache_slots = 0; /* the cache says that stop words have no term */
	tokenizer_run(tokenizer, text, length, cb, ctx);
	tokenizer->cache_slots = cache_slots;
	tokenizer->keeps_stop_words = false;
}
