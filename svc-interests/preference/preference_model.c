#include "preference/preference_model.h"

#include "crypto/crypto.h"

#include <math.h>

void preference_index(struct arena *arena, struct preference_model *model)
{
	model->index =
		term_index_new(arena, model->terms, model->term_count, sizeof(*model->terms));
}

static double weight_of(const struct preference_model *model, uint32_t id)
{
	const struct feature *term = term_index_find(&model->index, id);
	return term ? term->weight : 0;
}

struct preference_parts preference_parts_of(const struct preference_model *model,
                                            const struct features *features)
{
	struct preference_parts parts = {.bias = model->bias,
	                                 .slope = model->calibration.slope,
	                                 .offset = model->calibration.offset};
	for (size_t i = 0; i < features->count; i++)
		parts.terms += weight_of(model, features->terms[i].id) * features->terms[i].weight;
	if (features->dense_length != model->dense_length ||
	    features->dense_space != model->dense_space)
		return parts;
	for (uint32_t i = 0; i < model->dense_length; i++)
		parts.dense += (double)model->dense[i] * features->dense[i];
	return parts;
}

double preference_raw_score(const struct preference_model *model, const struct features *features)
{
	struct preference_parts parts = preference_parts_of(model, features);
	return parts.terms + parts.dense + parts.bias;
}

const double *preference_coefficients(const struct preference_model *model)
{
	return model->coefficients;
}

double preference_score(const struct preference_model *model, const struct features *features)
{
	return calibration_apply(&model->calibration, preference_raw_score(model, features));
}

struct preference_facts preference_facts(const struct preference_model *model)
{
	return model->facts;
}

double preference_trust(const struct preference_model *model)
{
	return fmax(0, 2 * model->facts.auc - 1);
}

const struct frequency_table *preference_frequencies(const struct preference_model *model)
{
	return model->frequencies;
}

/* Layout: format, kind, examples, positives, auc, slope, offset, bias, terms as (difference to the
 * previous id, weight), dense space, dense length, dense vector, frequency table, CRC-32 of all
 * that. */
struct buf preference_save(struct arena *arena, const struct preference_model *model)
{
	struct buf out = {.arena = arena};
	write_uint(&out, PREFERENCE_FORMAT);
	write_uint(&out, model->facts.kind);
	write_uint(&out, model->facts.examples);
	write_uint(&out, model->facts.positives);
	write_double(&out, model->facts.auc);
	write_double(&out, model->calibration.slope);
	write_double(&out, model->calibration.offset);
	write_double(&out, model->bias);
	write_uint(&out, model->term_count);
	for (size_t i = 0; i < model->term_count; i++) {
		write_uint(&out, model->terms[i].id - (i > 0 ? model->terms[i - 1].id : 0));
		write_float(&out, model->terms[i].weight);
	}
	write_uint(&out, model->dense_space);
	write_uint(&out, model->dense_length);
	for (uint32_t i = 0; i < model->dense_length; i++)
		write_float(&out, model->dense[i]);
	frequency_write(model->frequencies, &out);
	write_u32(&out, crc32_of(out.data, out.length));
	return out;
}

static void read_terms(struct arena *arena, struct reader *in, struct preference_model *model)
{
	model->term_count = read_count(in, PREFERENCE_MAX_FEATURES, 5);
	model->terms = arena_array(arena, model->term_count, sizeof(*model->terms));
	uint32_t previous = 0;
	for (size_t i = 0; i < model->term_count; i++) {
		uint64_t step = read_uint(in, UINT32_MAX - previous);
		if (step == 0 && i > 0)
			in->failed = true;
		previous += (uint32_t)step;
		model->terms[i].id = previous;
		model->terms[i].weight = read_float(in);
	}
}

static void read_dense(struct arena *arena, struct reader *in, struct preference_model *model)
{
	model->dense_space = read_uint(in, UINT64_MAX);
	model->dense_length = (uint32_t)read_count(in, FEATURES_DENSE_MAX, 4);
	model->dense = arena_array(arena, model->dense_length, sizeof(*model->dense));
	for (uint32_t i = 0; i < model->dense_length; i++)
		model->dense[i] = read_float(in);
}

static void read_facts(struct reader *in, struct preference_model *model)
{
	if (read_uint(in, UINT64_MAX) != PREFERENCE_FORMAT)
		in->failed = true;
	model->facts.kind = (enum preference_kind)read_uint(in, PREFERENCE_LOGISTIC);
	model->facts.examples = (uint32_t)read_uint(in, UINT32_MAX);
	model->facts.positives = (uint32_t)read_uint(in, model->facts.examples);
	model->facts.auc = read_double(in);
	model->calibration.slope = read_double(in);
	model->calibration.offset = read_double(in);
	model->bias = read_double(in);
	if (!(model->calibration.slope > 0) || model->facts.auc < 0 || model->facts.auc > 1)
		in->failed = true;
}

/* A reader of the bytes before the checksum; `failed` when the checksum is wrong. */
static struct reader open_checked(const void *data, size_t length)
{
	struct reader whole = {.data = data, .length = length};
	if (length < sizeof(uint32_t)) {
		whole.failed = true;
		return whole;
	}
	whole.offset = length - sizeof(uint32_t);
	uint32_t expected = read_u32(&whole);
	size_t body = length - sizeof(uint32_t);
	return (struct reader){.data = data,
	                       .length = body,
	                       .failed = expected != crc32_of(data, body)};
}

struct preference_model *preference_load(struct arena *arena, const void *data, size_t length)
{
	struct reader in = open_checked(data, length);
	if (in.failed)
		return NULL;
	struct preference_model *model = arena_new_of(arena, struct preference_model);
	read_facts(&in, model);
	read_terms(arena, &in, model);
	read_dense(arena, &in, model);
	model->frequencies = frequency_read(arena, &in);
	if (in.failed || in.offset != in.length)
		return NULL;
	preference_index(arena, model);
	return model;
}
