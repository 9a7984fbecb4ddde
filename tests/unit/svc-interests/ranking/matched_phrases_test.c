#include "ranking/matched_phrases.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	struct phrase_source source;
	const char *terms[8];
	const char *phrases; /* `+` marks a phrase of the title, `-` one of the abstract */
} rows[] = {
	{{"Semantic KV-Cache Compression", "We test eviction."},
         {"cache", "KV", "eviction"},
         "+KV-Cache -eviction"},
	{{"Caching", "A KV cache, and a cache of KV pairs."}, {"cache", "KV"}, "+cache -KV"},
	{{"Fast Retrieval", "Of latency and costs; recall."},
         {"retrieval", "retrieve", "the", "latency", "cost", "recall"},
         "+retrieval -latency -cost -recall"},
	{{"Bird's Eye View", NULL}, {"eye", "bird"}, "+Bird's Eye"},
	{{"With FlashAttention", "KVCache is no RAGO."},
         {"attention", "KV", "RAG", "flash"},
         "+attention -KV +flash"},
	{{"A and B", "io-aware kernels, aware of io"}, {"io-aware"}, "-io-aware"},
	{{"One two three four five", NULL},
         {"one", "two", "three", "four", "five"},
         "+One two three four +five"},
	{{"Title", "Abstract"}, {"nowhere"}, ""},
	{{NULL, NULL}, {"nowhere"}, ""},
	{{"say \"cheese\"", NULL}, {"say \"cheese\"\n now"}, ""},
	{{"say \"cheese\"", NULL}, {"say \"cheese\""}, "+say 'cheese'"},
	{{"a1 b c1", NULL}, {""}, ""},
};

static void test_phrases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		struct buf out = {.arena = arena};
		size_t count = 0;
		while (count < ARRAY_LEN(rows[i].terms) && rows[i].terms[count])
			count++;
		struct phrases phrases = matched_phrases(arena, word_splitter_new(arena),
		                                         rows[i].terms, count, rows[i].source);
		buf_puts(&out, "");
		for (size_t j = 0; j < phrases.count; j++)
			buf_printf(&out, "%s%s%s", j ? " " : "",
			           phrases.items[j].in_title ? "+" : "-", phrases.items[j].text);
		assert_string_equal(out.data, rows[i].phrases);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phrases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
