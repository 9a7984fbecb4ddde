/* preference_load(): any bytes are refused, or are a model that scores papers and that can be saved
 * and loaded again unchanged. The checksum is corrected, because almost every input would be
 * refused otherwise. */
#include "paper/codec.h"

#include "crypto/crypto.h"
#include "fuzz.h"
#include "preference/preference.h"

#include <string.h>

static void check_score(struct arena *arena, const struct preference_model *model)
{
	static const float dense[] = {0.6f, -0.8f};
	struct paper_text paper = {.title = "Neural networks on graphs",
	                           .abstract = "We train deep neural networks.",
	                           .dense = dense,
	                           .dense_length = ARRAY_LEN(dense),
	                           .dense_space = 1};
	struct bag *bag = bag_new(arena, word_splitter_new(arena), &paper);
	struct features *features = features_new(arena, preference_frequencies(model), bag);
	double score = preference_score(model, features);
	require(score >= 0 && score <= 1);
	double trust = preference_trust(model);
	require(trust >= 0 && trust <= 1);
}

static void check_model(struct arena *arena, const struct preference_model *model)
{
	check_score(arena, model);
	struct buf saved = preference_save(arena, model);
	struct preference_model *loaded = preference_load(arena, saved.data, saved.length);
	require(loaded);
	struct buf again = preference_save(arena, loaded);
	require(again.length == saved.length && memcmp(again.data, saved.data, saved.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	preference_load(arena, data, size);
	struct buf corrected = {.arena = arena};
	if (size >= sizeof(uint32_t)) {
		buf_add(&corrected, data, size - sizeof(uint32_t));
		write_u32(&corrected, crc32_of(corrected.data, corrected.length));
	}
	struct preference_model *model = preference_load(arena, corrected.data, corrected.length);
	if (model)
		check_model(arena, model);
	arena_free(arena);
	return 0;
}
