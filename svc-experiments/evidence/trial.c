#include "evidence/trial.h"

#include "base/timefmt.h"

#include <string.h>

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static size_t is(const char *verdict, const char *name)
{
	return verdict && strcmp(verdict, name) == 0;
}

void verdict_add(struct verdict_count *count, const char *verdict)
{
	count->worked += is(verdict, "worked");
	count->failed += is(verdict, "failed");
	count->pending += is(verdict, "pending");
}

const char *verdict_of_pull_request(const char *stage, int64_t closed_ms, int64_t now_ms)
{
	if (is(stage, "closed"))
		return "failed";
	if (is(stage, "merged") && now_ms - closed_ms >= KEPT_DAYS * DAY_MS)
		return "worked";
	return "pending";
}

static const char *said(const struct graph *graph, const char *url, const char *name)
{
	return yyjson_mut_get_str(yyjson_mut_obj_get(graph_data(graph, url), name));
}

const char *trial_of_pull_request(const struct graph *graph, const char *url)
{
	const char *stage = said(graph, url, "stage"), *since = said(graph, url, "reapplied_at");
	int64_t now_ms = time_now_ms(), since_ms = now_ms;
	if (!since)
		since = said(graph, url, "closed_at");
	if (since)
		time_parse(since, strlen(since), &since_ms);
	return verdict_of_pull_request(graph_is_reverted(graph, url) ? "closed" : stage, since_ms,
	                               now_ms);
}

/* Whether the code host told what became of it, and not only a run that it has opened it. An
 * earlier version of svc-fleet does not say so. */
static bool is_told(const struct graph *graph, const char *url)
{
	const char *by = said(graph, url, "stage_by");
	return (by && strcmp(by, "code_host") == 0) || graph_is_reverted(graph, url);
}

const char *trial_of_experiment(const struct graph *graph, const char *url, bool is_decided,
                                const char *own)
{
	return url && !is_decided && is_told(graph, url) ? trial_of_pull_request(graph, url) : own;
}

const char *verdict_of_paper(const struct verdict_count *count)
{
	if (count->worked && count->failed)
		return "mixed";
	if (count->worked)
		return "worked";
	if (count->failed)
		return "failed";
	return count->pending ? "pending" : "untried";
}
