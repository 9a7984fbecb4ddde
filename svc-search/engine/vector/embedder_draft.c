#include "engine/vector/embedder_draft.h"

#include "engine/text/intern.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <stdio.h>

static uint32_t strings_length(const struct sample *sample)
{
	size_t length = 1;
	for (uint32_t i = 0; i < sample->term_count; i++)
		length += strlen(sample_term_text(sample, i)) + 1;
	return (uint32_t)(length + 3) / 4 * 4;
}

static void write_strings(const struct sample *sample, uint32_t *offsets, uint32_t *slots,
                          uint32_t slot_count, char *strings)
{
	size_t length = 0;
	for (uint32_t i = 0; i < sample->term_count; i++) {
		const char *text = sample_term_text(sample, i);
		size_t size = strlen(text) + 1;
		size_t at = intern_hash(text, size - 1) & (slot_count - 1);
		while (slots[at] != 0)
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
		offsets[i] = (uint32_t)length;
		memcpy(strings + length, text, size);
		length += size;
	}
}

void embedder_draft_begin(struct embedder_draft *draft, const struct sample *sample,
                          const char *method, uint32_t dimension)
{
	uint32_t count = sample->term_count;
	struct embedder_header header = {.magic = EMBEDDER_MAGIC,
	                                 .dimension = dimension,
	                                 .stride = (uint32_t)simd_padded(dimension),
	                                 .term_count = count,
	                                 .slot_count = 16,
	                                 .trained_on = sample->corpus_count,
	                                 .strings_length = strings_length(sample)};
	require(strlen(method) < sizeof(header.method));
	snprintf(header.method, sizeof(header.method), "%s", method);
	while (header.slot_count < count * 2)
		header.slot_count *= 2;
	header.length = sizeof(header) + (uint64_t)count * (header.stride + 3 * sizeof(uint32_t)) +
	                header.slot_count * sizeof(uint32_t) + header.strings_length;
	draft->blob = mem_array(header.length, 1);
	memcpy(draft->blob, &header, sizeof(header));
	draft->stride = header.stride;
	draft->rows = (int8_t *)draft->blob + sizeof(header);
	draft->scales = (float *)(draft->rows + (size_t)count * header.stride);
	draft->weights = draft->scales + count;
	uint32_t *offsets = (uint32_t *)(draft->weights + count);
	write_strings(sample, offsets, offsets + count, header.slot_count,
	              (char *)(offsets + count + header.slot_count));
}

struct embedder *embedder_draft_end(struct embedder_draft *draft)
{
	const struct embedder_header *header = (const struct embedder_header *)draft->blob;
	struct embedder *embedder = embedder_open(draft->blob, header->length, true);
	require(embedder);
	return embedder;
}
