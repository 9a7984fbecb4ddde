#include "show/views.h"

#include "show/draw.h"

#define LIST_OF(columns, listed, nothing)                \
	{                                                \
		"", (columns), (nothing), (listed), NULL \
	}
#define RECORD_OF(columns)                                  \
	{                                                   \
		NULL, (columns), NULL, REFERENCE_NONE, NULL \
	}

/* ---- papers ---- */

static const struct column PAPERS[] = {
	{"#", "#", CELL_COUNT},
	{"SCORE", "/relevance_score", CELL_SCORE},
	{"PAPER", "/arxiv_id"},
	{"TITLE", "/title", CELL_TEXT, COLUMN_WIDE},
	{"PUBLISHED", "/published_at", CELL_AGE, COLUMN_EXTRA},
	{"CATEGORIES", "/categories", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_PAPERS = LIST_OF(PAPERS, REFERENCE_PAPER, "no paper matches");

static const struct column PAPER[] = {
	{"Title", "/title"},
	{"Paper", "/arxiv_id"},
	{"Authors", "/authors"},
	{"Categories", "/categories"},
	{"Published", "/published_at", CELL_AGE},
	{"Address", "/url"},
	{"Code", "/github_url"},
	{"Container", "/container_status", CELL_STATE},
	{"Image", "/container_image"},
	{"Licence", "/license"},
	{"Withdrawn", "/withdrawn", CELL_FLAG},
	{"Abstract", "/abstract"},
	{0},
};
const struct view VIEW_PAPER = RECORD_OF(PAPER);

const struct view VIEW_DIGEST = {"/interests/*/recommendations", NULL, "", REFERENCE_RECOMMENDATION,
                                 draw_digest};
const struct view VIEW_RECOMMENDATIONS = {"", NULL, "", REFERENCE_RECOMMENDATION,
                                          draw_recommendations};
const struct view VIEW_EXPLANATION = {NULL, NULL, NULL, REFERENCE_NONE, draw_explanation};

/* ---- interests ---- */

static const struct column INTERESTS[] = {
	{"#", "#", CELL_COUNT},
	{"NAME", "/name", CELL_TEXT, COLUMN_WIDE},
	{"ACTIVE", "/is_active", CELL_FLAG},
	{"A DAY", "/daily_count", CELL_COUNT},
	{"CANDIDATES", "/pool_status", CELL_STATE},
	{"SIZE", "/pool_size", CELL_COUNT, COLUMN_EXTRA},
	{"REFRESHED", "/last_recommendation_at", CELL_AGE, COLUMN_EXTRA},
	{"REPOSITORY", "/source_repo_url", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_INTERESTS = LIST_OF(INTERESTS, REFERENCE_INTEREST,
                                           "no interests yet; expops interest add NAME makes one");

static const struct column INTEREST[] = {
	{"Name", "/name"},
	{"Id", "/id"},
	{"Active", "/is_active", CELL_FLAG},
	{"A day", "/daily_count"},
	{"Candidates", "/pool_status", CELL_STATE},
	{"Size", "/pool_size"},
	{"Refreshed", "/last_recommendation_at", CELL_AGE},
	{"Repository", "/source_repo_url"},
	{"Models of", "/model_provider"},
	{"Agent starts", "/schedule"},
	{"Agent paused", "/agent_paused", CELL_FLAG},
	{"Context", "/context"},
	{"Experiments", "/experiment_history"},
	{"Deleted", "/deleted", CELL_FLAG},
	{0},
};
const struct view VIEW_INTEREST = RECORD_OF(INTEREST);

/* ---- work that takes longer ---- */

static const struct column TASK[] = {
	{"Task", "/task_id"},
	{"Kind", "/kind"},
	{"State", "/status", CELL_STATE},
	{"Progress", "/progress"},
	{"Message", "/message"},
	{"Error", "/error"},
	{"Result", "/result"},
	{"Created", "/created_at", CELL_AGE},
	{"Finished", "/finished_at", CELL_AGE},
	{0},
};
const struct view VIEW_TASK = RECORD_OF(TASK);

static const struct column PROVISIONING[] = {
	{"Task", "/task_id"},
	{"State", "/status", CELL_STATE},
	{"Repository", "/result/repo"},
	{"Pull request", "/result/pr_url"},
	{"Merged", "/result/merged", CELL_FLAG},
	{"Key missing", "/result/model_key_missing", CELL_FLAG},
	{"First run", "/result/dispatched", CELL_FLAG},
	{"Changed", "/result/changed"},
	{"Message", "/message"},
	{"Error", "/error"},
	{0},
};
const struct view VIEW_PROVISIONING = RECORD_OF(PROVISIONING);

/* ---- agents ---- */

static const struct column RUNS[] = {
	{"#", "#", CELL_COUNT},
	{"RUN", "/run_id"},
	{"REPOSITORY", "/repo", CELL_TEXT, COLUMN_WIDE},
	{"OUTCOME", "/outcome_kind", CELL_STATE},
	{"STATUS", "/status", CELL_TEXT, COLUMN_WIDE | COLUMN_EXTRA},
	{"PAPER", "/arxiv_id", CELL_TEXT, COLUMN_EXTRA},
	{"COST", "/cost_usd", CELL_COST},
	{"STARTED", "/started_at", CELL_AGE},
	{"AGENT", "/agent", CELL_TEXT, COLUMN_EXTRA},
	{"RESULT", "/artifact_url", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_RUNS = LIST_OF(RUNS, REFERENCE_NONE, "no agent has run yet");

static const struct column RUN_STARTED[] = {
	{"Repository", "/repo"},
	{"Run", "/run_id"},
	{"Address", "/html_url"},
	{"Workflow", "/workflow"},
	{"Branch", "/ref"},
	{"Agent", "/agent"},
	{"Provider", "/provider"},
	{"Key missing", "/model_key_missing", CELL_FLAG},
	{0},
};
const struct view VIEW_RUN_STARTED = RECORD_OF(RUN_STARTED);

static const struct column RUN_STATUS[] = {
	{"Repository", "/repo"},
	{"Run", "/run_id"},
	{"Status", "/status", CELL_STATE},
	{"Outcome", "/outcome_kind", CELL_STATE},
	{"Result", "/artifact_url"},
	{"Address", "/html_url"},
	{"Started", "/started_at", CELL_AGE},
	{0},
};
const struct view VIEW_RUN_STATUS = RECORD_OF(RUN_STATUS);

static const struct column AGENTS[] = {
	{"REPOSITORY", "/repo", CELL_TEXT, COLUMN_WIDE},
	{"AGENT", "/agent"},
	{"PROVIDER", "/provider", CELL_TEXT, COLUMN_EXTRA},
	{"STATUS", "/status", CELL_STATE},
	{"LAST RUN", "/last_run_at", CELL_AGE},
	{"INSTALLED", "/installed_at", CELL_AGE, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_AGENTS =
	LIST_OF(AGENTS, REFERENCE_NONE, "no agent yet; expops provision INTEREST puts one to work");

static const struct column INBOX[] = {
	{"#", "#", CELL_COUNT},
	{"SEVERITY", "/severity", CELL_STATE},
	{"TITLE", "/title", CELL_TEXT, COLUMN_WIDE},
	{"SINCE", "/created_at", CELL_AGE},
	{"LINK", "/href", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_INBOX = LIST_OF(INBOX, REFERENCE_INBOX_ITEM, "the inbox is empty");

const struct view VIEW_REPORT = {NULL, NULL, NULL, REFERENCE_NONE, draw_report};

/* ---- experiments ---- */

static const struct column EXPERIMENTS[] = {
	{"#", "#", CELL_COUNT},
	{"NAME", "/name", CELL_TEXT, COLUMN_WIDE},
	{"STATUS", "/status", CELL_STATE},
	{"OUTCOME", "/outcome"},
	{"DELTA", "/observed_delta", CELL_SCORE},
	{"METRIC", "/target_metric", CELL_TEXT, COLUMN_WIDE | COLUMN_EXTRA},
	{"UPDATED", "/updated_at", CELL_AGE},
	{"PROJECT", "/project_name", CELL_TEXT, COLUMN_EXTRA},
	{"PULL REQUEST", "/pr_url", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_EXPERIMENTS =
	LIST_OF(EXPERIMENTS, REFERENCE_EXPERIMENT,
                "no experiments yet; expops experiment add NAME makes one");

static const struct column EXPERIMENT[] = {
	{"Name", "/name"},
	{"Id", "/id"},
	{"Status", "/status", CELL_STATE},
	{"Hypothesis", "/hypothesis"},
	{"Outcome", "/outcome"},
	{"Decision", "/decision"},
	{"Metric", "/target_metric"},
	{"Delta", "/observed_delta", CELL_SCORE},
	{"Confidence", "/delta_confidence"},
	{"Project", "/project_name"},
	{"Tags", "/tags"},
	{"Source", "/source_ref"},
	{"Pipeline", "/pipeline_status", CELL_STATE},
	{"Branch", "/branch_name"},
	{"Pull request", "/pr_url"},
	{"Its state", "/pr_status", CELL_STATE},
	{"Ticket", "/ticket_url"},
	{"Created", "/created_at", CELL_AGE},
	{"Updated", "/updated_at", CELL_AGE},
	{0},
};
const struct view VIEW_EXPERIMENT = RECORD_OF(EXPERIMENT);

const struct view VIEW_RESULTS = {NULL, NULL, NULL, REFERENCE_NONE, draw_results};
const struct view VIEW_CONTEXT = {NULL, NULL, NULL, REFERENCE_NONE, draw_context};

static const struct column PIPELINE[] = {
	{"Experiment", "/experiment_id"},
	{"Pipeline", "/pipeline_status", CELL_STATE},
	{"Branch", "/branch_name"},
	{"Pull request", "/pr_url"},
	{"Its state", "/pr_status", CELL_STATE},
	{"Run", "/run_url"},
	{"Summary", "/summary"},
	{"Error", "/error"},
	{0},
};
const struct view VIEW_PIPELINE = RECORD_OF(PIPELINE);

/* ---- evaluations ---- */

static const struct column TEMPLATES[] = {
	{"#", "#", CELL_COUNT},
	{"NAME", "/name", CELL_TEXT, COLUMN_WIDE},
	{"VERSION", "/version", CELL_COUNT},
	{"LOCKED", "/locked", CELL_FLAG},
	{"REPOSITORY", "/repo", CELL_TEXT, COLUMN_EXTRA},
	{"UPDATED", "/updated_at", CELL_AGE},
	{0},
};
const struct view VIEW_TEMPLATES = LIST_OF(TEMPLATES, REFERENCE_TEMPLATE, "no templates yet");

static const struct column EVAL_RUNS[] = {
	{"#", "#", CELL_COUNT},
	{"NAME", "/name", CELL_TEXT, COLUMN_WIDE},
	{"STATUS", "/status", CELL_STATE},
	{"METRICS", "/metrics", CELL_TEXT, COLUMN_WIDE},
	{"CREATED", "/created_at", CELL_AGE},
	{"WORKER", "/worker", CELL_TEXT, COLUMN_EXTRA},
	{"RUN", "/run_id", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_EVAL_RUNS = LIST_OF(EVAL_RUNS, REFERENCE_EVAL_RUN, "no runs yet");

static const struct column EVAL_RUN[] = {
	{"Run", "/run_id"},
	{"Name", "/name"},
	{"Status", "/status", CELL_STATE},
	{"Metrics", "/metrics"},
	{"Error", "/error/message"},
	{"Template", "/template_id"},
	{"Build", "/build_id"},
	{"Parameters", "/params"},
	{"Worker", "/worker"},
	{"Created", "/created_at", CELL_AGE},
	{"Finished", "/finished_at", CELL_AGE},
	{0},
};
const struct view VIEW_EVAL_RUN = RECORD_OF(EVAL_RUN);

static const struct column BUILD[] = {
	{"Build", "/build_id"},
	{"Status", "/status", CELL_STATE},
	{"Source", "/source"},
	{"Repository", "/repo"},
	{"Paper", "/arxiv_id"},
	{"Image", "/image"},
	{"Error", "/error/message"},
	{"Worker", "/worker"},
	{"Created", "/created_at", CELL_AGE},
	{"Finished", "/finished_at", CELL_AGE},
	{0},
};
const struct view VIEW_BUILD = RECORD_OF(BUILD);

/* ---- keys ---- */

static const struct column KEYS[] = {
	{"#", "#", CELL_COUNT},
	{"NAME", "/name", CELL_TEXT, COLUMN_WIDE},
	{"KIND", "/kind"},
	{"BEGINS WITH", "/prefix", CELL_TEXT, COLUMN_EXTRA},
	{"STATUS", "/status", CELL_STATE},
	{"USED", "/last_used_at", CELL_AGE},
	{"EXPIRES", "/expires_at", CELL_TEXT, COLUMN_EXTRA},
	{"REPOSITORY", "/repo", CELL_TEXT, COLUMN_EXTRA},
	{0},
};
const struct view VIEW_KEYS = {"/keys", KEYS, "no keys", REFERENCE_KEY, NULL};

static const struct column KEY_CREATED[] = {
	{"Key", "/key"}, {"Name", "/name"}, {"Scopes", "/scopes"}, {"Expires", "/expires_at"}, {0},
};
const struct view VIEW_KEY_CREATED = RECORD_OF(KEY_CREATED);
