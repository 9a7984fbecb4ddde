/** Runs of workflows.
 *
 *     POST /internal/code-host/runs/latest  {"repo", "workflow"?: "agent.yml", "branch"?: "main", "run_id"?: 12}
 *     {"repo", "run": {…}}
 *
 * The newest run of the workflow, or of all workflows; of the branch, or of all. With `run_id` that
 * run, and the other members are not looked at. `run` null: there is none, or no such workflow.
 *
 *     POST /internal/code-host/runs/cancel  {"repo", "run_id": 12}
 *     {"repo", "accepted": true, "run": {…}}
 *
 * `accepted` false: the run had ended. A run that is cancelled ends some seconds later.
 *
 * A run:
 *
 *     {"run_id": 12, "status": "completed", "conclusion": "success", "name", "html_url", "event", "branch", "head_sha",
 *      "workflow_path": ".github/workflows/agent.yml", "attempt": 1, "created_at", "updated_at", "started_at"}
 *
 * `status` is `queued`, `in_progress`, `completed`, `requested`, `waiting` or `pending`;
 * `conclusion`, null until then, `success`, `failure`, `cancelled`, `timed_out`, `startup_failure`,
 * `skipped`, `neutral`, `stale` or `action_required`. */
#pragma once

#include "repository/repository.h"

void run_latest(struct request *rq);
void run_cancel(struct request *rq);

/** A run as the operations show it, of the code host's description; null of NULL. */
yyjson_mut_val *run_json(yyjson_mut_doc *doc, yyjson_val *run);

/** For the row of a workflow's file name, `agent.yml` (struct field.check). */
bool workflow_name_check(const char *text, size_t length, const char **ret_message);
