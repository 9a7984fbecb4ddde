#include "notify/endpoint/endpoint_email.h"

#include "endpoint.sql.h"
#include "input/input.h"
#include "json/json.h"
#include "notify/email/email.h"
#include "notify/endpoint/email_confirmation.h"
#include "reply/resource.h"
#include "request/audited.h"

/* The body with the hash of the token that ends the mails, and, of an endpoint that exists, with
 * the sealed token. */
static const char *body_with(struct request *rq, const struct email_token *ending, bool is_new)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body =
		yyjson_val_mut_copy(doc, json_parse_own(rq->arena, request_body_json(rq)));
	yyjson_mut_obj_add_str(doc, body, "unsubscribe_hash", ending->hash.text);
	if (!is_new)
		yyjson_mut_obj_add_str(doc, body, "secret", ending->sealed.text);
	return json_write_mut(rq->arena, body, NULL);
}

struct pg_rows *endpoint_email_create(struct request *rq, const struct constraint *constraints,
                                      const char *id, int most)
{
	struct pg_param account = pg_uuid(rq->caller.account);
	email_require_configured(rq);
	struct email_token ending = email_token_new(rq, id, account.text);
	struct email_token asking = email_token_new(rq, id, account.text);
	audited_begin(rq);
	return pg_write(rq, constraints, ENDPOINT_CREATE_EMAIL_SQL, pg_text(id), account,
	                pg_text(body_with(rq, &ending, true)), ending.sealed, pg_int(most),
	                pg_uuid(uuid_new()), asking.sealed, asking.hash, caller_key(rq),
	                caller_person(rq));
}

struct pg_rows *endpoint_email_readdress(struct request *rq, const struct constraint *constraints,
                                         const char *id)
{
	struct pg_param account = pg_uuid(rq->caller.account);
	email_require_configured(rq);
	struct email_token ending = email_token_new(rq, id, account.text);
	struct email_token asking = email_token_new(rq, id, account.text);
	return pg_write(rq, constraints, ENDPOINT_READDRESS_SQL, pg_text(id), account,
	                pg_text(body_with(rq, &ending, false)), pg_uuid(uuid_new()), asking.sealed,
	                asking.hash, caller_key(rq), caller_person(rq));
}
