#include "evidence/label.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

#define LABEL_MAX 200 /* bytes */

/* The members of `data` that make the label of a kind. All of them must be there; of a kind with
 * several rows, the first that can be made. */
static const struct label {
	const char *kind, *first;
	const char *between, *second; /* NULL: the first member alone */
	const char *after;
} LABELS[] = {
	{"paper", "title", NULL, NULL, ""},
	{"paper", "arxiv_id", NULL, NULL, ""},
	{"recommendation", "interest_name", NULL, NULL, ""},
	{"selection", "candidates_considered", NULL, NULL, " candidates"},
	{"run", "repo", " ", "run_id", ""},
	{"pull_request", "repo", "#", "number", ""},
	{"issue", "repo", "#", "number", ""},
	{"experiment", "name", NULL, NULL, ""},
	{"implementation", "repo", " ", "branch", ""},
	{"implementation", "repo", NULL, NULL, ""},
	{"implementation", "branch", NULL, NULL, ""},
	{"eval_build", "repo", "@", "ref", ""},
	{"eval_build", "digest", NULL, NULL, ""},
	{"eval_run", "name", NULL, NULL, ""},
	{"analysis", "text", NULL, NULL, ""},
	{"decision", "outcome", NULL, NULL, ""},
	{"decision", "status", NULL, NULL, ""},
	{"decision", "decision", NULL, NULL, ""},
};

/* A member as text; NULL: it has none. */
static const char *said(struct arena *arena, yyjson_mut_val *data, const char *name)
{
	yyjson_mut_val *value = yyjson_mut_obj_get(data, name);
	const char *text = yyjson_mut_is_num(value) ? json_write_mut(arena, value, NULL)
	                                            : yyjson_mut_get_str(value);
	return text && *text ? text : NULL;
}

/* NULL: a member is missing. */
static const char *made(struct arena *arena, const struct label *label, yyjson_mut_val *data)
{
	const char *first = said(arena, data, label->first), *second = "", *between = "";
	if (label->second) {
		second = said(arena, data, label->second);
		between = label->between;
	}
	if (!first || !second)
		return NULL;
	return arena_printf(arena, "%s%s%s%s", first, between, second, label->after);
}

static const char *label_of(struct arena *arena, const char *kind, yyjson_mut_val *data)
{
	for (size_t i = 0; i < ARRAY_LEN(LABELS); i++) {
		const char *text =
			strcmp(LABELS[i].kind, kind) == 0 ? made(arena, &LABELS[i], data) : NULL;
		if (text)
			return utf8_shorten(arena, text, LABEL_MAX);
	}
	return kind;
}

void graph_label(struct graph *graph)
{
	size_t index, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (graph->nodes, index, count, node) {
		const char *kind = yyjson_mut_get_str(yyjson_mut_obj_get(node, "kind"));
		yyjson_mut_val *data = yyjson_mut_obj_get(node, "data");
		yyjson_mut_obj_remove_key(node, "label");
		yyjson_mut_obj_add_str(graph->doc, node, "label",
		                       label_of(graph->arena, kind, data));
	}
}
