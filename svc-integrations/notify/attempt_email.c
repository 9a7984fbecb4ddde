#include "notify/attempt_email.h"

#include "notify/email/email.h"
#include "notify/endpoint/endpoint_secret.h"
#include "service/process.h"

#include <stdio.h>

static void read_reply(struct outcome *outcome, const struct sending *sending, enum err_code code,
                       const struct mail_reply *reply, const char *why)
{
	outcome->status = reply->status;
	snprintf(outcome->response, sizeof(outcome->response), "%s", reply->text);
	outcome->is_delivered = email_is_sent(code);
	if (outcome->is_delivered) {
		snprintf(outcome->error, sizeof(outcome->error), "%s",
		         code == ERR_NONE      ? ""
		         : code == ERR_TIMEOUT ? "the mail server has the message, perhaps: it did "
		                                 "not reply in time"
		                               : "the mail server has the message, perhaps: the "
		                                 "connection ended without a reply");
		return;
	}
	email_describe(code, reply, why, outcome->error);
	outcome->is_refused = email_refuses_address(reply);
	outcome->is_final = email_refuses_for_good(reply);
	if (!outcome->is_final)
		attempt_plan_retry(outcome, sending->tries, 0);
}

void attempt_email(struct request *rq, const struct sending *sending, struct outcome *outcome)
{
	struct mail_reply reply;
	const char *why;
	const char *token = sending->secret
	                            ? endpoint_secret_open(rq, sending->endpoint, sending->account,
	                                                   sending->secret, sending->secret_length)
	                            : NULL;
	if (!token) {
		attempt_fail_unreadable(sending, outcome);
		return;
	}
	const struct content content =
		content_read(rq->arena, sending->body, process_settings.public_url);
	const struct email_reason reason = {
		.endpoint = sending->name,
		.unsubscribe_url = email_link(rq->arena, "unsubscribe", token),
	};
	const struct email email = {
		.to = sending->url,
		.id = sending->delivery,
		.unsubscribe_url = reason.unsubscribe_url,
		.text = email_write(rq->arena, &content, &reason),
	};
	enum err_code code = email_send_try(rq, &email, &reply, &why);
	read_reply(outcome, sending, code, &reply, why);
}
