#include "engine/vector/checkpoint.h"

#include "engine/text/file.h"
#include "engine/text/mem.h"
#include "engine/vector/lsa.h"

#include <zlib.h>

#include <stdio.h>

/* "extrain" and a format number. */
#define MAGIC UINT64_C(0x016E696172747865)

struct header {
	uint64_t magic;
	uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES];
	uint32_t term_count;
	uint32_t dimension;
	uint32_t epochs;
	uint32_t crc; /* of what follows, and of the header with this field set to 0 */
};

struct checkpoint {
	struct header header;
	const struct contrastive_state *state;
};

static size_t vectors_bytes(const struct term_vectors *vectors)
{
	return (size_t)vectors->count * vectors->dimension * sizeof(float);
}

static uint32_t crc_of(struct header header, const struct contrastive_state *state)
{
	const struct term_vectors *vectors = &state->vectors;
	header.crc = 0;
	uLong crc = crc32_z(0, (const Bytef *)&header, sizeof(header));
	crc = crc32_z(crc, (const Bytef *)vectors->rows, vectors_bytes(vectors));
	return (uint32_t)crc32_z(crc, (const Bytef *)state->squares,
	                         vectors->count * sizeof(float));
}

static bool write_content(int file, const void *ctx)
{
	const struct checkpoint *checkpoint = ctx;
	const struct term_vectors *vectors = &checkpoint->state->vectors;
	return file_write(file, &checkpoint->header, sizeof(checkpoint->header)) &&
	       file_write(file, vectors->rows, vectors_bytes(vectors)) &&
	       file_write(file, checkpoint->state->squares, vectors->count * sizeof(float));
}

bool checkpoint_save(const char *path, const uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES],
                     const struct contrastive_state *state)
{
	struct checkpoint checkpoint = {
		.header = {.magic = MAGIC,
	                   .term_count = state->vectors.count,
	                   .dimension = state->vectors.dimension,
	                   .epochs = state->epochs},
		.state = state,
	};
	memcpy(checkpoint.header.fingerprint, fingerprint, SAMPLE_FINGERPRINT_BYTES);
	checkpoint.header.crc = crc_of(checkpoint.header, state);
	return file_replace(path, write_content, &checkpoint);
}

/* Whether the file has the state of this training; reads it. */
static bool read_state(FILE *file, const uint8_t *fingerprint, uint32_t term_count,
                       struct contrastive_state *state)
{
	struct header header;
	if (fread(&header, sizeof(header), 1, file) != 1 || header.magic != MAGIC ||
	    memcmp(header.fingerprint, fingerprint, sizeof(header.fingerprint)) != 0 ||
	    header.term_count != term_count || header.dimension == 0 ||
	    header.dimension > LSA_DIMENSION)
		return false;
	state->epochs = header.epochs;
	state->vectors.count = term_count;
	state->vectors.dimension = header.dimension;
	state->vectors.rows = mem_array((size_t)term_count * header.dimension, sizeof(float));
	state->squares = mem_array(term_count, sizeof(float));
	size_t bytes = vectors_bytes(&state->vectors);
	return fread(state->vectors.rows, 1, bytes, file) == bytes &&
	       fread(state->squares, sizeof(float), term_count, file) == term_count &&
	       crc_of(header, state) == header.crc;
}

bool checkpoint_load(const char *path, const uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES],
                     uint32_t term_count, struct contrastive_state *ret_state)
{
	struct contrastive_state state = {0};
	FILE *file = fopen(path, "rbe");
	if (!file)
		return false;
	bool is_read = read_state(file, fingerprint, term_count, &state);
	fclose(file);
	if (is_read)
		*ret_state = state;
	else
		contrastive_end(&state);
	return is_read;
}
