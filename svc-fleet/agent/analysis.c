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

/* A condition is met when all members that are set are true of the run, but one of `gate` and
 * `items` is enough. */
struct condition {
	const char *outcome;     /* outcome_kind */
	const char *stage;       /* of what the run opened */
	const char *gate;        /* it stopped the run */
	const char *items;       /* a member of the record, an array that is not empty */
	bool has_few_candidates; /* broad_pool_size is below POOL_MIN */
};

static const struct rule {
	struct condition when;
	const char *cause, *next_step;
} RULES[] = {
	{{.outcome = "running"},
         "The run has not ended.",
         "Wait for its report, or look at the workflow run."},
	{{.stage = "merged"},
         "The pull request of the run was merged.",
         "Compare the metric that it was meant to change."},
	{{.stage = "closed"},
         "What the run opened was closed without a merge.",
         "Read the review, and give the reason as feedback on the recommendation."},
	/* These two apply whatever outcome the run reports. */
	{{.gate = "preflight_decision"},
         "The check before the work stopped the run.",
         "Read preflight_decision and the error; choose another paper, or widen the brief."},
	{{.gate = "license_compat"},
         "The license of the paper's code does not go with the repository's.",
         "Choose a paper with compatible code, or let the agent write it anew."},
	{{.outcome = "failed", .gate = "test_status"},
         "The repository's tests failed on the change.",
         "Run the tests on the agent's branch; if they fail without the change as well, mend them "
         "first."},
	{{.outcome = "failed", .gate = "test_integration_gate", .items = "integration_violations"},
         "The change is not integrated as the policy demands.",
         "Read integration_violations; start again from the branch with a narrower brief."},
	{{.outcome = "failed", .gate = "lint_status"},
         "The linter refused the change.",
         "Start again from the branch, or let the agent format the code."},
	{{.outcome = "failed", .items = "files_dropped_out_of_scope"},
         "The agent changed files outside of its brief, and these changes were dropped.",
         "Widen the brief if they are needed."},
	{{.outcome = "failed"},
         "The run failed.",
         "Read the error; trigger the run again if it was a passing fault."},
	{{.outcome = "skipped", .has_few_candidates = true},
         "There were too few candidates to choose from.",
         "Widen the interest's context, or refresh its recommendations."},
	{{.outcome = "skipped"},
         "The agent found nothing worth changing.",
         "Read why the candidates were rejected; pin a paper if one of them should be tried."},
	{{.outcome = "pull_request"},
         "The run opened a pull request, which waits for a review.",
         "Review the pull request."},
	{{.outcome = "issue"},
         "The run opened an issue in place of a change.",
         "Read the issue and answer its question."},
	{{.outcome = "branch"},
         "The run pushed a branch and opened no pull request.",
         "Look at the branch; open a pull request if it is worth one."},
};

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

static bool has_few_candidates(const struct facts *facts)
{
	yyjson_val *size = json_get(facts->source->record, "broad_pool_size");
	return size && yyjson_get_num(size) < POOL_MIN;
}

static bool is_met(const struct condition *when, const struct facts *facts)
{
	const char *stage = facts->source->stage;
	if (when->outcome && strcmp(when->outcome, facts->outcome) != 0)
		return false;
	if (when->stage && !(stage && strcmp(when->stage, stage) == 0))
		return false;
	if (when->has_few_candidates && !has_few_candidates(facts))
		return false;
	if (!when->gate && !when->items)
		return true;
	return (when->gate && is_stopped_by(facts, when->gate)) ||
	       (when->items && yyjson_arr_size(json_get(facts->source->record, when->items)) > 0);
}

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
		if (is_met(&RULES[i].when, &facts)) {
			analysis.cause = RULES[i].cause;
			analysis.next_step = RULES[i].next_step;
			break;
		}
	}
	const char *error = json_get_text(source->record, "error");
	if (strcmp(facts.outcome, "failed") == 0 && error)
		analysis.cause = arena_printf(arena, "%s Reported: %s", analysis.cause,
		                              utf8_shorten(arena, error, EVIDENCE_MAX_BYTES));
	return analysis;
}
