/** svc-fleet/agent/: the agents that work on an account's repositories, and single runs of theirs.
 *
 *     installation.c  agents that were provisioned
 *     activity.c      one repository's runs, events and directions
 *     evidence.c      the gates that a run passed, and how faithful it was to its paper
 *     analysis.c      why a run ended as it did, by rules over its record
 *     code_host.c     what the code host's events tell of pull requests, issues and workflow runs
 */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** GET /fleet/installations */
void installation_list(struct request *rq);

/** POST /internal/fleet/installations: record that an agent was provisioned. */
void installation_record(struct request *rq);

/** Event `key.revoked`: revoke the installation that uses the key. */
void installation_key_revoked(struct request *rq, const struct event *event);

/** GET /fleet/agents/activity */
void activity_get(struct request *rq);

/** POST /fleet/agents/artifact/evidence */
void evidence_get(struct request *rq);

/** POST /fleet/agents/runs/analyze */
void run_analyze(struct request *rq);
