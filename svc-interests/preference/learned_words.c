#include "preference/learned_words.h"

#include "json/json.h"
#include "preference/preference_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A word, or two adjacent ones, in a paper. */
struct occurrence {
	uint32_t word, second; /* ids of the stems; `second` 0: a word */
	size_t paper;
	const char *text;
	size_t length;
};

/* A word or two of the papers of one side. */
struct phrase {
	uint32_t word, second;
	size_t papers; /* that have it */
	const char *text;
	size_t length;
	double weight; /* of a word: how much the model gives for it, negated for `less` */
};

struct phrases {
	struct phrase *items;
	size_t count;
};

/* Reads the occurrences of one paper after the other. */
struct reading {
	struct arena *arena;
	struct occurrence *items;
	size_t count, capacity;
	size_t paper;
	struct occurrence previous; /* the word before; `length` 0: none */
};

static void note(struct reading *reading, struct occurrence found)
{
	if (reading->count == reading->capacity) {
		size_t grown = reading->capacity * 2 + 1024;
		reading->items =
			arena_grow(reading->arena, reading->items,
		                   reading->capacity * sizeof(found), grown * sizeof(found));
		reading->capacity = grown;
	}
	reading->items[reading->count++] = found;
}

static void note_word(void *context, const struct word *word)
{
	struct reading *reading = context;
	const struct occurrence *before = &reading->previous;
	struct occurrence found = {.word = term_id(word->stem, word->stem_length),
	                           .paper = reading->paper,
	                           .text = word->text,
	                           .length = word->length};
	note(reading, found);
	if (before->length && word->follows && before->word != found.word)
		note(reading, (struct occurrence){
				      .word = before->word,
				      .second = found.word,
				      .paper = reading->paper,
				      .text = before->text,
				      .length = (size_t)(word->text + word->length - before->text),
			      });
	reading->previous = found;
}

/* By words, then by papers; of a paper in the order in which they were read. */
static int compare_occurrences(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	if (x->paper != y->paper)
		return x->paper < y->paper ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

/* The words and phrases of the papers of one side. The words of abstracts are read first: those of
 * titles have capitals. */
static struct reading read_papers(struct arena *arena, struct word_splitter *splitter,
                                  const struct learned_from *papers, size_t count, bool is_positive)
{
	struct reading reading = {.arena = arena, .items = arena_alloc(arena, 0)};
	for (size_t i = 0; i < count; i++) {
		if (papers[i].is_positive != is_positive)
			continue;
		const char *texts[] = {papers[i].paper->text.abstract, papers[i].paper->text.title};
		reading.paper = i;
		for (size_t j = 0; j < ARRAY_LEN(texts); j++) {
			reading.previous.length = 0;
			words_each(splitter, texts[j], note_word, &reading);
		}
	}
	qsort(reading.items, reading.count, sizeof(*reading.items), compare_occurrences);
	return reading;
}

static bool is_same(const struct occurrence *a, const struct occurrence *b)
{
	return a->word == b->word && a->second == b->second;
}

static struct phrases phrases_of(struct arena *arena, const struct reading *reading)
{
	struct phrases phrases = {arena_array(arena, reading->count, sizeof(struct phrase)), 0};
	for (size_t i = 0; i < reading->count; i++) {
		const struct occurrence *found = &reading->items[i];
		bool is_new = i == 0 || !is_same(found, found - 1);
		if (is_new)
			phrases.items[phrases.count++] =
				(struct phrase){found->word, found->second, 0,
			                        found->text, found->length, 0};
		phrases.items[phrases.count - 1].papers +=
			is_new || found->paper != found[-1].paper;
	}
	return phrases;
}

/* The weight of a word in the model; 0: it has none. */
static double weight_of(const struct preference_model *model, uint32_t word)
{
	const struct feature *term = bsearch(&word, model->terms, model->term_count,
	                                     sizeof(*model->terms), term_id_compare);
	return term ? term->weight : 0;
}

static int heaviest_first(const void *a, const void *b)
{
	const struct phrase *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->word > y->word) - (x->word < y->word);
}

/* The words that speak for a side, heaviest first. */
static struct phrases words_of(struct arena *arena, const struct preference_model *model,
                               struct phrases phrases, double sign)
{
	struct phrases words = {arena_array(arena, phrases.count, sizeof(struct phrase)), 0};
	for (size_t i = 0; i < phrases.count; i++) {
		struct phrase word = phrases.items[i];
		word.weight = sign * weight_of(model, word.word);
		if (!word.second && word.papers >= LEARNED_PAPERS_MIN && word.weight > 0)
			words.items[words.count++] = word;
	}
	qsort(words.items, words.count, sizeof(*words.items), heaviest_first);
	return words;
}

/* The word with the one that most papers have beside it, or alone. */
static struct phrase widened(struct phrases phrases, struct phrase word)
{
	struct phrase widest = word;
	size_t most = MAX_OF((word.papers + 1) / 2, (size_t)LEARNED_PAPERS_MIN) - 1;
	for (size_t i = 0; i < phrases.count; i++) {
		const struct phrase *phrase = &phrases.items[i];
		if (!phrase->second || (phrase->word != word.word && phrase->second != word.word))
			continue;
		if (phrase->papers <= most)
			continue;
		most = phrase->papers;
		widest = *phrase;
	}
	return widest;
}

/* In small letters, but for abbreviations, on one line. */
static const char *spelled(struct arena *arena, const struct phrase *phrase)
{
	char *text = arena_strndup(arena, phrase->text, phrase->length);
	for (char *c = text; *c; c++) {
		bool is_first = c == text || !isalnum((unsigned char)c[-1]);
		if (isspace((unsigned char)*c))
			*c = ' ';
		else if (is_first && islower((unsigned char)c[1]))
			*c = (char)tolower((unsigned char)*c);
	}
	return text;
}

static bool shares_word(const struct phrase *a, const struct phrase *b)
{
	return a->word == b->word || a->word == b->second ||
	       (a->second && (a->second == b->word || a->second == b->second));
}

static yyjson_mut_val *side(struct arena *arena, yyjson_mut_doc *doc, struct phrases phrases,
                            struct phrases words)
{
	struct phrase chosen[LEARNED_WORDS_MAX];
	size_t count = 0;
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (size_t i = 0; i < words.count && count < LEARNED_WORDS_MAX; i++) {
		struct phrase phrase = widened(phrases, words.items[i]);
		bool is_said = false;
		for (size_t j = 0; j < count; j++)
			is_said |= shares_word(&phrase, &chosen[j]);
		if (is_said)
			continue;
		chosen[count++] = phrase;
		yyjson_mut_arr_add_str(doc, list, spelled(arena, &phrase));
	}
	return list;
}

const char *learned_words(struct arena *arena, struct word_splitter *splitter,
                          const struct preference_model *model, const struct learned_from *papers,
                          size_t count)
{
	static const struct {
		const char *name;
		bool is_positive;
	} SIDES[] = {{"more", true}, {"less", false}};
	if (model->facts.kind == PREFERENCE_PRIOR)
		return NULL;
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *learned = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(SIDES); i++) {
		struct reading reading =
			read_papers(arena, splitter, papers, count, SIDES[i].is_positive);
		struct phrases phrases = phrases_of(arena, &reading);
		struct phrases words =
			words_of(arena, model, phrases, SIDES[i].is_positive ? 1 : -1);
		yyjson_mut_obj_add_val(doc, learned, SIDES[i].name,
		                       side(arena, doc, phrases, words));
	}
	return json_write_mut(arena, learned, NULL);
}
