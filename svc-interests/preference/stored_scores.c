#include "preference/stored_scores.h"

#include "paper/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores, and bytes of an id, at most: no search finds more, and an id has 64 characters. */
#define SCORES_MAX 1000
#define ID_MAX     256

/* Bytes of a score at least: an id of one byte, its length, the version, the number. */
#define SCORE_BYTES 11

static int by_id(const void *a, const void *b)
{
	const struct stored_score *left = a, *right = b;
	return strcmp(left->arxiv_id, right->arxiv_id);
}

/* Layout: trust, number of scores, then of each the id with its length, twice the version and 1 for
 * a vector, and the score. */
struct buf stored_scores_write(struct arena *arena, struct stored_scores *scores)
{
	struct buf out = {.arena = arena};
	if (scores->count > 0)
		qsort(scores->all, scores->count, sizeof(*scores->all), by_id);
	write_double(&out, scores->trust);
	write_uint(&out, scores->count);
	for (size_t i = 0; i < scores->count; i++) {
		const struct stored_score *score = &scores->all[i];
		size_t length = strlen(score->arxiv_id);
		write_uint(&out, length);
		buf_add(&out, score->arxiv_id, length);
		write_uint(&out, (uint64_t)score->version << 1 | score->has_vector);
		write_double(&out, score->score);
	}
	return out;
}

static const char *read_id(struct arena *arena, struct reader *in)
{
	size_t length = read_count(in, ID_MAX, 1);
	const char *id = arena_strndup(arena, (const char *)in->data + in->offset, length);
	in->offset += length;
	return id;
}

struct stored_scores stored_scores_read(struct arena *arena, const void *data, size_t length)
{
	struct reader in = {.data = data, .length = length};
	struct stored_scores scores = {.trust = read_double(&in)};
	scores.count = read_count(&in, SCORES_MAX, SCORE_BYTES);
	scores.all = arena_array(arena, scores.count, sizeof(*scores.all));
	for (size_t i = 0; i < scores.count && !in.failed; i++) {
		struct stored_score *score = &scores.all[i];
		score->arxiv_id = read_id(arena, &in);
		uint64_t version = read_uint(&in, INT64_MAX);
		score->version = (int64_t)(version >> 1);
		score->has_vector = version & 1;
		score->score = read_double(&in);
		in.failed = in.failed || (i > 0 && by_id(score - 1, score) >= 0);
	}
	if (in.failed || in.offset != in.length)
		return (struct stored_scores){0};
	return scores;
}

double stored_scores_find(const struct stored_scores *scores, const char *arxiv_id, int64_t version,
                          bool has_vector)
{
	const struct stored_score wanted = {.arxiv_id = arxiv_id};
	const struct stored_score *found =
		scores->count > 0
			? bsearch(&wanted, scores->all, scores->count, sizeof(wanted), by_id)
			: NULL;
	bool is_same = found && found->version == version && found->has_vector == has_vector;
	return is_same ? found->score : NAN;
}
