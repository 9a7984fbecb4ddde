/** Pull requests, issues and workflow runs of a repository, newest first.
 *
 *     POST /internal/code-host/pull-requests/list
 *     {"repo", "state"?: "open", "since"?: "2026-01-31T09:30:00Z", "page"?: 1, "per_page"?: 50}
 *     {"repo", "pull_requests": [{…}], "next_page": 2}
 *
 *     POST /internal/code-host/issues/list
 *     {"repo", "state"?, "since"?, "page"?, "per_page"?}
 *     {"repo", "issues": [{"number", "html_url", "title", "state", "labels": ["bug"], "comments": 0, "author",
 *                          "created_at", "updated_at", "closed_at"}], "next_page": null}
 *
 *     POST /internal/code-host/runs/list
 *     {"repo", "workflow"?: "agent.yml", "since"?, "page"?, "per_page"?}
 *     {"repo", "workflow_runs": [{…}], "next_page": null}
 *
 * `state` is `open` or `all`. With `since` come only those that changed since then, the last
 * changed first; runs: only those that were made since then. `per_page` is at most 100. `next_page`
 * null: this was the last page. Pull requests have the form of pull_request.h, runs that of run.h.
 * A workflow that does not exist has no runs, and a repository without issues none. The code host
 * counts pull requests among the issues; they are left out here, so that a page of issues may hold
 * fewer than `per_page`. */
#pragma once

#include "loop/request.h"

void pull_requests_list(struct request *rq);
void issues_list(struct request *rq);
void runs_list(struct request *rq);
