#include "ranking/scoring.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>

/* Decimal places that a score is told with. */
#define SCORE_UNITS 1e4

struct scored {
	const struct paper *paper;
	double score;
};

static int best_first(const void *a, const void *b)
{
	const struct scored *left = a, *right = b;
	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	return (left->paper > right->paper) - (left->paper < right->paper);
}

static struct scored *score_all(const struct judge *judge, struct paper_list papers)
{
	struct scored *scored = arena_array(judge->arena, papers.count, sizeof(*scored));
	for (size_t i = 0; i < papers.count; i++)
		scored[i] = (struct scored){
			.paper = &papers.papers[i],
			.score = round(judge_score(judge, &papers.papers[i]) * SCORE_UNITS) /
		                 SCORE_UNITS,
		};
	qsort(scored, papers.count, sizeof(*scored), best_first);
	return scored;
}

static yyjson_mut_val *scored_json(yyjson_mut_doc *doc, const struct scored *scored,
                                   int64_t version)
{
	const struct paper *paper = scored->paper;
	yyjson_mut_val *row = yyjson_mut_obj(doc);
	if (paper->arxiv_id)
		yyjson_mut_obj_add_str(doc, row, "arxiv_id", paper->arxiv_id);
	else
		yyjson_mut_obj_add_int(doc, row, "index", paper->index);
	yyjson_mut_obj_add_str(doc, row, "title", paper->text.title ? paper->text.title : "");
	yyjson_mut_obj_add_real(doc, row, "score", scored->score);
	yyjson_mut_obj_add_int(doc, row, "model_version", version);
	return row;
}

const char *score_papers(struct arena *arena, const struct scoring_input *input)
{
	struct paper_list pool = papers_read(arena, input->pool_json, 0);
	struct judge *judge = judge_new(arena, &input->interest, pool);
	struct paper_list papers = pool;
	if (input->candidates_json) {
		papers = papers_read(arena, input->candidates_json, 0);
		judge_read(judge, papers);
	}
	struct scored *scored = score_all(judge, papers);
	int64_t version = judge->is_fitted ? input->model_version : 0;
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < MIN_OF(papers.count, input->limit); i++)
		yyjson_mut_arr_append(rows, scored_json(doc, &scored[i], version));
	return json_write_mut(arena, rows, NULL);
}
