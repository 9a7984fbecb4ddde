#include "evidence/summary.h"

#include "base/timefmt.h"
#include "json/json.h"

#include <inttypes.h>
#include <string.h>

#define HOUR_MS 3600000.0

/* A summary under construction. */
struct summary {
	const struct graph *graph;
	yyjson_val *fleet; /* its part; NULL: it is missing */
	const struct summary_facts *facts;
	const char *recommended_at, *started_at, *pr_opened_at, *merged_at;
	yyjson_mut_val *json;
};

/* The earliest time, `closed_at`, `reverted_at` or `reapplied_at`, of a pull request that was
 * merged; NULL: there is none. */
static const char *first_of_merged(const struct graph *graph, const char *time)
{
	size_t i, count;
	yyjson_mut_val *node;
	const char *first = NULL;
	yyjson_mut_arr_foreach (graph->nodes, i, count, node) {
		yyjson_mut_val *data = yyjson_mut_obj_get(node, "data");
		const char *stage = yyjson_mut_get_str(yyjson_mut_obj_get(data, "stage"));
		const char *at = yyjson_mut_get_str(yyjson_mut_obj_get(data, time));
		bool is_merged = stage && strcmp(stage, "merged") == 0;
		if (is_merged && at && (!first || strcmp(at, first) < 0))
			first = at;
	}
	return first;
}

static void add_text(const struct summary *s, const char *name, const char *text)
{
	json_add_text(s->graph->doc, s->json, name, text);
}

/* Hours from the first recommendation to a time; null where either is not known. */
static void add_hours(const struct summary *s, yyjson_mut_val *hours, const char *name,
                      const char *until)
{
	const char *since = s->recommended_at;
	int64_t since_ms, until_ms;
	bool is_known = since && until && time_parse(since, strlen(since), &since_ms) &&
	                time_parse(until, strlen(until), &until_ms);
	if (!is_known)
		yyjson_mut_obj_add_null(s->graph->doc, hours, name);
	else
		json_add_number(s->graph->doc, hours, name,
		                (double)(until_ms - since_ms) / HOUR_MS);
}

static void add_times(struct summary *s)
{
	add_text(s, "recommended_at", s->recommended_at);
	add_text(s, "selected_at", graph_first_at(s->graph, "selection"));
	add_text(s, "started_at", s->started_at);
	add_text(s, "pr_opened_at", s->pr_opened_at);
	add_text(s, "merged_at", s->merged_at);
	add_text(s, "reverted_at", first_of_merged(s->graph, "reverted_at"));
	add_text(s, "decided_at", s->facts->decided_at);
	yyjson_mut_val *hours = yyjson_mut_obj_add_obj(s->graph->doc, s->json, "hours");
	add_hours(s, hours, "to_run", s->started_at);
	add_hours(s, hours, "to_pull_request", s->pr_opened_at);
	add_hours(s, hours, "to_merge", s->merged_at);
	add_hours(s, hours, "to_decision", s->facts->decided_at);
}

static void add_figures(struct summary *s)
{
	static const char *const OF_FLEET[] = {"runs", "runs_with_cost", "cost_usd", "rejected"};
	for (size_t i = 0; i < ARRAY_LEN(OF_FLEET); i++)
		json_add_member(s->graph->doc, s->json, OF_FLEET[i], s->fleet, OF_FLEET[i]);
	yyjson_mut_obj_add_uint(s->graph->doc, s->json, "evaluations",
	                        graph_count(s->graph, "eval_run"));
	add_text(s, "verdict", s->facts->verdict);
}

/* --- Sentences -------------------------------------------------------------------------------- */

/* The day of a time, `2026-01-31`. */
static const char *day_of(const struct summary *s, const char *at)
{
	return arena_strndup(s->graph->arena, at, DATE_TEXT_LEN);
}

/* Whether the key's limit keeps nothing of a part back: what is not there does not exist. */
static bool is_all_shown(yyjson_val *part)
{
	return part && json_get_int(part, "hidden", 0) == 0;
}

static const char *origin_sentence(const struct summary *s, bool is_known)
{
	if (s->recommended_at)
		return arena_printf(s->graph->arena, "Recommended on %s.",
		                    day_of(s, s->recommended_at));
	return is_known ? "None of its papers was recommended."
	                : "Whether its papers were recommended is not shown.";
}

static void add_tries(const struct summary *s, struct buf *text)
{
	int64_t runs = json_get_int(s->fleet, "runs", 0);
	int64_t with_cost = json_get_int(s->fleet, "runs_with_cost", 0);
	if (runs == 0) {
		buf_puts(text, is_all_shown(s->fleet) ? "No run tried it"
		                                      : "No run that may be shown tried it");
		return;
	}
	buf_printf(text, "Tried by %" PRId64 " run%s", runs, runs == 1 ? "" : "s");
	if (with_cost == 0)
		buf_puts(text, " of unknown cost");
	else
		buf_printf(text, ", %" PRId64 " of which %s known to have cost %.2f USD", with_cost,
		           with_cost == 1 ? "is" : "are", json_get_float(s->fleet, "cost_usd", 0));
}

static void add_day(const struct summary *s, struct buf *text, const char *what, const char *at)
{
	if (at)
		buf_printf(text, "; %s on %s", what, day_of(s, at));
}

/* `Tried by 3 runs, 2 of which are known to have cost 1.20 USD; passed over 1 time; merged on
 * 2026-01-31; reverted on 2026-02-01.` */
static const char *work_sentence(const struct summary *s)
{
	if (!s->fleet)
		return "What agents did with it is not shown.";
	struct buf text = {.arena = s->graph->arena};
	int64_t rejected = json_get_int(s->fleet, "rejected", 0);
	add_tries(s, &text);
	if (rejected)
		buf_printf(&text, "; passed over %" PRId64 " time%s", rejected,
		           rejected == 1 ? "" : "s");
	add_day(s, &text, "merged", s->merged_at);
	add_day(s, &text, "reverted", first_of_merged(s->graph, "reverted_at"));
	add_day(s, &text, "applied again", first_of_merged(s->graph, "reapplied_at"));
	buf_puts(&text, ".");
	return text.data;
}

static const char *decision_sentence(const struct summary *s)
{
	if (!s->facts->decided_at)
		return "Not decided yet.";
	return arena_printf(s->graph->arena, "Decided on %s: %s.", day_of(s, s->facts->decided_at),
	                    s->facts->outcome ? s->facts->outcome : "without an outcome");
}

static void add_sentences(struct summary *s, bool is_origin_known)
{
	yyjson_mut_doc *doc = s->graph->doc;
	yyjson_mut_val *sentences = yyjson_mut_obj_add_arr(doc, s->json, "sentences");
	yyjson_mut_arr_add_str(doc, sentences, origin_sentence(s, is_origin_known));
	yyjson_mut_arr_add_str(doc, sentences, work_sentence(s));
	yyjson_mut_arr_add_str(doc, sentences, decision_sentence(s));
}

yyjson_mut_val *summary_json(const struct graph *graph, const struct part parts[PART_COUNT],
                             const struct summary_facts *facts)
{
	struct summary s = {
		.graph = graph,
		.fleet = parts[PART_FLEET].answer,
		.facts = facts,
		.recommended_at = graph_first_at(graph, "recommendation"),
		.started_at = graph_first_at(graph, "run"),
		.pr_opened_at = graph_first_at(graph, "pull_request"),
		.merged_at =
			facts->merged_at ? facts->merged_at : first_of_merged(graph, "closed_at"),
		.json = yyjson_mut_obj(graph->doc),
	};
	add_times(&s);
	add_figures(&s);
	add_sentences(&s, is_all_shown(parts[PART_RECOMMENDATIONS].answer));
	return s.json;
}
