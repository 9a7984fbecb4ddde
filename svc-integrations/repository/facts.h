/** What is known of the code host and of a repository: its installation, its description and
 * README.
 *
 *     POST /internal/code-host/status  {}
 *     {"configured": true}
 *
 * whether there is a code host with an app; nothing is asked of it.
 *
 *     POST /internal/code-host/installation  {"repo", "purpose"?: "change"}
 *     {"installed": true, "installation_id": 51, "account": "acme", "repo": "acme/ranker",
 *      "permissions": {"contents": "write"}, "suspended_at": null, "obstacle": null}
 *
 * as GET /github/app/installation answers, of a repository that is the account's. `obstacle`: why
 * nothing can be changed there through the app, and what to do about it, such as `acme/ranker is
 * archived at the code host: unarchive it`; fit to be shown to a user. Work that will change the
 * repository begins with the purpose `change`: the code host is asked anew then.
 *
 *     POST /internal/code-host/access  {"repo"}
 *     {"access": true}
 *
 * whether the account's connection can push to the repository, remembered for five minutes.
 *
 *     POST /internal/code-host/names  {"repo", "other"}
 *     {"same": true}
 *
 * whether both are names of one repository, present or old.
 *
 *     POST /internal/code-host/repository  {"repo"}
 *     {"repo": "acme/ranker", "id": 7, "html_url", "description", "homepage", "language", "topics": [],
 *      "license": "MIT", "default_branch": "main", "private", "archived", "fork", "stargazers_count",
 *      "pushed_at", "updated_at", "readme": {"path": "README.md", "text", "is_cut"}}
 *
 * Every member but `repo` and `id` may be null. `readme.text` has at most 256 KiB, `is_cut` says
 * that it is longer. This works without an installation, too, for an account whose connection can
 * push to the repository. */
#pragma once

#include "loop/request.h"

void code_host_status_get(struct request *rq);
void installation_facts_get(struct request *rq);
void repository_access_get(struct request *rq);
void repository_facts_get(struct request *rq);
void repository_names_compare(struct request *rq);
