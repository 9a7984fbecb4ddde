/** svc-evalenv/build/: builds of environments: images, made by workers of a container file, a
 * repository or a paper.
 *
 *     build.c      the operations on builds
 *     catalogue.c  telling the shared catalogue of papers what came of one
 */
#pragma once

#include "queue/queue.h"

extern const struct queue BUILDS;

struct build_path {
	const char *id;
};

extern const struct field BUILD_ID_FIELDS[];

void build_create(struct request *rq);
void build_list(struct request *rq);
void build_get(struct request *rq);
void build_cancel(struct request *rq);
void build_context_get(struct request *rq);
void build_claim(struct request *rq);
void build_heartbeat(struct request *rq);
void build_report(struct request *rq);
