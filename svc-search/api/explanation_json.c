#include "api/explanation_json.h"

#include "json/json.h"

/* Add a rank; null if there is none. */
static void add_rank(yyjson_mut_doc *doc, yyjson_mut_val *object, uint32_t rank)
{
	if (rank > 0)
		yyjson_mut_obj_add_uint(doc, object, "rank", rank);
	else
		yyjson_mut_obj_add_null(doc, object, "rank");
}

static void add_terms(yyjson_mut_doc *doc, yyjson_mut_val *lexical,
                      const struct hit_explanation *explanation, size_t limit)
{
	static const char *const fields[] = {
		[PAPER_TITLE] = "title",
		[PAPER_ABSTRACT] = "abstract",
		[PAPER_AUTHORS] = "authors",
	};
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, lexical, "terms");
	float others = 0;
	for (size_t i = 0; i < explanation->term_count; i++) {
		const struct explained_term *term = &explanation->terms[i];
		if (i >= limit) {
			others += term->score.score;
			continue;
		}
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_obj_add_str(doc, row, "word", term->word);
		yyjson_mut_obj_add_str(doc, row, "term", term->text);
		json_add_number(doc, row, "weight", term->weight);
		json_add_number(doc, row, "score", term->score.score);
		for (int field = 0; field < PAPER_FIELDS; field++)
			json_add_number(doc, row, fields[field], term->score.fields[field]);
	}
	json_add_number(doc, lexical, "other_terms", others);
}

static void add_pairs(yyjson_mut_doc *doc, yyjson_mut_val *lexical,
                      const struct hit_explanation *explanation, size_t limit)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, lexical, "pairs_found");
	for (size_t i = 0; i < explanation->pair_count && i < limit; i++) {
		const struct explained_pair *pair = &explanation->pairs_found[i];
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_val *words = yyjson_mut_obj_add_arr(doc, row, "words");
		yyjson_mut_arr_add_str(doc, words, pair->words[0]);
		yyjson_mut_arr_add_str(doc, words, pair->words[1]);
		json_add_number(doc, row, "score", pair->score);
	}
}

static void add_dense(yyjson_mut_doc *doc, yyjson_mut_val *root,
                      const struct hit_explanation *explanation)
{
	if (!explanation->has_dense) {
		yyjson_mut_obj_add_null(doc, root, "dense");
		return;
	}
	yyjson_mut_val *dense = yyjson_mut_obj_add_obj(doc, root, "dense");
	json_add_number(doc, dense, "cosine", explanation->cosine);
	json_add_number(doc, dense, "greatest", explanation->fusion.cosine_max);
	json_add_number(doc, dense, "weight", explanation->fusion.dense_weight);
	add_rank(doc, dense, explanation->dense_rank);
	yyjson_mut_obj_add_bool(doc, dense, "is_pending", explanation->awaits_vector);
}

yyjson_mut_val *explanation_json(yyjson_mut_doc *doc, const struct hit_explanation *explanation,
                                 size_t limit)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_val *lexical = yyjson_mut_obj_add_obj(doc, root, "lexical");
	json_add_number(doc, lexical, "score", explanation->words + explanation->pairs);
	json_add_number(doc, lexical, "words", explanation->words);
	json_add_number(doc, lexical, "smoothed", explanation->smoothed);
	json_add_number(doc, lexical, "pairs", explanation->pairs);
	json_add_number(doc, lexical, "greatest", explanation->fusion.lexical_max);
	add_rank(doc, lexical, explanation->lexical_rank);
	add_terms(doc, lexical, explanation, limit);
	add_pairs(doc, lexical, explanation, limit);
	add_dense(doc, root, explanation);
	json_add_number(doc, root, "fused", explanation->fused);
	json_add_number(doc, root, "full_score", explanation->scale.full_score);
	json_add_number(doc, root, "cosine_weight", explanation->scale.cosine_weight);
	json_add_number(doc, root, "relevance_factor", explanation->fusion.relevance_factor);
	json_add_number(doc, root, "relevance_limit", explanation->relevance_limit);
	yyjson_mut_obj_add_bool(doc, root, "has_id_of_query", explanation->is_named);
	return root;
}
