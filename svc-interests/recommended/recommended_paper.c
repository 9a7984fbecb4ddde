#include "recommended/recommended_paper.h"

#include "base/base.h"
#include "json/json.h"
#include "product/paper_source.h"

#include <string.h>

const struct paper_json **recommended_papers_load(struct request *rq, const struct pg_rows *rows)
{
	size_t count = (size_t)rows->count;
	struct paper_state *states = arena_array(rq->arena, count, sizeof(*states));
	for (int row = 0; row < rows->count; row++) {
		states[row].arxiv_id = pg_get(rows, row, "resource_id");
		states[row].updated_at = pg_get(rows, row, "paper_updated_at");
	}
	return paper_json_load(rq, states, count);
}

static void add_name(struct buf *out, const char *name)
{
	buf_puts(out, "\"");
	buf_puts(out, name);
	buf_puts(out, "\":");
}

static void add_text(struct buf *out, const char *name, const char *text)
{
	add_name(out, name);
	if (text)
		json_quote(out, text, strlen(text));
	else
		buf_puts(out, "null");
	buf_puts(out, ",");
}

static void add_value(struct buf *out, const char *name, const char *json)
{
	add_name(out, name);
	buf_puts(out, json);
	buf_puts(out, ",");
}

void recommended_paper_add(struct buf *out, const struct pg_rows *rows, int row,
                           const struct paper_json *paper)
{
	static const char *const TEXTS[] = {"recommendation_id",    "resource_id", "reasoning",
	                                    "suggested_experiment", "interest_id", "interest_name",
	                                    "recommended_at"};
	static const char *const VALUES[] = {"relevance_score", "rank", "signals"};
	buf_puts(out, "{");
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		add_text(out, TEXTS[i], pg_get(rows, row, TEXTS[i]));
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++)
		add_value(out, VALUES[i], pg_get(rows, row, VALUES[i]));
	add_text(out, "source_type", paper_source_type(pg_get(rows, row, "resource_id")));
	buf_add(out, paper->members, paper->length);
	buf_puts(out, "}");
}
