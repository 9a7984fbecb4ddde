/** Taking deliveries in, and the ledger of them.
 *
 * A delivery, its events and its row of the ledger are stored in one transaction, before it is
 * answered. What the code host has signed is accepted, also when it is of no use: the row then says
 * why it was ignored. */
#pragma once

#include "webhook/code_host_event.h"
#include "webhook/webhook.h"

/** Begin the count of refused deliveries at 0: the increase of a count that begins with its first
 * refusals is not seen. */
void delivery_metrics_start(void);

/** POST /github/webhooks: 202 {"delivery_id", "status", "reason"}. */
void delivery_receive(struct request *rq);

/** A pass of recurring work: adds days to the ledger ahead, and drops those that are over. */
void delivery_days_keep(struct request *rq);
extern const int64_t delivery_days_keep_ms;

/** `svc-integrations deliveries`: prints and replays rows of the ledger. Returns the exit
 * status. */
struct process;
int delivery_command(struct process *process, int argc, char **argv);
