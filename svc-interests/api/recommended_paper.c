#include "api/recommended_paper.h"

#include "base/base.h"
#include "json/json.h"
#include "product/paper_source.h"

/* What a recommendation shows of its paper: the asset as svc-search lists it, with its abstract.
 * One that version 0.1.0 has stored, which had papers of arXiv alone, lacks two members. */
static void add_paper(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *out,
                      const struct pg_rows *rows, int row)
{
	yyjson_val *asset = json_parse_own(arena, pg_get(rows, row, "asset"));
	yyjson_mut_val *resource = yyjson_val_mut_copy(doc, asset);
	if (!json_get(asset, "source")) {
		yyjson_mut_obj_add_str(doc, resource, "source", "arxiv");
		yyjson_mut_obj_add_null(doc, resource, "doi");
	}
	yyjson_mut_obj_add_str(doc, resource, "abstract", pg_get(rows, row, "abstract"));
	json_add_member(doc, out, "title", asset, "title");
	json_add_member(doc, out, "url", asset, "url");
	yyjson_mut_obj_add_val(doc, out, "resource", resource);
}

yyjson_mut_val *recommended_paper_json(struct arena *arena, yyjson_mut_doc *doc,
                                       const struct pg_rows *rows, int row)
{
	static const char *const TEXTS[] = {"recommendation_id",    "resource_id", "reasoning",
	                                    "suggested_experiment", "interest_id", "interest_name",
	                                    "recommended_at",       "abstract"};
	static const char *const VALUES[] = {"relevance_score", "rank", "signals"};
	yyjson_mut_val *out = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		json_add_text(doc, out, TEXTS[i], pg_get(rows, row, TEXTS[i]));
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		yyjson_mut_obj_add_val(doc, out, VALUES[i],
		                       yyjson_mut_raw(doc, pg_get(rows, row, VALUES[i])));
	yyjson_mut_obj_add_str(doc, out, "source_type",
	                       paper_source_type(pg_get(rows, row, "resource_id")));
	add_paper(arena, doc, out, rows, row);
	return out;
}
