/** The mail with the link of an invitation to an account. The gateway makes the link
 * (gateway/team/invitation_mail.h); it is asked for when the mail is about to be sent, and not
 * stored: an invitation that has ended by then is not mailed.
 *
 * An address gets three mails a day at most that it has not asked for, by whatever accounts, with
 * those that ask whether it wants messages. A mail comes twice when a process dies between sending
 * it and noting that; one whose end the server may have taken is not sent again. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** Event `invitation.made`, {"invitation_id"}. */
void invitation_made(struct request *rq, const struct event *event);

/** Job `mail_invitation`, {"invitation_id"}: send the mail, and tell the gateway what became of it
 * by the event `invitation.mailed`. A mail server that is away is tried again for a day. */
void invitation_mail_run(struct request *rq, struct task *task);
