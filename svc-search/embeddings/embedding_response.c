#include "embeddings/embedding_response.h"

#include "engine/vector/embedder.h"
#include "json/json.h"

#include <math.h>

#define VALUES_AROUND 64 /* of the answer, and of each entry, beside the elements of vectors */

/* Read a list of numbers into `out`, scaled to length 1. Divides by the greatest element first, so
 * that no square overflows. Returns NULL, or the reason for refusing it. */
static const char *read_vector(yyjson_val *list, float *out, uint32_t dimension)
{
	double greatest = 0;
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item) {
		if (!yyjson_is_num(item))
			return "a vector has an element that is not a number";
		greatest = fmax(greatest, fabs(yyjson_get_num(item)));
	}
	if (!(greatest > 0) || isinf(greatest))
		return "a vector is zero or not finite";
	yyjson_arr_foreach (list, index, count, item)
		out[index] = (float)(yyjson_get_num(item) / greatest);
	embedder_normalise(out, dimension);
	return NULL;
}

/* Which of `count` texts the entry at `position` is for; `count`: its index is invalid. */
static size_t text_of(yyjson_val *entry, size_t position, size_t count)
{
	int64_t index;
	if (!json_get(entry, "index"))
		return position;
	bool is_valid = json_is_whole(json_get(entry, "index"), &index) && index >= 0;
	return is_valid && (size_t)index < count ? (size_t)index : count;
}

static const char *read_entries(struct arena *arena, yyjson_val *data, size_t texts,
                                struct embedding_response *answer)
{
	bool *is_read = arena_array(arena, texts, sizeof(*is_read));
	size_t position, count;
	yyjson_val *entry;
	yyjson_arr_foreach (data, position, count, entry) {
		yyjson_val *list = json_get(entry, "embedding");
		size_t text = text_of(entry, position, texts);
		if (text == texts || is_read[text])
			return "its entries do not match the texts";
		if (yyjson_arr_size(list) != answer->dimension)
			return "its vectors differ in dimension";
		const char *reason = read_vector(list, answer->vectors + text * answer->dimension,
		                                 answer->dimension);
		if (reason)
			return reason;
		is_read[text] = true;
	}
	return NULL;
}

const char *embedding_response_read(struct arena *arena, const char *body, size_t length,
                                    size_t count, struct embedding_response *ret_answer)
{
	yyjson_val *root = NULL;
	const char *why;
	size_t values_max = VALUES_AROUND + count * (EMBEDDING_MAX_DIMENSION + VALUES_AROUND);
	if (json_parse_lenient(arena, body, length, values_max, &root, &why))
		return arena_printf(arena, "it %s", why);
	yyjson_val *data = json_get(root, "data");
	if (yyjson_arr_size(data) != count)
		return arena_printf(arena, "it has %zu vectors for %zu texts",
		                    yyjson_arr_size(data), count);
	size_t dimension = yyjson_arr_size(json_get(yyjson_arr_get_first(data), "embedding"));
	if (dimension == 0 || dimension > EMBEDDING_MAX_DIMENSION)
		return arena_printf(arena, "its vectors have %zu elements, not 1 to %d", dimension,
		                    EMBEDDING_MAX_DIMENSION);
	struct embedding_response answer = {
		.vectors = arena_array(arena, count * dimension, sizeof(float)),
		.dimension = (uint32_t)dimension,
	};
	const char *reason = read_entries(arena, data, count, &answer);
	if (!reason)
		*ret_answer = answer;
	return reason;
}
