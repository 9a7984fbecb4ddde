/** svc-fleet/agent/: the agents that work on an account's repositories, and single runs of theirs.
 *
 *     installation.c  agents that were provisioned
 *     activity.c      one repository's runs, events and directions
 *     evidence.c      the gates that a run passed, and how faithful it was to its paper
 *     analysis.c      why a run ended as it did, by rules over its record; analyze.c: the operation
 *     digest.c        what a run opened, in a few sentences
 *     run_record.c    one run's whole record, and the texts that were made about it
 *     code_host.c     what the code host's events say of pull requests, issues and workflow runs
 */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** GET /fleet/installations */
void installation_list(struct request *rq);

/** POST /fleet/installations/{installation_id}/revoke: revoke its key at the gateway, then itself.
 * If the process ends in between, the event of the key revokes the installation. */
void installation_revoke(struct request *rq);

/** POST /internal/fleet/installations: record that an agent was provisioned. */
void installation_record(struct request *rq);

/** Event `key.revoked`: revoke the installation that uses the key. */
void installation_key_revoked(struct request *rq, const struct event *event);

/** Event `key.replaced`: the installation goes on with the key that was made in place of its
 * own. */
void installation_key_replaced(struct request *rq, const struct event *event);

/** GET /fleet/agents/activity */
void activity_get(struct request *rq);

/** POST /fleet/agents/artifact/evidence */
void evidence_get(struct request *rq);

/** POST /fleet/agents/runs/analyze */
void run_analyze(struct request *rq);

/** POST /fleet/agents/inbox/digest */
void inbox_digest_get(struct request *rq);

/** Events `pull_request` and `issues` of the code host: what became of what a run opened. */
void on_code_host_item(struct request *rq, const struct event *event);

/** Event `push` of the code host: its last commit may revert what was merged. */
void on_code_host_push(struct request *rq, const struct event *event);

/** Event `workflow_run` of the code host: a run of the agents' workflow has begun or ended. */
void on_code_host_run(struct request *rq, const struct event *event);

/** Event `repository_name`: what is kept of the repository follows, and its owners are asked about:
 * it may have gone to somebody else. Then they learn what was reported under the new name before
 * that was known. */
void on_code_host_name(struct request *rq, const struct event *event);
