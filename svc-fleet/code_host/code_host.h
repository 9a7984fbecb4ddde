/** svc-fleet/code_host/: what is asked of the code host, and started there, while a client waits.
 * All of it goes through svc-integrations, which sees for itself whether the account may: its
 * code-host connection can push to the repository. That an agent was provisioned there once is no
 * proof.
 *
 *     trigger.c     starting a run of an agent
 *     run_status.c  the newest workflow run of a repository
 *     refresh.c     fetching again what the code host's events have said, or were to say
 */
#pragma once

#include "loop/request.h"

/** POST /fleet/trigger. A repeated request with its Idempotency-Key starts no second run, also when
 * the process died after the first was started: the run is started under a key of its own
 * (repository/dispatch.h of svc-integrations). */
void fleet_trigger(struct request *rq);

/** GET /fleet/run-status. One request in five seconds asks the code host, over all replicas; the
 * others get what it last said. */
void fleet_run_status_get(struct request *rq);

/** POST /fleet/agents/refresh: the account's repositories, the longest unseen first, as far as the
 * time goes. */
void fleet_refresh(struct request *rq);
