#include "engine/lexical/spelling.h"

#include "corpus.h"
#include "engine/text/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A segment in which each word is in more than SPELLING_MIN_DF documents, and earlier words in more
 * than later ones. */
static struct segment *segment_of(const char *const *words, size_t count)
{
	struct builder *builder = builder_new(0);
	for (size_t word = 0; word < count; word++) {
		for (size_t i = 0; i < SPELLING_MIN_DF + count - word; i++) {
			char id[64];
			snprintf(id, sizeof(id), "%zu-%zu", word, i);
			add_document(builder, &(struct document){.id = id,
			                                         .title = words[word],
			                                         .abstract = "",
			                                         .seq = 1});
		}
	}
	add_document(builder,
	             &(struct document){.id = "rare", .title = "rarwords", .abstract = ""});
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	return segment;
}

/* Words that the stemmer does not change. */
static const char *const words[] = {"transform", "attent", "gaussian", "latent",  "network",
                                    "segment",   "cat",    "gpt4abc",  "patient", "parent"};

static uint32_t df_of(const char *text, size_t length, const void *ctx)
{
	const struct segment *segment = ctx;
	return segment->terms[segment_find_term(segment, text, length)].df;
}

static const char *nearest_to(const struct segment *segment, const char *text, size_t length)
{
	return spelling_nearest(&segment, 1, text, length, df_of, segment);
}

struct row {
	const char *text;
	const char *nearest; /* NULL: none */
};

static const struct row rows[] = {
	{"transfom", "transform"},   /* one letter missing */
	{"trannsform", "transform"}, /* one extra letter */
	{"tranzform", "transform"},  /* one wrong letter */
	{"tarnsform", "transform"},  /* two letters swapped */
	{"tranzfomr", "transform"},  /* two edits in a long word */
	{"gaussan", "gaussian"},
	{"gausan", NULL}, /* two edits in a short word */
	{"atent", "attent"},
	{"patent", "patient"}, /* the more frequent of two at the same distance */
	{"nattent", NULL},     /* another first letter */
	{"catt", NULL},        /* too short */
	{"gpt5abc", NULL},     /* not all letters */
	{"gptabc", NULL},
	{"rarword", NULL}, /* in too few documents */
	{"zzzzzzzz", NULL},
	{"", NULL},
};

static void nearest_term_is_found(void **state attr_unused)
{
	struct segment *segment = segment_of(words, ARRAY_LEN(words));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *term = nearest_to(segment, rows[i].text, strlen(rows[i].text));
		if (!rows[i].nearest && !term)
			continue;
		if (!rows[i].nearest || !term)
			fail_msg("%s", rows[i].text);
		assert_string_equal(term, rows[i].nearest);
	}
	segment_free(segment);
}

static void every_length_is_accepted(void **state attr_unused)
{
	struct segment *segment = segment_of(words, ARRAY_LEN(words));
	char text[200];
	memset(text, 't', sizeof(text));
	for (size_t length = 0; length <= sizeof(text); length++)
		assert_null(nearest_to(segment, text, length));
	segment_free(segment);
	segment = segment_of(NULL, 0);
	assert_null(nearest_to(segment, "transform", 9));
	segment_free(segment);
}

/* --- Against a comparison of all terms -------------------------------------------------------- */

/* A vocabulary in which many words are near each other, in some segments. */
struct vocabulary {
	struct arena *arena;
	struct random_source noise;
	char *words[500];
	struct segment *segments[4];
};

static uint32_t df_in_all(const char *text, size_t length, const void *ctx)
{
	const struct vocabulary *vocabulary = ctx;
	uint32_t df = 0;
	for (size_t i = 0; i < ARRAY_LEN(vocabulary->segments); i++) {
		const struct segment *segment = vocabulary->segments[i];
		uint32_t number = segment_find_term(segment, text, length);
		df += number != SEGMENT_NONE ? segment->terms[number].df : 0;
	}
	return df;
}

static char random_letter(struct random_source *noise)
{
	return "abcde"[random_below(noise, 5)];
}

static char *random_word(struct vocabulary *vocabulary)
{
	size_t length = 5 + random_below(&vocabulary->noise, 7);
	char *word = arena_alloc(vocabulary->arena, length + 1);
	for (size_t i = 0; i < length; i++)
		word[i] = random_letter(&vocabulary->noise);
	return word;
}

/* One of the words, the first ones more often than the last ones. */
static char *pick_word(struct vocabulary *vocabulary)
{
	uint32_t number = ARRAY_LEN(vocabulary->words) - 1;
	for (int i = 0; i < 3; i++)
		number = random_below(&vocabulary->noise, 1 + number);
	return vocabulary->words[number];
}

/* Documents of three words. */
static struct segment *random_segment(struct vocabulary *vocabulary, uint32_t documents)
{
	struct builder *builder = builder_new(0);
	for (uint32_t i = 0; i < documents; i++) {
		struct buf title = {.arena = vocabulary->arena};
		for (int word = 0; word < 3; word++)
			buf_printf(&title, "%s ", pick_word(vocabulary));
		const char *id = arena_printf(vocabulary->arena, "%u", i);
		add_document(builder,
		             &(struct document){.id = id, .title = title.data, .abstract = ""});
	}
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	return segment;
}

static void make_vocabulary(struct vocabulary *vocabulary, const uint32_t *documents)
{
	*vocabulary = (struct vocabulary){.arena = arena_new(), .noise = {7}};
	for (size_t i = 0; i < ARRAY_LEN(vocabulary->words); i++)
		vocabulary->words[i] = random_word(vocabulary);
	for (size_t i = 0; i < ARRAY_LEN(vocabulary->segments); i++)
		vocabulary->segments[i] = random_segment(vocabulary, documents[i]);
}

static void free_vocabulary(struct vocabulary *vocabulary)
{
	for (size_t i = 0; i < ARRAY_LEN(vocabulary->segments); i++)
		segment_free(vocabulary->segments[i]);
	arena_free(vocabulary->arena);
}

/* The edit distance by its definition, of the beginnings of two words; above `most`: too much. */
static int distance(const char *a, size_t m, const char *b, size_t n, int most)
{
	int least = most + 1;
	if (most < 0 || m == 0 || n == 0)
		return most < 0 ? least : (int)(m + n);
	if (a[m - 1] == b[n - 1])
		return distance(a, m - 1, b, n - 1, most);
	least = MIN_OF(least, 1 + distance(a, m - 1, b, n - 1, most - 1));
	least = MIN_OF(least, 1 + distance(a, m - 1, b, n, most - 1));
	least = MIN_OF(least, 1 + distance(a, m, b, n - 1, most - 1));
	if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1])
		least = MIN_OF(least, 1 + distance(a, m - 2, b, n - 2, most - 1));
	return least;
}

/* The rank of a term as a correction, greatest is best; 0: it is none. */
static long rank_of(const struct vocabulary *vocabulary, const char *text, const char *term)
{
	size_t length = strlen(text), term_length = strlen(term);
	int most = length >= SPELLING_TWO_EDITS ? 2 : 1;
	int edits = distance(text, length, term, term_length, most);
	long df = df_in_all(term, term_length, vocabulary);
	bool is_word = strspn(term, "abcdefghijklmnopqrstuvwxyz") == term_length;
	if (term[0] != text[0] || !is_word || edits == 0 || edits > most || df < SPELLING_MIN_DF)
		return 0;
	return (3 - edits) * 1000000 + df;
}

static const char *nearest_of_all(const struct vocabulary *vocabulary, const char *text)
{
	const char *best = NULL;
	long best_rank = 0;
	for (size_t i = 0; i < ARRAY_LEN(vocabulary->segments); i++) {
		const struct segment *segment = vocabulary->segments[i];
		for (uint32_t number = 0; number < segment->term_count; number++) {
			const char *term = segment_term_text(segment, number);
			long rank = rank_of(vocabulary, text, term);
			if (rank > best_rank ||
			    (rank > 0 && rank == best_rank && strcmp(term, best) < 0)) {
				best = term;
				best_rank = rank;
			}
		}
	}
	return best;
}

/* A word of the vocabulary with one or two wrong letters. */
static char *misspell(struct vocabulary *vocabulary)
{
	struct random_source *noise = &vocabulary->noise;
	char *word = arena_strdup(vocabulary->arena, pick_word(vocabulary));
	for (uint32_t edits = 1 + random_below(noise, 2); edits > 0; edits--)
		word[1 + random_below(noise, (uint32_t)strlen(word) - 1)] = random_letter(noise);
	return word;
}

/* Correct words that are misspelled. Returns how many have a correction. */
static int correct_words(struct vocabulary *vocabulary, int count)
{
	const struct segment *const *segments = (const struct segment *const *)vocabulary->segments;
	int found = 0;
	for (int i = 0; i < count; i++) {
		const char *text = misspell(vocabulary);
		const char *expected = nearest_of_all(vocabulary, text);
		const char *term = spelling_nearest(segments, ARRAY_LEN(vocabulary->segments), text,
		                                    strlen(text), df_in_all, vocabulary);
		if (!expected != !term || (term && strcmp(term, expected) != 0))
			fail_msg("%s: %s, not %s", text, term, expected);
		found += term != NULL;
	}
	return found;
}

static void nearest_of_all_terms_is_found(void **state attr_unused)
{
	static const uint32_t documents[][4] = {{40, 900, 150, 40}, {3000, 1, 1, 1}};
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		struct vocabulary vocabulary;
		make_vocabulary(&vocabulary, documents[i]);
		assert_in_range(correct_words(&vocabulary, 300), 100, 280);
		free_vocabulary(&vocabulary);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_term_is_found),
		cmocka_unit_test(every_length_is_accepted),
		cmocka_unit_test(nearest_of_all_terms_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
