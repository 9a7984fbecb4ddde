/** Analyses of results that a test writes as JSON. */
#pragma once

#include "analysis/analysis.h"
#include "analysis/members.h"
#include "analysis/rows.h"
#include "analysis/sums.h"
#include "input/field_check.h"
#include "json/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct field ANALYSED_BODY[] = {RESULT_MEMBERS, FIELD_END};

struct analysed {
	struct arena *arena;
	struct plan plan;
	struct problem problem;
	struct analysis *analysis;
};

/** Analyse a body with `metrics` or `rows` by a plan, as svc-experiments does, into `ret`.
 * `previous`: the output before; NULL: none. False: there are faults, in `ret`. */
static inline bool analyse_after(struct analysed *ret, const char *config, const char *body,
                                 const char *previous, const struct result_facts *facts)
{
	struct arena *arena = arena_new();
	*ret = (struct analysed){.arena = arena};
	yyjson_val *json = json_parse_own(arena, body);
	plan_read(arena,
	          json_parse_own(arena, arena_printf(arena, "{\"ab_test_config\": %s}", config)),
	          &ret->problem, &ret->plan);
	field_check_members(arena, &ret->problem, json, ANALYSED_BODY);
	if (ret->problem.field_count)
		return false;
	bool has_rows = json_get(json, "rows");
	struct analysis *a =
		analysis_new(arena, &ret->plan, has_rows ? SOURCE_ROWS : SOURCE_SUMS, facts);
	ret->analysis = a;
	if (has_rows)
		rows_read(a, json_get(json, "rows"), &ret->problem);
	else
		sums_read(a, json, &ret->problem);
	if (ret->problem.field_count)
		return false;
	analysis_conclude(a, previous ? json_parse_own(arena, previous) : NULL);
	return true;
}

static inline bool analyse(struct analysed *ret, const char *config, const char *body)
{
	return analyse_after(ret, config, body, NULL, &(struct result_facts){0});
}

static inline void analysed_free(struct analysed *analysed)
{
	arena_free(analysed->arena);
}

/** Whether there is a warning with the code, of the metric or of none (NULL). */
static inline bool is_warned(const struct analysis *a, const char *code, const char *metric)
{
	for (const struct warning *w = a->warnings; w; w = w->next)
		if (strcmp(w->code, code) == 0 &&
		    (w->metric == metric ||
		     (w->metric && metric && strcmp(w->metric, metric) == 0)))
			return true;
	return false;
}
