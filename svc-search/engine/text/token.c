#include "engine/text/token.h"

#include "engine/text/chunk.h"
#include "engine/text/mem.h"
#include "engine/text/stopword.h"

#include <libstemmer.h>

#include <string.h>

/* Bytes of words whose stems are remembered; longer ones are rare. */
#define CACHED_BYTES 24

/* Words of a compound, from the first, that are also joined; more are a phrase. */
#define COMPOUND_WORDS 5

/* One remembered stem; `word_length` 0 is an empty slot. */
struct stem {
	uint8_t word_length;
	uint8_t length; /* of the stem; 0 for a stop word */
	char word[CACHED_BYTES];
	char text[CACHED_BYTES];
};

struct tokenizer {
	struct sb_stemmer *stemmer;
	struct stem *cache;
	size_t cache_slots;
};

/* What one run carries from function to function. */
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
	if (cache_slots > 0)
		tokenizer->cache = mem_array(cache_slots, sizeof(struct stem));
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

static uint32_t hash_bytes(const char *text, size_t length)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static bool is_stemmable(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (word[i] < 'a' || word[i] > 'z')
			return false;
	return length > 2;
}

/* A plural that Porter2 leaves alone for want of a vowel: "llms", "cnns". */
static bool is_acronym_plural(const char *word, size_t length)
{
	if (length < 4 || word[length - 1] != 's' || word[length - 2] == 's')
		return false;
	for (size_t i = 0; i < length; i++)
		if (strchr("aeiouy", word[i]))
			return false;
	return true;
}

/* The stem of `word` into `out` (TERM_MAX_BYTES + 1); returns its length, 0 for a stop word. */
static size_t stem_plain(struct tokenizer *tokenizer, const char *word, size_t length, char *out)
{
	if (stopword_is(word, length))
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

static size_t stem(struct tokenizer *tokenizer, const char *word, size_t length, char *out)
{
	if (tokenizer->cache_slots == 0 || length > CACHED_BYTES)
		return stem_plain(tokenizer, word, length, out);
	struct stem *slot = &tokenizer->cache[hash_bytes(word, length) % tokenizer->cache_slots];
	if (slot->word_length == length && memcmp(slot->word, word, length) == 0) {
		memcpy(out, slot->text, slot->length);
		return slot->length;
	}
	size_t stem_length = stem_plain(tokenizer, word, length, out);
	if (stem_length <= CACHED_BYTES) {
		slot->word_length = (uint8_t)length;
		slot->length = (uint8_t)stem_length;
		memcpy(slot->word, word, length);
		memcpy(slot->text, out, stem_length);
	}
	return stem_length;
}

/* Hand out the word `text`, which stands at units `first` up to `last` of the chunk. */
static void emit(struct run *run, const char *text, size_t length, size_t first, size_t last,
                 bool is_extra)
{
	char term[TERM_MAX_BYTES + 1];
	struct token token = {.text = term, .is_extra = is_extra};
	length = chunk_cut(text, MIN_OF(length, (size_t)TERM_MAX_BYTES), length);
	token.length = stem(run->tokenizer, text, length, term);
	if (token.length == 0)
		return;
	term[token.length] = '\0';
	token.start = run->chunk->units[first].start;
	token.end = run->chunk->units[last - 1].end;
	run->cb(&token, run->ctx);
}

/* The bytes of units `first` up to `last`, without those that only join, into `out`, cut at
 * `room`. */
static size_t gather(const struct chunk *chunk, size_t first, size_t last, char *out, size_t room)
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
	size_t length = gather(run->chunk, first, last, word, sizeof(word));
	if (length > 0)
		emit(run, word, length, first, last, is_extra);
}

/* Whether CamelCase begins a part at unit `i`; `last` is the word's end. */
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

static bool splits_digits(const struct chunk *chunk, size_t i, size_t last)
{
	const struct unit *units = chunk->units;
	(void)last;
	return (units[i].kind == UNIT_DIGIT && units[i - 1].kind == UNIT_LETTER) ||
	       (units[i].kind == UNIT_LETTER && units[i - 1].kind == UNIT_DIGIT);
}

typedef bool split_test(const struct chunk *chunk, size_t i, size_t last);

/* Hand out the parts of a word that `test` splits, unless it stays whole. */
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

/* One word of a chunk, without joiners around it. */
static void emit_word(struct run *run, size_t first, size_t last)
{
	const struct chunk *chunk = run->chunk;
	const char *name = last - first == 1 ? chunk_greek_name(&chunk->units[first]) : NULL;
	if (name) {
		emit(run, name, strlen(name), first, last, false);
		return;
	}
	emit_units(run, first, last, false);
	if (last - first < 2 || chunk->units[last - 1].kind == UNIT_SUFFIX)
		return;
	emit_parts(run, first, last, splits_case);
	emit_parts(run, first, last, splits_digits);
}

/* The joined form of the words of a compound that spans units `first` up to `last`. */
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
			length += gather(run->chunk, begin, end, word + length,
			                 sizeof(word) - length);
		}
	}
	if (length > 0)
		emit(run, word, length, first, last, true);
}

/* Words joined by hyphens or underscores from unit `first`; returns the unit after them. */
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
	if (words > 1 && words <= COMPOUND_WORDS)
		emit_joined(run, first, end);
	return end;
}

void tokenizer_run(struct tokenizer *tokenizer, const char *text, size_t length, token_cb *cb,
                   void *ctx)
{
	struct chunk_reader reader = {.text = text, .length = length};
	struct chunk chunk;
	struct run run = {.tokenizer = tokenizer, .chunk = &chunk, .cb = cb, .ctx = ctx};
	while (chunk_next(&reader, &chunk)) {
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
