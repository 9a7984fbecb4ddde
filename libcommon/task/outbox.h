/** The relay: sends rows of the table `outbox` to Redis Streams, in order. Internal to this folder.
 *
 * One process at a time sends, the holder of the lease `outbox`. A batch goes
 *
 *     read unsent rows -> number the batch -> Redis adds all entries or none -> mark the rows as
 *     sent
 *
 * in short statements. What is cut short is sent again: entries arrive at least once, and an event
 * has the same id each time. Redis keeps the fence of the newest sender and the number of the
 * newest batch:
 *
 *     fence newer than the sender's       it was taken over while it was stopped: it sends nothing
 *     batch older than Postgres's newest  Redis lost entries: the rows after that batch are sent
 *                                         again
 *     batch that Postgres has not given   Postgres was restored to an earlier point: all rows that
 *                                         the outbox still has are sent again
 */
#pragma once

#include "task/tasks.h"

/** Pass of the relay (periodic.h), whose user is the struct tasks: sends one batch. */
void outbox_pass(struct request *rq);
