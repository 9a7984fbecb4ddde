/** svc-integrations/notify/: telling outside what happens: messages to the endpoints of accounts.
 *
 *     digest/            when the digest of an endpoint is due
 *     format/            messages in the form of others
 *     email/             the mail server
 *     endpoint/          endpoints, their addresses and secrets
 *     notify.c           settings
 *     message.c          messages, taken from the event streams
 *     dispatcher.c       claims what is due
 *     lane.c             the attempts of an endpoint, one after the other
 *     attempt.c          one request, and what its outcome means
 *     attempt_email.c    one by e-mail
 *     endpoint_test.c    a test message, at once
 *     message_delivery.c  what became of messages; sending again
 *
 *     event -> message and its deliveries -> queue -> lane -> attempt --delivered--> settled
 *                                              ^                 |
 *                                              +----- failed ----+--given up------> settled
 *
 * Words used here:
 *   endpoint  where an account wants its messages: an address, and which messages it wants
 *   message   one event of one account, made once, with the body that is sent
 *   delivery  a message for an endpoint; it waits in the queue until it is delivered or given up
 *   attempt   one request of a delivery
 *   lane      what one process at a time works at: the first attempts of an endpoint, or those
 *             after a failure
 *
 * Signatures follow Standard Webhooks 1.0.0. */
#pragma once

#include "base/config.h"

#include <stdint.h>

/** NOTIFY_DAYS. */
extern const struct setting NOTIFY_SETTINGS[];

/** The settings, for the files of this folder. */
extern int64_t notify_days;

/** A pass of recurring work: adds days to the tables of messages ahead, and drops those over. */
struct request;
void notify_days_keep(struct request *rq);
extern const int64_t NOTIFY_DAYS_KEEP_EVERY_MS;
