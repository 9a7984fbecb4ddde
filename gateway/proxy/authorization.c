#include "proxy/authorization.h"

#include "base/arena.h"
#include "crypto/uuid.h"

#include <string.h>

void authorization_init(struct authorization *a, struct key_checker *keys, struct http_exchange *x,
                        const struct api_op *op, struct credential credential)
{
	*a = (struct authorization){
		.keys = keys,
		.arena = x->arena,
		.op = op,
		.credential = credential,
		.client = x->peer,
	};
}

/* The problem of a key that was refused. */
static struct problem refusal_of(enum err_code code)
{
	struct problem problem = {.code = code};
	if (code == ERR_RATE_LIMITED) {
		problem.detail = "too many unknown keys from this address";
		problem.retry_after_s = 1;
	}
	return problem;
}

/* Whether the page of a session means this account. */
static bool is_meant(const struct authorization *a, const struct identity *caller)
{
	const char *account = a->credential.account;
	struct uuid meant;
	return !account || (uuid_parse(account, strlen(account), &meant) &&
	                    uuid_equal(&meant, &caller->account));
}

/* Why the caller may not use the operation. */
static struct problem permit(struct authorization *a, const struct identity *caller)
{
	struct problem problem = {.code = api_permit(a->op, caller)};
	if (!is_meant(a, caller))
		problem.code = ERR_ACCOUNT_CHANGED;
	if (problem.code == ERR_SCOPE) {
		problem.scope = a->op->scope_name;
		problem.detail =
			arena_printf(a->arena, "the key lacks the scope %s", problem.scope);
	}
	return problem;
}

/* Keep the caller, with the strings of an automation key. */
static void set_caller(struct authorization *a, const struct identity *caller)
{
	a->caller = *caller;
	a->caller.repo = arena_strdup(a->arena, caller->repo);
	a->caller.interest = arena_strdup(a->arena, caller->interest);
	a->has_caller = true;
}

/* `code` is the result of the look-up. */
static void decide(struct authorization *a, enum err_code code, const struct identity *caller)
{
	struct problem problem = code ? refusal_of(code) : permit(a, caller);
	if (!code)
		set_caller(a, caller);
	a->done(a->user, problem.code ? &problem : NULL);
}

static void on_key_checked(void *context, enum err_code code, const struct identity *caller)
{
	struct authorization *a = context;
	a->wait = NULL;
	decide(a, code, caller);
}

void authorization_check(struct authorization *a, authorization_fn *done, void *user)
{
	const struct key_query query = {
		.arena = a->arena,
		.text = a->credential.text,
		.is_session = a->credential.is_session,
		.client = a->client,
	};
	struct identity caller;
	enum err_code code = ERR_UNAUTHENTICATED;
	a->done = done;
	a->user = user;
	if (a->credential.text)
		code = key_check(a->keys, &query, &caller, &a->wait, on_key_checked, a);
	if (!a->wait)
		decide(a, code, &caller);
}

bool authorization_is_pending(const struct authorization *a)
{
	return a->wait;
}

void authorization_cancel(struct authorization *a)
{
	if (a->wait)
		key_check_cancel(a->wait);
	a->wait = NULL;
}
