#include "paper/paper.h"

#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

#define DAY_MS 86400000.0

/* FNV-1a hash of the embedder's name: `dense_space` of the features. */
static uint64_t space_of(const char *model)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (; model && *model; model++)
		hash = (hash ^ (unsigned char)*model) * UINT64_C(1099511628211);
	return hash;
}

static double published_ms(yyjson_val *row)
{
	const char *text = json_get_text(row, "published_at");
	int64_t time_ms;
	return text && time_parse(text, strlen(text), &time_ms) ? (double)time_ms : NAN;
}

double paper_age_days(double published_ms, int64_t now_ms)
{
	return isnan(published_ms) ? NAN : fmax(0, ((double)now_ms - published_ms) / DAY_MS);
}

int papers_by_relevance(const void *a, const void *b)
{
	const struct paper *left = a, *right = b;
	if (left->relevance != right->relevance)
		return left->relevance < right->relevance ? 1 : -1;
	return strcmp(left->arxiv_id, right->arxiv_id);
}

static void read_vector(struct arena *arena, yyjson_val *row, struct paper_text *text)
{
	const char *encoded = json_get_text(row, "vector");
	double scale = json_get_float(row, "scale", 0);
	size_t length = 0;
	const int8_t *bytes =
		encoded ? base64_decode(arena, encoded, strlen(encoded), &length) : NULL;
	if (!bytes || !length || length > FEATURES_DENSE_MAX || !(scale > 0))
		return;
	float *dense = arena_array(arena, length, sizeof(*dense));
	for (size_t i = 0; i < length; i++)
		dense[i] = (float)(bytes[i] * scale);
	text->dense = dense;
	text->dense_length = (uint32_t)length;
	text->dense_space = space_of(json_get_text(row, "model"));
}

static void read_paper(struct arena *arena, yyjson_val *row, int64_t now_ms, struct paper *paper)
{
	paper->arxiv_id = json_get_text(row, "arxiv_id");
	paper->index = json_get_int(row, "index", 0);
	paper->text.title = json_get_text(row, "title");
	paper->text.abstract = json_get_text(row, "abstract");
	paper->text.categories =
		json_texts(arena, json_get(row, "categories"), &paper->text.category_count);
	read_vector(arena, row, &paper->text);
	paper->published_ms = published_ms(row);
	paper->age_days = paper_age_days(paper->published_ms, now_ms);
	paper->version = json_get_int(row, "version", 0);
	paper->is_withdrawn = json_get_bool(row, "withdrawn", false);
	paper->has_container = json_get_bool(row, "has_container", false);
	paper->code_url = json_get_text(row, "github_url");
	paper->relevance = json_get_float(row, "relevance", 0);
	paper->matched = json_texts(arena, json_get(row, "matched"), &paper->matched_count);
	paper->signal = json_get_text(row, "signal");
	paper->coefficient = json_get_float(row, "coefficient", 0);
}

struct paper_list papers_read(struct arena *arena, const char *json, int64_t now_ms)
{
	struct paper_list list = {0};
	yyjson_val *root;
	if (json_parse(arena, json, strlen(json), &root, NULL))
		return list;
	if (yyjson_is_obj(root))
		root = json_get(root, "results");
	list.papers = arena_array(arena, yyjson_arr_size(root), sizeof(*list.papers));
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (root, index, max, row)
		read_paper(arena, row, now_ms, &list.papers[list.count++]);
	return list;
}

const struct bag **papers_make_bags(struct arena *arena, struct word_splitter *splitter,
                                    struct paper_list papers)
{
	const struct bag **bags = arena_array(arena, papers.count, sizeof(const struct bag *));
	for (size_t i = 0; i < papers.count; i++) {
		struct paper *paper = &papers.papers[i];
		if (!paper->bag)
			paper->bag = bag_new(arena, splitter, &paper->text);
		bags[i] = paper->bag;
	}
	return bags;
}

const struct features **papers_make_features(struct arena *arena,
                                             const struct frequency_table *frequencies,
                                             struct paper_list papers)
{
	const struct features **all =
		arena_array(arena, papers.count, sizeof(const struct features *));
	for (size_t i = 0; i < papers.count; i++) {
		struct paper *paper = &papers.papers[i];
		if (!paper->features || paper->weighed_by != frequencies) {
			paper->features = features_new(arena, frequencies, paper->bag);
			paper->weighed_by = frequencies;
		}
		all[i] = paper->features;
	}
	return all;
}
