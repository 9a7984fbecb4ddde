/** gateway/probe/: what load balancers and rollouts ask the public listener, without a key. Details
 * of a replica that is not ready are on its admin listener alone (main/admin.h). */
#pragma once

#include "loop/request.h"

/** GET /healthz: 200, the process is alive. */
void probe_healthz(struct request *rq);

/** GET /readyz: 200 if the replica can serve, else 503. */
void probe_readyz(struct request *rq);

/** GET /version: name, version and commit of the build, and the version of the API. */
void version_get(struct request *rq);
