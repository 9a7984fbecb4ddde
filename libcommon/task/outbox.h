/** The relay: sends rows of the table `outbox` to Redis Streams, in order. Internal to this folder. */
#pragma once

#include "task/tasks.h"

/** Pass of the relay (periodic.h), whose user is the struct tasks: sends one batch. */
void outbox_pass(struct request *rq);

/** Register the metrics; once, before threads. */
void outbox_register(void);
