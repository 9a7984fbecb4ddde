/** Opening and merging pull requests.
 *
 *     POST /internal/code-host/pull-requests/open
 *     {"repo", "head": "expops/agent", "base"?: "main", "title", "body"?, "draft"?: false}
 *     {"repo", "created": true, "pull_request": {…}}
 *
 * `head` and `base` are branches of the repository, `base` the default branch when it is left out.
 * An open pull request of the two branches is found (`created` false, and what it says is left as
 * it is); so is the newest one that was merged, when the branch has nothing that the base lacks. No
 * pull request and nothing to merge is 409.
 *
 *     POST /internal/code-host/pull-requests/merge
 *     {"repo", "number": 5, "method"?: "squash" | "merge" | "rebase", "sha"?: "6dcb09b5…"}
 *     {"repo", "merged": true, "pull_request": {…}}
 *
 * `sha` is the head that may be merged: 409 when the branch has moved on. One that is merged
 * already is found. One that cannot be merged (a conflict, a required review) is 409 with the code
 * host's reason.
 *
 * A pull request, here and in listing.h:
 *
 *     {"number": 5, "html_url", "title", "state": "open", "draft", "merged": false, "head": "expops/agent",
 *      "head_sha", "head_repo": "acme/ranker", "base": "main", "author": "octocat", "created_at", "updated_at",
 *      "closed_at", "merged_at"}
 *
 * `head_repo` is the repository of the branch: another one when the pull request comes from a fork;
 * null when that is deleted. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

void pull_request_open(struct request *rq);
void pull_request_merge(struct request *rq);

/** A pull request of the code host in the form above. */
yyjson_mut_val *pull_request_json(yyjson_mut_doc *doc, yyjson_val *pull);
