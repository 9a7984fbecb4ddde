/** The mail with the link of an invitation, which svc-integrations sends where it has a mail server
 * (SMTP_URL).
 *
 *     invitation_create()  asks whether there is one; the event `invitation.made` has only the id
 *     svc-integrations     asks for the link when it is about to send, so that it stores none, and
 *                          so that an invitation that has ended is not mailed
 *     `invitation.mailed`  says what became of the mail */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** Whether a new invitation is to be mailed: not if svc-integrations has no mail server, or is not
 * deployed. If it does not answer, it finds out when it is to send. Suspends; not within a
 * transaction. */
bool invitation_mail_is_wanted(struct request *rq);

/** For svc-integrations, {"invitation_id"}: {"email", "path", "role", "account", "inviter",
 * "expires_at"}, where `path` follows PUBLIC_URL and has the token. {}: the mail is not wanted any
 * more. */
void invitation_mail_get(struct request *rq);

/** Event `invitation.mailed`, {"invitation_id", "mail"}. */
void invitation_mailed(struct request *rq, const struct event *event);
