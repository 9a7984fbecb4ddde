#include "engine/lexical/spelling.h"

#include "base/base.h"
#include "engine/lexical/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A segment in which each of the words stands in three papers, the earlier ones in more. */
static struct segment *segment_of(const char *const *words, size_t count)
{
	struct builder *builder = builder_new();
	for (size_t word = 0; word < count; word++) {
		for (size_t i = 0; i < SPELLING_LEAST_DF + count - word; i++) {
			char id[64];
			snprintf(id, sizeof(id), "%zu-%zu", word, i);
			builder_add(builder, &(struct document){.id = id,
			                                        .title = words[word],
			                                        .abstract = "",
			                                        .seq = 1});
		}
	}
	builder_add(builder, &(struct document){.id = "rare", .title = "rarwords", .abstract = ""});
	struct segment *segment = builder_finish(builder, 0);
	builder_free(builder);
	return segment;
}

/* Each is a term as it stands, which no stemmer changes. */
static const char *const words[] = {"transform", "attent", "gaussian", "latent",  "network",
                                    "segment",   "cat",    "gpt4abc",  "patient", "parent"};

struct row {
	const char *text;
	const char *nearest; /* NULL: none */
};

static const struct row rows[] = {
	{"transfom", "transform"},   /* one too few */
	{"trannsform", "transform"}, /* one too many */
	{"tranzform", "transform"},  /* a wrong one */
	{"tarnsform", "transform"},  /* two swapped */
	{"tranzfomr", "transform"},  /* two slips in a long word */
	{"gaussan", "gaussian"},
	{"gausan", NULL}, /* two in a short one */
	{"atent", "attent"},
	{"patent", "patient"}, /* the commoner of two that are as near */
	{"nattent", NULL},     /* another first letter */
	{"catt", NULL},        /* too short */
	{"gpt5abc", NULL},     /* no word */
	{"gptabc", NULL},
	{"rarword", NULL}, /* meant by too few */
	{"zzzzzzzz", NULL},
	{"", NULL},
};

static void test_nearest(void **state attr_unused)
{
	struct segment *segment = segment_of(words, ARRAY_LEN(words));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t term = spelling_nearest(segment, rows[i].text, strlen(rows[i].text));
		if (!rows[i].nearest && term == SEGMENT_NONE)
			continue;
		if (!rows[i].nearest || term == SEGMENT_NONE)
			fail_msg("%s", rows[i].text);
		assert_string_equal(segment_term_text(segment, term), rows[i].nearest);
	}
	segment_free(segment);
}

static void test_lengths(void **state attr_unused)
{
	struct segment *segment = segment_of(words, ARRAY_LEN(words));
	char text[200];
	memset(text, 't', sizeof(text));
	for (size_t length = 0; length <= sizeof(text); length++)
		assert_int_equal(spelling_nearest(segment, text, length), SEGMENT_NONE);
	segment_free(segment);
	segment = segment_of(NULL, 0);
	assert_int_equal(spelling_nearest(segment, "transform", 9), SEGMENT_NONE);
	segment_free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_lengths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
