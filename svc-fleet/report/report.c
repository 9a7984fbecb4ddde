#include "report/report.h"

#include "input/input.h"
#include "input/period.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "report.sql.h"
#include "report/finding.h"

#include <string.h>

static const struct period_limits PERIOD_LIMITS = {.days_default = 30, .days_max = 3700};

struct report_input {
	const char *since, *until;
	const char *repos;
};

static const struct field REPORT_FIELDS[] = {
	QUERY_DATE(struct report_input, since, "since"),
	QUERY_DATE(struct report_input, until, "until"),
	QUERY_TEXT(struct report_input, repos, "repos", REPEATED, 1, 20000),
	FIELD_END,
};

/* The step of the agents' timelines, so that they have about thirty steps at most. */
static const char *timeline_step(int64_t days)
{
	return days <= 31 ? "day" : days <= 217 ? "week" : "month";
}

/* The report under construction. */
struct report {
	struct request *rq;
	yyjson_mut_doc *doc;
	const struct period *period;
	yyjson_val *sums;
	int64_t merged;
	const char *median_hours; /* NULL: nothing was merged */
	const char
		*repos_query; /* narrows a query for runs to the report's repositories; "": all */
};

static double sum(const struct report *report, const char *name)
{
	return yyjson_get_num(json_get(report->sums, name));
}

/* A ratio, or null where the divisor is 0. */
static void add_ratio(const struct report *report, yyjson_mut_val *kpis, const char *name,
                      double dividend, double divisor)
{
	yyjson_mut_obj_add_val(report->doc, kpis, name,
	                       divisor > 0 ? yyjson_mut_real(report->doc, dividend / divisor)
	                                   : yyjson_mut_null(report->doc));
}

static void add_count(const struct report *report, yyjson_mut_val *kpis, const char *name,
                      const char *of)
{
	yyjson_mut_obj_add_int(report->doc, kpis, name, (int64_t)sum(report, of));
}

static yyjson_mut_val *build_kpis(const struct report *report)
{
	yyjson_mut_doc *doc = report->doc;
	yyjson_mut_val *kpis = yyjson_mut_obj(doc);
	double cost = sum(report, "cost_usd"), cost_runs = sum(report, "cost_runs");
	add_count(report, kpis, "runs", "runs");
	add_count(report, kpis, "pull_requests_opened", "pull_requests");
	yyjson_mut_obj_add_int(doc, kpis, "pull_requests_merged", report->merged);
	add_ratio(report, kpis, "merge_rate", (double)report->merged, sum(report, "pull_requests"));
	add_count(report, kpis, "issues_opened", "issues");
	json_add_member(doc, kpis, "cost_usd", report->sums, "cost_usd");
	add_count(report, kpis, "runs_with_cost", "cost_runs");
	add_ratio(report, kpis, "cost_per_dispatched_run", cost, cost_runs);
	add_ratio(report, kpis, "cost_per_merged_pull_request", cost,
	          cost_runs > 0 ? (double)report->merged : 0);
	json_add_member(doc, kpis, "input_tokens", report->sums, "input_tokens");
	json_add_member(doc, kpis, "output_tokens", report->sums, "output_tokens");
	yyjson_mut_obj_add_val(doc, kpis, "median_hours_to_merge",
	                       report->median_hours ? yyjson_mut_raw(doc, report->median_hours)
	                                            : yyjson_mut_null(doc));
	add_ratio(report, kpis, "failure_rate", sum(report, "failed"),
	          sum(report, "runs") - sum(report, "running"));
	return kpis;
}

/* The query that lists the runs of the report: that started in the period, or, `of` being
 * "merged_", whose pull requests were merged then. */
static const char *runs_query(const struct report *report, const char *of)
{
	return arena_printf(report->rq->arena, "/api/v1.0/fleet/runs?%ssince=%s&%suntil=%s%s", of,
	                    report->period->since, of, report->period->until, report->repos_query);
}

/* For each figure, the query that lists the runs that it was computed from. */
static yyjson_mut_val *build_sources(const struct report *report)
{
	static const char STARTED[] = "", MERGED_THEN[] = "merged_";
	static const struct {
		const char *kpi, *of, *filter;
	} SOURCES[] = {
		{"runs", STARTED, ""},
		{"pull_requests_opened", STARTED, "&outcome_kind=pull_request"},
		{"pull_requests_merged", MERGED_THEN, ""},
		{"merge_rate", MERGED_THEN, ""},
		{"issues_opened", STARTED, "&outcome_kind=issue"},
		{"cost_usd", STARTED, ""},
		{"runs_with_cost", STARTED, ""},
		{"cost_per_dispatched_run", STARTED, ""},
		{"cost_per_merged_pull_request", MERGED_THEN, ""},
		{"input_tokens", STARTED, ""},
		{"output_tokens", STARTED, ""},
		{"median_hours_to_merge", MERGED_THEN, ""},
		{"failure_rate", STARTED, "&outcome_kind=failed"},
	};
	yyjson_mut_val *sources = yyjson_mut_obj(report->doc);
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		yyjson_mut_obj_add_str(report->doc, sources, SOURCES[i].kpi,
		                       arena_printf(report->rq->arena, "%s%s",
		                                    runs_query(report, SOURCES[i].of),
		                                    SOURCES[i].filter));
	return sources;
}

static const char *count_of(struct request *rq, int64_t count, const char *noun)
{
	return arena_printf(rq->arena, "%jd %s%s", (intmax_t)count, noun, count == 1 ? "" : "s");
}

/* `42 runs on 5 repositories: 12 pull requests opened, 7 merged; 3 failed; 12.40 USD over 40 of the
 * runs`. */
static const char *build_headline(const struct report *report, int64_t agents)
{
	struct request *rq = report->rq;
	int64_t runs = (int64_t)sum(report, "runs"), known = (int64_t)sum(report, "cost_runs");
	if (runs == 0)
		return "no runs in this period";
	const char *cost = known == 0 ? "cost unknown"
	                              : arena_printf(rq->arena, "%.2f USD over %jd of the runs",
	                                             sum(report, "cost_usd"), (intmax_t)known);
	return arena_printf(rq->arena, "%s on %jd %s: %s opened, %jd merged; %jd failed; %s",
	                    count_of(rq, runs, "run"), (intmax_t)agents,
	                    agents == 1 ? "repository" : "repositories",
	                    count_of(rq, (int64_t)sum(report, "pull_requests"), "pull request"),
	                    (intmax_t)report->merged, (intmax_t)sum(report, "failed"), cost);
}

static yyjson_mut_val *build_findings(const struct report *report, yyjson_val *facts)
{
	struct finding_facts given = {report->sums, facts, runs_query(report, "")};
	yyjson_mut_val *findings = yyjson_mut_arr(report->doc);
	findings_add(report->rq->arena, report->doc, findings, &given);
	return findings;
}

void fleet_report_get(struct request *rq)
{
	struct report_input *in = request_input(rq, struct report_input, REPORT_FIELDS);
	struct period period = period_read(rq, in->since, in->until, &PERIOD_LIMITS);
	struct pg_rows *rows =
		pg_query(rq, FLEET_REPORT_SQL, pg_uuid(rq->caller.account), pg_text(period.since),
	                 pg_text(period.until), pg_text(in->repos), pg_text(rq->caller.repo),
	                 pg_text(timeline_step(period.days)));
	struct report report = {
		.rq = rq,
		.doc = json_doc_new(rq->arena),
		.period = &period,
		.sums = json_parse_own(rq->arena, pg_get(rows, 0, "sums")),
		.merged = pg_get_int(rows, 0, "merged"),
		.median_hours = pg_get(rows, 0, "median_hours"),
		.repos_query = pg_get(rows, 0, "repos_query") ? pg_get(rows, 0, "repos_query") : "",
	};
	yyjson_mut_val *root = yyjson_mut_obj(report.doc);
	yyjson_mut_doc_set_root(report.doc, root);
	yyjson_mut_obj_add_str(report.doc, root, "headline",
	                       build_headline(&report, pg_get_int(rows, 0, "agents_count")));
	yyjson_mut_val *shown_period = yyjson_mut_obj_add_obj(report.doc, root, "period");
	yyjson_mut_obj_add_str(report.doc, shown_period, "since", period.since);
	yyjson_mut_obj_add_str(report.doc, shown_period, "until", period.until);
	yyjson_mut_obj_add_val(report.doc, root, "kpis", build_kpis(&report));
	yyjson_mut_obj_add_val(report.doc, root, "kpi_sources", build_sources(&report));
	yyjson_mut_obj_add_val(report.doc, root, "agents",
	                       yyjson_mut_raw(report.doc, pg_get(rows, 0, "agents")));
	yyjson_mut_obj_add_val(report.doc, root, "findings",
	                       build_findings(&report,
	                                      json_parse_own(rq->arena, pg_get(rows, 0, "facts"))));
	yyjson_mut_obj_add_val(report.doc, root, "deliverables",
	                       yyjson_mut_raw(report.doc, pg_get(rows, 0, "deliverables")));
	yyjson_mut_obj_add_val(report.doc, root, "chronology",
	                       yyjson_mut_raw(report.doc, pg_get(rows, 0, "chronology")));
	reply_doc(rq, 200, report.doc);
}
