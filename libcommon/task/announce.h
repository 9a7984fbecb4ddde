/** Tells the relays that the outbox has new rows.
 *
 *     a statement inserts rows -> the server raises a notice -> the transaction ends
 *     -> the process publishes in the channel `outbox.<service>` -> each process wakes its relay
 *
 * NOTIFY would be simpler, but makes all commits of the server wait for each other
 * (pg/migrations/0044_outbox_written.sql). When a message is lost, or another program wrote the rows, the
 * relay finds them at its next sweep (tasks_timing.sweep). */
#pragma once

#include "loop/worker.h"

/** A format: the service's name. */
#define OUTBOX_CHANNEL "outbox.%s"

/** The message of dead.c: dead letters are to be tried again. Any other: there are new rows. */
#define OUTBOX_RETRY "retry"

struct outbox_written;

/** Publish whenever the worker's pool has written rows. */
struct outbox_written *outbox_written_new(const struct worker *worker, const char *service);

/** After the pool and the worker's Redis client. NULL is fine. */
void outbox_written_free(struct outbox_written *written);
