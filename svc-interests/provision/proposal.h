/** Proposing the workflow to those who own the repository: on a branch, in a pull request into the
 * default branch. Internal to this folder.
 *
 * The newest pull request is that of the row of provisioning: `work_branch`, `pr_number`, `pr_url`,
 * `closed_at`. All but proposal_branch() suspend, may be called again, and raise what asking the
 * code host raises. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

struct proposal {
	const char *repo, *branch;
	const char *content;      /* of the workflow */
	const char *title, *body; /* of the pull request; the commit has the title, too */
};

/** The branch for a workflow that the repository has not. `row` as in struct provision: that of the
 * pull request that is open; before a workflow was ever merged, the one that is wanted; else one
 * that no proposal had, with the last characters of `task_id` in its name, since commits on a
 * branch that was merged would reach no pull request. */
const char *proposal_branch(struct request *rq, yyjson_val *row, const char *task_id);

/** The workflow on the default branch. NULL: there is none. */
const char *proposal_workflow_there(struct request *rq, const char *repo);

/** Whether the default branch has the workflow with this content. */
bool proposal_is_in_place(struct request *rq, const char *repo, const char *content);

/** Write the workflow on the branch, which is made from the default branch where it is missing:
 * {"changed", "commit_sha", ...} (svc-integrations/repository/file.h). */
yyjson_val *proposal_commit(struct request *rq, const struct proposal *proposal);

/** The pull request of the branch, which is opened unless there is one: {"created", "pull_request"}
 * (svc-integrations/repository/pull_request.h). Where that was merged, and the default branch has
 * another workflow or none, the workflow goes to another branch, which `proposal` then has. `row`
 * and `task_id` as of proposal_branch(). */
yyjson_val *proposal_open(struct request *rq, struct proposal *proposal, yyjson_val *row,
                          const char *task_id);

/** A sentence for its body: where the workflow is explained. */
const char *proposal_guide(struct arena *arena);
