#include "notify/endpoint/email_confirmation.h"

#include "crypto/crypto.h"
#include "email_confirmation.sql.h"
#include "input/input.h"
#include "json/json.h"
#include "notify/email/email.h"
#include "notify/endpoint/endpoint_secret.h"

#include <string.h>

#define TOKEN_BYTES 32

struct confirmation_input {
	const char *id;
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct confirmation_input, id, "webhook_id"),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {EMAIL_CONFIRMATION_CONSTRAINTS, {0}};

struct email_token email_token_new(struct request *rq, const char *endpoint, const char *account)
{
	uint8_t bytes[TOKEN_BYTES];
	random_bytes(bytes, sizeof(bytes));
	const char *text = base64url_encode(rq->arena, bytes, sizeof(bytes));
	struct endpoint_secret secret = endpoint_secret_of(rq, endpoint, account, text);
	return (struct email_token){
		.text = text,
		.sealed = pg_bytes(secret.sealed.data, secret.sealed.length),
		.hash = pg_sha256(text),
	};
}

void email_confirmation_create(struct request *rq)
{
	struct confirmation_input *in = request_input(rq, struct confirmation_input, ID_FIELDS);
	struct pg_param account = pg_uuid(rq->caller.account);
	email_require_configured(rq);
	struct email_token token = email_token_new(rq, in->id, account.text);
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, EMAIL_CONFIRMATION_REQUEST_SQL, pg_text(in->id), account,
	                 pg_uuid(uuid_new()), token.sealed, token.hash);
	reply_one(rq, 200, rows, "no such webhook of the kind email");
}

/* --- The mail --------------------------------------------------------------------------------- */

/* The link with the token of a column. */
static const char *link_of(struct request *rq, const struct pg_rows *row, const char *column,
                           const char *page)
{
	size_t length;
	const void *sealed = pg_get_bytes(rq->arena, row, 0, column, &length);
	const char *token = endpoint_secret_open(rq, pg_get(row, 0, "endpoint_id"),
	                                         pg_get(row, 0, "account_id"), sealed, length);
	if (!token)
		raise_error(rq, ERR_INTERNAL, "the endpoint's token cannot be read");
	return email_link(rq->arena, page, token);
}

/* Why the mail was not sent; NULL: it was. Raises if it is to be tried again. */
static const char *send_mail(struct request *rq, const char *confirmation,
                             const struct pg_rows *row)
{
	char error[EMAIL_ERROR_MAX];
	const struct email_reason reason = {
		.endpoint = pg_get(row, 0, "name"),
		.unsubscribe_url = link_of(rq, row, "secret", "unsubscribe"),
	};
	const struct email email = {
		.to = pg_get(row, 0, "email"),
		.id = confirmation,
		.unsubscribe_url = reason.unsubscribe_url,
		.text = email_confirmation_write(rq->arena, link_of(rq, row, "token", "confirm"),
	                                         &reason),
	};
	enum email_outcome outcome = email_send_unasked(rq, &email, error);
	if (outcome == EMAIL_SENT)
		return NULL;
	if (outcome == EMAIL_TRY_AGAIN) {
		pg_query(rq, EMAIL_CONFIRMATION_NOTE_SQL, pg_text(confirmation), pg_text(error));
		raise_error(rq, ERR_UNAVAILABLE, "%s", error);
	}
	return arena_strdup(rq->arena, error);
}

void email_confirmation_run(struct request *rq, struct task *task)
{
	const char *confirmation = json_get_text(task->input, "confirmation_id");
	struct pg_rows *row = pg_query(rq, EMAIL_CONFIRMATION_GET_SQL, pg_text(confirmation));
	if (pg_empty(row)) {
		task_complete(rq, task, "{}", "not wanted any more");
		return;
	}
	const char *error = send_mail(rq, confirmation, row);
	task_complete_after(rq, task, "{}", error,
	                    &PG_CALL(EMAIL_CONFIRMATION_NOTE_SQL, pg_text(confirmation),
	                             pg_text(error)));
}
