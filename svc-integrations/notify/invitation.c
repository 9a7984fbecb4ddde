#include "notify/invitation.h"

#include "client/mail_header.h"
#include "client/service_ask.h"
#include "invitation.sql.h"
#include "json/json.h"
#include "notify/email/email.h"
#include "pg/pg.h"
#include "service/process.h"

#include <string.h>

void invitation_made(struct request *rq, const struct event *event)
{
	pg_query(rq, INVITATION_QUEUE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}

/* What the gateway says of the invitation. Without members: its mail is not wanted any more. */
static yyjson_val *ask_invitation(struct request *rq, const char *id)
{
	const char *body = ASK_BODY(rq, {"invitation_id", id});
	yyjson_val *found = service_ask_found(rq, INTERNAL_ID_invitation_mail_get, body);
	if (!found)
		raise_error(rq, ERR_UNAVAILABLE, "the gateway has no mails of invitations");
	return found;
}

/* What became of the mail, for the gateway. Raises if it is to be tried again. */
static const char *send_mail(struct request *rq, const char *id, const char *to, yyjson_val *about)
{
	char error[EMAIL_ERROR_MAX];
	const struct email_invitation invitation = {
		.url = arena_printf(rq->arena, "%s%s", process_settings.public_url,
	                            json_get_text(about, "path")),
		.account = json_get_text(about, "account"),
		.inviter = json_get_text(about, "inviter"),
		.role = json_get_text(about, "role"),
		.expires_at = json_get_text(about, "expires_at"),
	};
	const struct email email = {
		.to = to,
		.id = id,
		.text = email_invitation_write(rq->arena, &invitation),
	};
	enum email_outcome outcome = email_send_unasked(rq, &email, error);
	if (outcome == EMAIL_SENT)
		return "sent";
	pg_query(rq, INVITATION_UNASK_SQL, pg_text(to));
	if (outcome == EMAIL_TRY_AGAIN)
		raise_error(rq, ERR_UNAVAILABLE, "%s", error);
	return "failed";
}

/* The address is counted before the mail is sent, so that others who send to it at the same time
 * count it, too. */
static const char *mail(struct request *rq, const char *id, const char *to, yyjson_val *about)
{
	const char *why;
	if (!email_is_configured())
		return "none";
	if (!mail_address_check(to, strlen(to), &why))
		return "failed";
	if (!pg_get_bool(pg_query(rq, INVITATION_ASK_SQL, pg_text(to)), 0, "may_get"))
		return "limited";
	return send_mail(rq, id, to, about);
}

void invitation_mail_run(struct request *rq, struct task *task)
{
	arena_wipe_on_free(rq->arena);
	const char *id = json_get_text(task->input, "invitation_id");
	yyjson_val *about = ask_invitation(rq, id);
	const char *to = json_get_text(about, "email");
	if (!to) {
		task_complete(rq, task, "{}", "not wanted any more");
		return;
	}
	const char *mailed = mail(rq, id, to, about);
	task_complete_after(rq, task, "{}", mailed,
	                    &PG_CALL(INVITATION_SETTLE_SQL, pg_text(task->account), pg_text(id),
	                             pg_text(mailed)));
}
