#include "engine/lexical/spelling.h"

#include "base/base.h"
#include "engine/lexical/builder.h"

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
			builder_add(builder, &(struct document){.id = id,
			                                        .title = words[word],
			                                        .abstract = "",
			                                        .seq = 1});
		}
	}
	builder_add(builder, &(struct document){.id = "rare", .title = "rarwords", .abstract = ""});
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_term_is_found),
		cmocka_unit_test(every_length_is_accepted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
