/** What a graph of evidence says in short. */
#pragma once

#include "evidence/graph.h"
#include "evidence/part.h"

/** What the experiment itself says; times as in the API, NULL: there is none. */
struct summary_facts {
	const char *verdict; /* `worked`, `failed`, `pending`, `untried` */
	const char *outcome; /* that a person chose; NULL: none */
	const char *merged_at, *decided_at;
};

/** The summary of a graph as an object of its document:
 *
 *     {"recommended_at", "selected_at", "started_at", "pr_opened_at", "merged_at", "reverted_at", "decided_at",
 *      "hours": {"to_run", "to_pull_request", "to_merge", "to_decision"}, "runs", "runs_with_cost",
 *      "cost_usd", "rejected", "evaluations", "verdict", "sentences": ["…", "…", "…"]}
 *
 * A time is the first of its kind, `decided_at` the last. Hours are counted from the first
 * recommendation. What is not known, such as figures of a part that is missing, is null and
 * never 0. */
yyjson_mut_val *summary_json(const struct graph *graph, const struct part parts[PART_COUNT],
                             const struct summary_facts *facts);
