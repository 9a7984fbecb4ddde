#include "embeddings/embedding_answer.h"

#include "base/json.h"
#include "engine/vector/embedder.h"

#include <math.h>

/* Fill `out` from a list of numbers. */
static const char *read_vector(yyjson_val *list, float *out, uint32_t dimension)
{
	double greatest = 0;
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item) {
		if (!yyjson_is_num(item))
			return "a vector has an element that is no number";
		greatest = fmax(greatest, fabs(yyjson_get_num(item)));
	}
	if (!(greatest > 0) || isinf(greatest))
		return "a vector has no direction";
	yyjson_arr_foreach (list, index, count, item)
		out[index] = (float)(yyjson_get_num(item) / greatest);
	embedder_normalise(out, dimension);
	return NULL;
}

/* Which text the entry is for; `count` where it is none of them. */
static size_t place_of(yyjson_val *entry, size_t place, size_t count)
{
	yyjson_val *index = json_get(entry, "index");
	if (!index)
		return place;
	return yyjson_is_uint(index) && yyjson_get_uint(index) < count ? yyjson_get_uint(index)
	                                                               : count;
}

static const char *read_entries(struct arena *arena, yyjson_val *data, size_t texts,
                                struct embedding_answer *answer)
{
	bool *is_read = arena_array(arena, texts, sizeof(*is_read));
	size_t place, count;
	yyjson_val *entry;
	yyjson_arr_foreach (data, place, count, entry) {
		yyjson_val *list = json_get(entry, "embedding");
		size_t text = place_of(entry, place, texts);
		if (text == texts || is_read[text])
			return "its entries are not one for each text";
		if (yyjson_arr_size(list) != answer->dimension)
			return "its vectors are not of one length";
		const char *why = read_vector(list, answer->vectors + text * answer->dimension,
		                              answer->dimension);
		if (why)
			return why;
		is_read[text] = true;
	}
	return NULL;
}

const char *embedding_answer_read(struct arena *arena, const char *body, size_t length,
                                  size_t count, struct embedding_answer *ret_answer)
{
	yyjson_val *root = NULL;
	if (json_parse(arena, body, length, &root, NULL))
		return "it is not JSON";
	yyjson_val *data = json_get(root, "data");
	if (yyjson_arr_size(data) != count)
		return arena_printf(arena, "it has %zu vectors for %zu texts",
		                    yyjson_arr_size(data), count);
	size_t dimension = yyjson_arr_size(json_get(yyjson_arr_get_first(data), "embedding"));
	if (dimension == 0 || dimension > EMBEDDING_MAX_DIMENSION)
		return arena_printf(arena, "its vectors have %zu elements, not 1 to %d", dimension,
		                    EMBEDDING_MAX_DIMENSION);
	struct embedding_answer answer = {
		.vectors = arena_array(arena, count * dimension, sizeof(float)),
		.dimension = (uint32_t)dimension,
	};
	const char *why = read_entries(arena, data, count, &answer);
	if (!why)
		*ret_answer = answer;
	return why;
}
