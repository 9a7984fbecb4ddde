#include "agent/analysis.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

/* Fewer candidates than this leave an agent nothing to choose from. */
#define POOL_MIN 3

#define EVIDENCE_MAX_BYTES 300 /* of a value in a line of evidence */

struct facts {
	struct arena *arena;
	const struct analysis_source *source;
	const char *outcome; /* outcome_kind */
};

static bool is_outcome(const struct facts *facts, const char *kind)
{
	return strcmp(facts->outcome, kind) == 0;
}

static bool is_stopped_by(const struct facts *facts, const char *gate)
{
	size_t i, count;
	yyjson_val *one;
	yyjson_arr_foreach (facts->source->gates, i, count, one) {
		if (strcmp(json_get_text(one, "name"), gate) == 0)
			return strcmp(json_get_text(one, "status"), "stopped") == 0;
	}
	return false;
}

static bool has_stage(const struct facts *facts, const char *stage)
{
	return facts->source->stage && strcmp(facts->source->stage, stage) == 0;
}

static bool has_few_candidates(const struct facts *facts)
{
	yyjson_val *size = json_get(facts->source->record, "broad_pool_size");
	return size && yyjson_get_num(size) < POOL_MIN;
}

static bool has_items(const struct facts *facts, const char *member)
{
	return yyjson_arr_size(json_get(facts->source->record, member)) > 0;
}

/* When the rules below apply. */
static bool runs(const struct facts *f)
{
	return is_outcome(f, "running");
}
static bool is_merged(const struct facts *f)
{
	return has_stage(f, "merged");
}
static bool is_closed(const struct facts *f)
{
	return has_stage(f, "closed");
}
static bool opened_pull_request(const struct facts *f)
{
	return is_outcome(f, "pull_request");
}
static bool opened_issue(const struct facts *f)
{
	return is_outcome(f, "issue");
}
static bool pushed_branch(const struct facts *f)
{
	return is_outcome(f, "branch");
}
static bool failed(const struct facts *f)
{
	return is_outcome(f, "failed");
}
static bool skipped(const struct facts *f)
{
	return is_outcome(f, "skipped");
}
static bool skipped_dry(const struct facts *f)
{
	return skipped(f) && has_few_candidates(f);
}
static bool failed_preflight(const struct facts *f)
{
	return is_stopped_by(f, "preflight_decision");
}
static bool failed_license(const struct facts *f)
{
	return is_stopped_by(f, "license_compat");
}
static bool failed_lint(const struct facts *f)
{
	return failed(f) && is_stopped_by(f, "lint_status");
}
static bool failed_tests(const struct facts *f)
{
	return failed(f) && is_stopped_by(f, "test_status");
}
static bool failed_integration(const struct facts *f)
{
	return failed(f) && (is_stopped_by(f, "test_integration_gate") ||
	                     has_items(f, "integration_violations"));
}
static bool left_scope(const struct facts *f)
{
	return failed(f) && has_items(f, "files_dropped_out_of_scope");
}

static const struct rule {
	bool (*applies)(const struct facts *facts);
	const char *cause, *next_step;
} RULES[] = {
	{runs, "The run has not ended.", "Wait for its report, or look at the workflow run."},
	{is_merged, "The pull request of the run was merged.",
         "Compare the metric that it was meant to change."},
	{is_closed, "What the run opened was closed without a merge.",
         "Read the review, and give the reason as feedback on the recommendation."},
	{failed_preflight, "The check before the work stopped the run.",
         "Read preflight_decision and the error; choose another paper, or widen the brief."},
	{failed_license, "The license of the paper's code does not go with the repository's.",
         "Choose a paper with compatible code, or let the agent write it anew."},
	{failed_tests, "The repository's tests failed on the change.",
         "Run the tests on the agent's branch; if they fail without the change as well, mend them "
         "first."},
	{failed_integration, "The change is not integrated as the policy demands.",
         "Read integration_violations; start again from the branch with a narrower brief."},
	{failed_lint, "The linter refused the change.",
         "Start again from the branch, or let the agent format the code."},
	{left_scope,
         "The agent changed files outside of its brief, and these changes were dropped.",
         "Widen the brief if they are needed."},
	{failed, "The run failed.",
         "Read the error; trigger the run again if it was a passing fault."},
	{skipped_dry, "There were too few candidates to choose from.",
         "Widen the interest's context, or refresh its recommendations."},
	{skipped, "The agent found nothing worth changing.",
         "Read why the candidates were rejected; pin a paper if one of them should be tried."},
	{opened_pull_request, "The run opened a pull request, which waits for a review.",
         "Review the pull request."},
	{opened_issue, "The run opened an issue in place of a change.",
         "Read the issue and answer its question."},
	{pushed_branch, "The run pushed a branch and opened no pull request.",
         "Look at the branch; open a pull request if it is worth one."},
};

/* Members that are worth citing, where a run has them; beside them, its gates. */
static const char *const CITED[] = {
	"status",
	"error",
	"broad_pool_size",
	"candidates_considered",
	"selection_reasoning_excerpt",
	"stub_density",
	"integration_violations",
	"files_dropped_out_of_scope",
	"license_class",
	"artifact_url",
	NULL,
};

static void cite(const struct facts *facts, yyjson_mut_doc *doc, yyjson_mut_val *evidence,
                 const char *name, yyjson_val *value)
{
	if (!value || yyjson_is_null(value))
		return;
	const char *text = yyjson_get_str(value);
	if (!text)
		text = json_write(facts->arena, value, NULL);
	yyjson_mut_arr_add_str(doc, evidence,
	                       arena_printf(facts->arena, "%s: %s", name,
	                                    utf8_shorten(facts->arena, text, EVIDENCE_MAX_BYTES)));
}

static yyjson_mut_val *list_evidence(const struct facts *facts, yyjson_mut_doc *doc)
{
	yyjson_mut_val *evidence = yyjson_mut_arr(doc);
	for (const char *const *name = CITED; *name; name++)
		cite(facts, doc, evidence, *name, json_get(facts->source->record, *name));
	size_t i, count;
	yyjson_val *gate;
	yyjson_arr_foreach (facts->source->gates, i, count, gate)
		cite(facts, doc, evidence, json_get_text(gate, "name"), json_get(gate, "detail"));
	return evidence;
}

struct analysis run_analysis(struct arena *arena, yyjson_mut_doc *doc,
                             const struct analysis_source *source)
{
	struct facts facts = {
		.arena = arena,
		.source = source,
		.outcome = json_get_text(source->record, "outcome_kind"),
	};
	struct analysis analysis = {
		.cause = "The run ended with a status that has no rule.",
		.next_step = "Read its record.",
		.evidence = list_evidence(&facts, doc),
	};
	for (size_t i = 0; i < ARRAY_LEN(RULES); i++) {
		if (RULES[i].applies(&facts)) {
			analysis.cause = RULES[i].cause;
			analysis.next_step = RULES[i].next_step;
			break;
		}
	}
	const char *error = json_get_text(source->record, "error");
	if (failed(&facts) && error)
		analysis.cause = arena_printf(arena, "%s Reported: %s", analysis.cause,
		                              utf8_shorten(arena, error, EVIDENCE_MAX_BYTES));
	return analysis;
}
