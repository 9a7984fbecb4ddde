/** svc-evalenv/template/: what is evaluated, and how.
 *
 *     template.c        the operations on templates
 *     spec.c            what a spec may say
 *     webhook_secret.c  the secret that signs results
 *     reseal.c          sealing the secrets of all templates anew
 *
 * A template's spec names an image, or a container file that is built, the command that is run in
 * it, and the metrics that it reports. A change makes a new version; runs keep the version that
 * they were made with, and of the other versions the last ones are kept. A locked template never
 * changes again.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "service/process.h"

/** TEMPLATES_MAX, TEMPLATE_VERSIONS_MAX. */
extern const struct setting TEMPLATE_SETTINGS[];

void template_list(struct request *rq);
void template_create(struct request *rq);
void template_get(struct request *rq);
void template_update(struct request *rq);
void template_lock(struct request *rq);

/** `svc-evalenv reseal` (main/reseal.h). */
int reseal_command(struct process *process, int argc, char **argv);
