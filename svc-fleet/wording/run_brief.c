#include "wording/run_brief.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

static const char *const SHOWN[] = {
	"run_id",
	"repo",
	"status",
	"outcome_kind",
	"agent",
	"provider",
	"model",
	"started_at",
	"finished_at",
	"error",
	"artifact_url",
	"cost_usd",
	"input_tokens",
	"output_tokens",
	"arxiv_id",
	"broad_pool_size",
	"candidates_considered",
	"selection_reasoning_excerpt",
	"selection_rejected",
	"preflight_decision",
	"license_class",
	"license_compat",
	"diff_risk_band",
	"lint_status",
	"test_status",
	"test_integration_gate",
	"stub_density",
	"integration_violations",
	"coverage_summary",
	"files_touched",
	"files_dropped_out_of_scope",
};

bool run_brief_shows(const char *member)
{
	for (size_t i = 0; i < ARRAY_LEN(SHOWN); i++)
		if (strcmp(SHOWN[i], member) == 0)
			return true;
	return false;
}

static yyjson_mut_val *shorten(struct arena *arena, yyjson_mut_doc *doc, yyjson_val *value,
                               size_t max_bytes)
{
	const char *text = yyjson_get_str(value);
	if (!text)
		text = json_write(arena, value, NULL);
	const char *shown = utf8_shorten(arena, text, max_bytes);
	return shown == text ? yyjson_val_mut_copy(doc, value) : yyjson_mut_str(doc, shown);
}

yyjson_mut_val *run_brief(struct arena *arena, yyjson_mut_doc *doc, yyjson_val *record,
                          size_t member_max_bytes)
{
	yyjson_mut_val *brief = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(SHOWN); i++) {
		yyjson_val *value = json_get(record, SHOWN[i]);
		if (value && !yyjson_is_null(value))
			yyjson_mut_obj_add_val(doc, brief, SHOWN[i],
			                       shorten(arena, doc, value, member_max_bytes));
	}
	return brief;
}
