#include "report/finding.h"

#include "base/base.h"
#include "json/json.h"

#include <string.h>

/* Thresholds of the rules. Those that SQL needs to gather few rows are in fleet_found() as well. */
#define FAILURES_CRITICAL 10  /* failures of one cause: critical from here, a warning below */
#define COST_RISE         1.5 /* cost of a merged pull request: second half over first half */
#define COST_MERGED_MIN   3   /* merged pull requests in each half, for that to mean anything */
#define GATE_RUNS_MIN     50  /* runs that a gate let pass without stopping any */
#define POOL_RUNS_MIN     3   /* newest runs of a repository */
#define POOL_DRY_SHARE    0.5 /* of these, with a dry pool */

enum severity { CRITICAL, WARNING, INFO, SEVERITY_COUNT };

static const char *const SEVERITIES[] = {"critical", "warning", "info"};

struct findings {
	struct arena *arena;
	yyjson_mut_doc *doc;
	yyjson_mut_val *by_severity[SEVERITY_COUNT];
	const struct finding_facts *facts;
};

/* Add a finding; its evidence object. `repo` may be NULL. */
static yyjson_mut_val *add(struct findings *f, enum severity severity, const char *kind,
                           const char *repo, const char *text)
{
	yyjson_mut_val *finding = yyjson_mut_arr_add_obj(f->doc, f->by_severity[severity]);
	yyjson_mut_obj_add_str(f->doc, finding, "severity", SEVERITIES[severity]);
	yyjson_mut_obj_add_str(f->doc, finding, "kind", kind);
	yyjson_mut_obj_add_val(f->doc, finding, "repo",
	                       repo ? yyjson_mut_str(f->doc, repo) : yyjson_mut_null(f->doc));
	yyjson_mut_obj_add_str(f->doc, finding, "text", text);
	return yyjson_mut_obj_add_obj(f->doc, finding, "evidence");
}

/* Copy a member of a fact into the evidence. */
static void cite(struct findings *f, yyjson_mut_val *evidence, yyjson_val *fact, const char *name)
{
	yyjson_mut_obj_add_val(f->doc, evidence, name,
	                       yyjson_val_mut_copy(f->doc, json_get(fact, name)));
}

/* A query of the runs of the period; `filter` is empty or begins with `&`. */
static void cite_query(struct findings *f, yyjson_mut_val *evidence, const char *filter)
{
	yyjson_mut_obj_add_str(f->doc, evidence, "query",
	                       arena_printf(f->arena, "%s%s", f->facts->query, filter));
}

static void repeated_failure(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "failures"), i, count, fact) {
		int64_t runs = json_get_int(fact, "runs", 0);
		const char *repo = json_get_text(fact, "repo");
		yyjson_mut_val *evidence =
			add(f, runs >= FAILURES_CRITICAL ? CRITICAL : WARNING, "repeated_failure",
		            repo,
		            arena_printf(f->arena, "%jd runs failed for one reason: %s",
		                         (intmax_t)runs, json_get_text(fact, "cause")));
		cite(f, evidence, fact, "run_ids");
		cite_query(f, evidence,
		           arena_printf(f->arena, "&outcome_kind=failed&repo=%s", repo));
	}
}

/* Cost of a merged pull request in half a period; 0: too few were merged, or no cost is known. */
static double cost_per_merge(yyjson_val *half)
{
	int64_t merged = json_get_int(half, "merged", 0);
	double cost = yyjson_get_num(json_get(half, "cost_usd"));
	return merged >= COST_MERGED_MIN ? cost / (double)merged : 0;
}

static void rising_cost(struct findings *f)
{
	yyjson_val *halves = json_get(f->facts->facts, "halves");
	double first = cost_per_merge(yyjson_arr_get(halves, 0));
	double second = cost_per_merge(yyjson_arr_get(halves, 1));
	if (first <= 0 || second < first * COST_RISE)
		return;
	yyjson_mut_val *evidence =
		add(f, WARNING, "rising_cost", NULL,
	            arena_printf(
			    f->arena,
			    "a merged pull request cost %.2f USD in the second half of the period, "
			    "%.2f USD in the first",
			    second, first));
	yyjson_mut_obj_add_val(f->doc, evidence, "halves", yyjson_val_mut_copy(f->doc, halves));
	cite_query(f, evidence, "");
}

static void cost_spike(struct findings *f)
{
	static const char *const CITED[] = {"run_ids", "usd", "compared_usd", "at"};
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "spikes"), i, count, fact) {
		yyjson_mut_val *evidence =
			add(f, WARNING, "cost_spike", json_get_text(fact, "repo"),
		            json_get_text(fact, "title"));
		for (size_t j = 0; j < ARRAY_LEN(CITED); j++)
			cite(f, evidence, fact, CITED[j]);
	}
}

static void cost_differs(struct findings *f)
{
	static const char *const CITED[] = {"run_ids", "told_usd", "estimated_usd", "price_date"};
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "differing"), i, count, fact) {
		const char *agent = json_get_text(fact, "agent");
		yyjson_mut_val *evidence = add(
			f, WARNING, "cost_differs", NULL,
			arena_printf(
				f->arena,
				"%jd runs of %s with %s reported %.2f USD; by the list of prices "
				"their tokens cost %.2f USD",
				(intmax_t)json_get_int(fact, "runs", 0), agent ? agent : "an agent",
				json_get_text(fact, "model"),
				yyjson_get_num(json_get(fact, "told_usd")),
				yyjson_get_num(json_get(fact, "estimated_usd"))));
		for (size_t j = 0; j < ARRAY_LEN(CITED); j++)
			cite(f, evidence, fact, CITED[j]);
	}
}

static void repeated_rejection(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "rejections"), i, count, fact) {
		size_t merged = yyjson_arr_size(json_get(fact, "merged_later"));
		const char *text =
			arena_printf(f->arena, "candidates were rejected %jd times because: %s",
		                     (intmax_t)json_get_int(fact, "times", 0),
		                     json_get_text(fact, "reason"));
		if (merged > 0)
			text = arena_printf(f->arena,
			                    "%s; %zu of these papers became a merged pull request",
			                    text, merged);
		yyjson_mut_val *evidence =
			add(f, merged > 0 ? WARNING : INFO, "repeated_rejection", NULL, text);
		cite(f, evidence, fact, "run_ids");
		cite(f, evidence, fact, "merged_later");
	}
}

static void idle_gate(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->sums, "gates"), i, count, fact) {
		int64_t passed = json_get_int(fact, "passed", 0);
		if (passed < GATE_RUNS_MIN || json_get_int(fact, "stopped", 0) > 0)
			continue;
		const char *gate = json_get_text(fact, "gate");
		yyjson_mut_val *evidence =
			add(f, INFO, "gate_never_stops", NULL,
		            arena_printf(f->arena, "the gate %s let all %jd runs pass", gate,
		                         (intmax_t)passed));
		cite(f, evidence, fact, "gate");
		cite(f, evidence, fact, "passed");
		cite_query(f, evidence, "");
	}
}

static void silent_agent(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "silent"), i, count, fact) {
		const char *repo = json_get_text(fact, "repo");
		yyjson_mut_val *evidence =
			add(f, WARNING, "silent_agent", repo,
		            arena_printf(f->arena, "the agent of %s has not run since %.10s", repo,
		                         json_get_text(fact, "last_run_at")));
		cite(f, evidence, fact, "last_run_at");
		cite_query(f, evidence, arena_printf(f->arena, "&repo=%s", repo));
	}
}

static void unreviewed_pull_request(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "unreviewed"), i, count, fact) {
		yyjson_mut_val *evidence =
			add(f, WARNING, "unreviewed_pull_request", json_get_text(fact, "repo"),
		            arena_printf(f->arena, "a pull request is open since %.10s",
		                         json_get_text(fact, "opened_at")));
		cite(f, evidence, fact, "url");
		cite(f, evidence, fact, "run_id");
	}
}

static void dry_pool(struct findings *f)
{
	size_t i, count;
	yyjson_val *fact;
	yyjson_arr_foreach (json_get(f->facts->facts, "pools"), i, count, fact) {
		int64_t runs = json_get_int(fact, "runs", 0), dry = json_get_int(fact, "dry", 0);
		if (runs < POOL_RUNS_MIN || (double)dry < POOL_DRY_SHARE * (double)runs)
			continue;
		const char *repo = json_get_text(fact, "repo");
		yyjson_mut_val *evidence = add(
			f, WARNING, "dry_pool", repo,
			arena_printf(f->arena,
		                     "%jd of the last %jd runs of %s found fewer than 3 candidates",
		                     (intmax_t)dry, (intmax_t)runs, repo));
		cite(f, evidence, fact, "run_ids");
	}
}

/* In the order in which findings of equal severity are listed. */
static void (*const RULES[])(struct findings *) = {
	repeated_failure,
	silent_agent,
	dry_pool,
	cost_spike,
	rising_cost,
	cost_differs,
	unreviewed_pull_request,
	repeated_rejection,
	idle_gate,
};

void findings_add(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *findings,
                  const struct finding_facts *facts)
{
	struct findings f = {.arena = arena, .doc = doc, .facts = facts};
	for (int i = 0; i < SEVERITY_COUNT; i++)
		f.by_severity[i] = yyjson_mut_arr(doc);
	for (size_t i = 0; i < ARRAY_LEN(RULES); i++)
		RULES[i](&f);
	for (int i = 0; i < SEVERITY_COUNT; i++) {
		yyjson_mut_val *finding;
		while ((finding = yyjson_mut_arr_remove_first(f.by_severity[i])))
			yyjson_mut_arr_append(findings, finding);
	}
}
