/** Putting a file on a branch, and reading one.
 *
 *     POST /internal/code-host/files/put
 *     {"repo", "branch": "expops/agent", "base"?: "main", "path": ".github/workflows/agent.yml",
 *      "content": "on: workflow_dispatch\n", "message": "Add the agent's workflow"}
 *     {"repo", "branch", "branch_created": true, "path", "changed": true, "commit_sha": "6dcb09b5…"}
 *
 * The branch is made at the head of `base`, or of the default branch, unless it exists. `changed`
 * false: the file was there with this content; nothing was written. `commit_sha` is the head of the
 * branch afterwards. `content` is UTF-8, at most 512 KiB. A file that is there with another content
 * is replaced. Changes of one branch are made one after the other.
 *
 *     POST /internal/code-host/files/get  {"repo", "path", "branch"?: "main"}
 *     {"repo", "path", "found": true, "content": "on: workflow_dispatch\n"}
 *
 * Of the default branch when it is left out. `found` false: there is no such file, or no such
 * branch. `content` null: it is no file, or too large to be read. */
#pragma once

#include "loop/request.h"

void file_put(struct request *rq);
void file_get(struct request *rq);
