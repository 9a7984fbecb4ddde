/* embedding_response_read(): any input is either read as vectors of one dimension and of length 1,
 * or refused with a reason. The first byte gives the number of texts. */
#include "embeddings/embedding_response.h"

#include "base/base.h"
#include "fuzz.h"

#include <math.h>
#include <string.h>

static void check_vector(const float *vector, uint32_t dimension)
{
	float squares = 0;
	for (uint32_t i = 0; i < dimension; i++)
		squares += vector[i] * vector[i];
	require(fabsf(squares - 1) < 0.01f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct embedding_response answer = {0};
	size_t count = size > 0 ? data[0] % 8 + 1u : 1;
	const char *body = (const char *)data + (size > 0);
	const char *reason =
		embedding_response_read(arena, body, size - (size > 0), count, &answer);
	if (reason) {
		require(strlen(reason) > 0 && !answer.vectors);
	} else {
		require(answer.dimension > 0 && answer.dimension <= EMBEDDING_MAX_DIMENSION);
		for (size_t i = 0; i < count; i++)
			check_vector(answer.vectors + i * answer.dimension, answer.dimension);
	}
	arena_free(arena);
	return 0;
}
