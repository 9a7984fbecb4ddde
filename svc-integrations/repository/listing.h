/** Open pull requests and issues of a repository, newest first.
 *
 *     POST /internal/code-host/pull-requests/list  {"repo", "page"?: 1, "per_page"?: 50}
 *     {"repo", "pull_requests": [{…}], "next_page": 2}
 *
 *     POST /internal/code-host/issues/list         {"repo", "page"?: 1, "per_page"?: 50}
 *     {"repo", "issues": [{"number", "html_url", "title", "state", "labels": ["bug"], "comments": 0, "author",
 *                          "created_at", "updated_at", "closed_at"}], "next_page": null}
 *
 * `per_page` is at most 100. `next_page` null: this was the last page. Pull requests have the form of pull_request.h.
 * The code host counts pull requests among the issues; they are left out here, so that a page of issues may hold
 * fewer than `per_page`. */
#pragma once

#include "loop/request.h"

void pull_requests_list(struct request *rq);
void issues_list(struct request *rq);
