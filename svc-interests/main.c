/* svc-interests: interests, recommendations for them, and preference models fitted to feedback. */
#include "analysis/repository_analysis.h"
#include "api/experiment.h"
#include "api/experiment_history.h"
#include "api/interest.h"
#include "api/recommendation.h"
#include "api/run_outcome.h"
#include "api/seen.h"
#include "digest/digest.h"
#include "digest/digest_message.h"
#include "feed/feed.h"
#include "llm/chat.h"
#include "main/service_main.h"
#include "pool/papers.h"
#include "pool/pool.h"
#include "product/agent_pair.h"
#include "product/agent_workflow.h"
#include "provision/agent_commands.h"
#include "provision/provision.h"
#include "provision/renewal.h"
#include "provision/schedule.h"
#include "provision/workflow_file.h"
#include "quality/funnel.h"
#include "quality/precision.h"
#include "quality/quality.h"
#include "quality/recommendation_evidence.h"
#include "quality/today.h"
#include "recommended/paper_json.h"
#include "refresh/daily.h"
#include "refresh/refit.h"
#include "refresh/refresh.h"
#include "retention/retention.h"
#include "service/repository_name.h"
#include "source/source.h"
#include "svc-interests-schema.h"

/* Enough for a refresh of an account with a thousand interests. */
#define REFRESH_TIMEOUT_MS ((uint64_t)30 * 60 * 1000)

static const struct route ROUTES[] = {
	{API_ID_interests_list, interest_list},
	{API_ID_interest_create, interest_create},
	{API_ID_interest_get, interest_get},
	{API_ID_interest_update, interest_update},
	{API_ID_interest_delete, interest_delete},
	{API_ID_interest_toggle, interest_toggle},
	{API_ID_interest_quality_get, quality_get},
	{API_ID_recommendations_precision_get, precision_get},
	{API_ID_repository_analyze, repository_analyze},
	{API_ID_candidates_score, candidates_score},
	{API_ID_preference_model_refit, preference_model_refit},
	{API_ID_refit_task_get, refit_task_get},
	{API_ID_recommendations_list, recommendation_list},
	{API_ID_recommendations_funnel_get, funnel_get},
	{API_ID_recommendations_digest_get, digest_get},
	{API_ID_recommendations_refresh, recommendation_refresh},
	{API_ID_refresh_task_get, refresh_task_get},
	{API_ID_recommendation_feedback, recommendation_feedback},
	{API_ID_recommendation_feedback_delete, recommendation_feedback_delete},
	{API_ID_recommendation_explanation, recommendation_explanation},
	{API_ID_feeds_list, feed_list},
	{API_ID_feed_create, feed_create},
	{API_ID_feed_delete, feed_delete},
	{API_ID_feed_get, feed_get},
	{API_ID_agent_pause, agent_pause},
	{API_ID_agent_resume, agent_resume},
	{API_ID_interest_provision, provision_start},
	{API_ID_provision_task_get, provision_task_get},
	{API_ID_provision_status_get, provision_status_get},
	{API_ID_provision_cli_token_create, provision_cli_token_create},
	{0},
};

static const struct internal_route INTERNAL_ROUTES[] = {
	{INTERNAL_ID_agent_pair_get, agent_pair_get},
	{INTERNAL_ID_interest_pool_get, interest_pool_get},
	{INTERNAL_ID_interest_seen_get, interest_seen_get},
	{INTERNAL_ID_interest_evidence_get, recommendation_evidence_get},
	{0},
};

static const struct job JOBS[] = {
	{"pool_build", pool_build},
	{"recommendations_refresh", refresh_run, .timeout_ms = REFRESH_TIMEOUT_MS},
	{"recommendations_refresh_all", refresh_run, .timeout_ms = REFRESH_TIMEOUT_MS,
         .is_long = true},
	{"preference_model_refit", refit_run},
	{"provision", provision_run, .acts_for_caller = true},
	{"first_run", first_run_run, .acts_for_caller = true},
	{"scheduled_run", scheduled_run_run, .acts_for_caller = true},
	{"workflow_renewal", renewal_run, .acts_for_caller = true},
	{"key_revoke", key_revoke_run},
	{"digest", digest_message_run},
	{0},
};

static const struct event_handler EVENTS[] = {
	{"events.assets", "harvest.finished", daily_harvest_finished},
	{"events.experiments", "experiment.created", experiment_store},
	{"events.experiments", "experiment.updated", experiment_store},
	{"events.experiments", "experiment.deleted", experiment_store},
	{"events.code_host", "digest.due", digest_message_due},
	{"events.code_host", "pull_request", on_provision_pull_request},
	{"events.code_host", "installation", on_provision_app},
	{"events.code_host", "installation_repositories", on_provision_app},
	{"events.code_host", "repository_name", on_repository_name},
	{"events.account", "key.revoked", provision_key_revoked},
	{"events.account", "member.removed", feed_maker_gone},
	{"events.account", "member.disabled", feed_maker_gone},
	{"events.runs", "deliverable.open", run_outcome_store},
	{"events.runs", "deliverable.merged", run_outcome_store},
	{"events.runs", "deliverable.closed", run_outcome_store},
	{"events.runs", "deliverable.reverted", run_outcome_store},
	{"events.runs", "deliverable.withdrawn", run_outcome_store},
	{0},
};

static const struct recurring RECURRING[] = {
	{"daily", daily_run, &daily_check_ms},
	{"schedules", schedules_run, &schedule_check_ms},
	{"workflow-renewals", renewals_run, &renewal_check_ms},
	{"papers", papers_age, &papers_age_ms},
	{"digests", digest_message_pass, &digest_check_ms},
	{"follow-embedder", refit_others, &refit_check_ms},
	{"retention", retention_keep, &RETENTION_KEEP_EVERY_MS},
	{"old_facts", retained_tables_keep, &RETAINED_TABLES_EVERY_MS},
	{"today", today_measure, &TODAY_EVERY_MS},
	{0},
};

static void process_start(struct process *process)
{
	(void)process;
	sources_init();
	chat_init();
}

static enum err_code settings_check(void)
{
	enum err_code code = daily_settings_check();
	return code ? code : provision_settings_check();
}

static const struct service SERVICE = {
	.name = "svc-interests",
	.schema = "interests",
	.api = API_INTERESTS,
	.routes = ROUTES,
	.internal_routes = INTERNAL_ROUTES,
	.jobs = JOBS,
	.events = EVENTS,
	.schema_definition = &SCHEMA,
	.settings = (const struct setting *const[]){INTEREST_SETTINGS, PAPER_JSON_SETTINGS,
                                                    POOL_SETTINGS, PAPERS_SETTINGS, REFIT_SETTINGS,
                                                    REFRESH_SETTINGS, DAILY_SETTINGS,
                                                    RETENTION_SETTINGS, DIGEST_SETTINGS,
                                                    AGENT_SETTINGS, AGENT_WORKFLOW_SETTINGS,
                                                    COMMAND_SETTINGS, SCHEDULE_SETTINGS,
                                                    RENEWAL_SETTINGS, SOURCE_SETTINGS,
                                                    CHAT_SETTINGS, ANALYSIS_SETTINGS, NULL},
	.settings_check = settings_check,
	.recurring = RECURRING,
	.process_start = process_start,
	.worker_start = paper_json_start,
	.worker_stop = paper_json_stop,
	.background_start = papers_start,
	.background_is_for_jobs = true,
	.background_stop = papers_stop,
	.keeps_accounts = true,
	.tables = INTERESTS_TABLES,
};

int main(int argc, char **argv)
{
	return service_main(&SERVICE, argc, argv);
}
