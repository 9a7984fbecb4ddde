#include "engine/lexical/analyzer.h"

#include "engine/text/mem.h"

/* Stems that a tokenizer caches: enough for most words of a corpus, in 2 MB. */
#define STEM_CACHE_SLOTS 32768

struct analyzer *analyzer_new(int threads)
{
	struct analyzer *analyzer = mem_array(1, sizeof(*analyzer));
	require(threads > 0);
	analyzer->parallel = threads > 1 ? parallel_new(threads) : NULL;
	analyzer->count = (size_t)threads;
	analyzer->tokenizers = mem_array(analyzer->count, sizeof(struct tokenizer *));
	for (size_t i = 0; i < analyzer->count; i++)
		analyzer->tokenizers[i] = tokenizer_new(STEM_CACHE_SLOTS);
	return analyzer;
}

void analyzer_free(struct analyzer *analyzer)
{
	if (!analyzer)
		return;
	if (analyzer->parallel)
		parallel_free(analyzer->parallel);
	for (size_t i = 0; i < analyzer->count; i++)
		tokenizer_free(analyzer->tokenizers[i]);
	free(analyzer->tokenizers);
	free(analyzer);
}
