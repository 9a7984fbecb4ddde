#include "team/invitation_mail.h"

#include "client/service_ask.h"
#include "input/input.h"
#include "invitation_mail.sql.h"
#include "json/json.h"
#include "loop/worker.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "team/invitation.h"
#include "team/invitation_token.h"

#define ASK_MS 2000

struct mail_input {
	const char *id;
};

static const struct field ID_FIELDS[] = {
	BODY_UUID(struct mail_input, id, "invitation_id", REQUIRED),
	FIELD_END,
};

bool invitation_mail_is_wanted(struct request *rq)
{
	const char *url = rq->worker->peers->url[API_INTEGRATIONS];
	if (!url || !url[0])
		return false;
	struct service_answer answer = service_ask_try(rq, INTERNAL_ID_mail_status_get, "{}",
	                                               &(struct ask_options){.timeout_ms = ASK_MS});
	if (answer.code == ERR_NOT_FOUND) /* it is of the release before, and reads no such event */
		return false;
	return answer.code || json_get_bool(answer.json, "is_configured", false);
}

void invitation_mail_get(struct request *rq)
{
	struct mail_input *in = request_input(rq, struct mail_input, ID_FIELDS);
	struct pg_rows *row =
		pg_query(rq, INVITATION_MAIL_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	if (pg_empty(row)) {
		reply_json(rq, 200, "{}");
		return;
	}
	size_t length;
	const void *hash = pg_get_bytes(rq->arena, row, 0, "hash", &length);
	const char *token = invitation_token_find(rq, in->id, hash, length);
	if (!token)
		raise_error(rq, ERR_INTERNAL, "SEAL_SECRETS lacks what made the invitation's link");
	reply_is_secret(rq);
	reply_json(rq, 200,
	           ASK_BODY(rq, {"email", pg_get(row, 0, "email")},
	                    {"path", arena_printf(rq->arena, INVITATION_PAGE "%s", token)},
	                    {"role", pg_get(row, 0, "role")},
	                    {"account", pg_get(row, 0, "account")},
	                    {"inviter", pg_get(row, 0, "inviter")},
	                    {"expires_at", pg_get(row, 0, "expires_at")}));
}

void invitation_mailed(struct request *rq, const struct event *event)
{
	pg_query(rq, INVITATION_MAIL_NOTE_SQL, pg_text(event->account),
	         pg_text(event_require_text(rq, event, "invitation_id")),
	         pg_text(event_require_text(rq, event, "mail")));
}
