#include "audit/audit.h"

#include "audit.sql.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "gateway_process.h"
#include "json/json.h"
#include "limit/rate_limit.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "reply/resource.h"
#include "request/http_request.h"
#include "service/process.h"

#include <string.h>

#define USER_AGENT_MAX  200 /* characters that are kept */
#define NOTE_TIMEOUT_MS 5000

#define REFUSALS_A_MINUTE 10 /* that are noted of a key */

METRIC_COUNTER(left_out_total, "expops_audit_refusals_left_out_total",
               "Refused changes of a team that are not in the audit log: those of a key beyond ten "
               "a minute.");

const int64_t AUDIT_MONTHS_EVERY_MS = (int64_t)24 * 3600 * 1000;

static int64_t days;

const struct setting AUDIT_SETTINGS[] = {
	SETTING_INT(&days, "AUDIT_DAYS", "365", 31, 3650,
                    "Days for which the audit log is kept, by whole months."),
	SETTING_END,
};

/* --- Changes ---------------------------------------------------------------------------------- */

/* The start of what the browser calls itself; NULL: nothing that is text. */
static const char *user_agent_of(struct arena *arena, const struct http_head *head)
{
	const char *agent = http_head_get(head, "User-Agent");
	if (!agent || !utf8_is_valid(agent, strlen(agent)))
		return NULL;
	return utf8_shorten(arena, agent, USER_AGENT_MAX);
}

static const char *peer_of(const struct request *rq)
{
	return rq->http->exchange ? rq->http->exchange->peer : "";
}

struct audit_client audit_client_of(struct request *rq)
{
	if (!rq->http || rq->caller.kind == KEY_SERVICE)
		return (struct audit_client){pg_null(), pg_null()};
	return (struct audit_client){pg_text(peer_of(rq)),
	                             pg_text(user_agent_of(rq->arena, &rq->http->head))};
}

/* The kind of an actor without a key. */
static const char *kind_of(const struct request *rq)
{
	if (!rq->http)
		return "operator";
	return rq->caller.kind == KEY_SERVICE ? "service" : NULL;
}

void audit_begin_as(struct request *rq, const char *key)
{
	struct audit_client client = audit_client_of(rq);
	pg_begin(rq);
	pg_query(rq, AUDIT_BEGIN_SQL, key ? pg_text(key) : caller_key(rq), pg_text(kind_of(rq)),
	         client.address, client.user_agent);
}

void audit_begin_for(struct request *rq, yyjson_val *by)
{
	pg_begin(rq);
	pg_query(rq, AUDIT_BEGIN_SQL, pg_text(json_get_text(by, "key_id")), pg_text(kind_of(rq)),
	         pg_text(json_get_text(by, "ip")), pg_text(json_get_text(by, "user_agent")));
}

void audit_begin(struct request *rq)
{
	audit_begin_as(rq, NULL);
}

/* --- Changes of services ---------------------------------------------------------------------- */

void audit_event(struct request *rq, const struct event *event)
{
	pg_begin(rq); /* request_id_now() is that of the change */
	pg_query(rq, AUDIT_TAKE_SQL, pg_text(event->id),
	         pg_text(event->account[0] ? event->account : NULL), pg_time(event->at_ms),
	         pg_text(json_write(rq->arena, event->data, NULL)));
	pg_commit(rq);
}

/* --- Refusals --------------------------------------------------------------------------------- */

/* The operations that change the team, and what each would have done. */
static const struct team_change {
	enum api_id id;
	const char *action, *kind;
} TEAM_CHANGES[] = {
	{API_ID_team_update, "account.renamed", "account"},
	{API_ID_invitation_create, "invitation.created", "invitation"},
	{API_ID_invitation_delete, "invitation.revoked", "invitation"},
	{API_ID_member_update, "member.role_changed", "person"},
	{API_ID_member_delete, "member.removed", "person"},
};

static const struct team_change *team_change_of(const struct api_op *op)
{
	for (size_t i = 0; i < ARRAY_LEN(TEAM_CHANGES); i++)
		if (op->id == TEAM_CHANGES[i].id)
			return &TEAM_CHANGES[i];
	return NULL;
}

/* A refusal that is being noted, in an arena of its own. */
struct refused {
	struct arena *arena;
	const struct team_change *change;
	struct uuid account, key;
	const char *target, *peer, *user_agent;
};

static void note_refused(struct request *rq)
{
	const struct refused *refused = rq->user;
	rq->caller.account = refused->account; /* whose share of Postgres it takes */
	pg_begin(rq);
	pg_query(rq, AUDIT_BEGIN_SQL, pg_uuid(refused->key), pg_null(), pg_text(refused->peer),
	         pg_text(refused->user_agent));
	pg_query(rq, AUDIT_REFUSED_SQL, pg_uuid(refused->account), pg_text(refused->change->action),
	         pg_text(refused->change->kind), pg_text(refused->target));
	pg_commit(rq);
}

static void refused_noted(struct request *rq)
{
	struct refused *refused = rq->user;
	if (rq->problem.code)
		log_warn("refusal is not in the audit log",
		         f_text("error", err_info(rq->problem.code)->slug));
	arena_free(refused->arena);
}

/* The id in the path; NULL: there is none. */
static const char *target_of(struct arena *arena, const struct api_match *match)
{
	struct uuid id;
	if (match->param_count == 0)
		return NULL;
	const char *text = match->params[0].value;
	return uuid_parse(text, strlen(text), &id) ? arena_strdup(arena, text) : NULL;
}

struct rate_limiter *audit_limiter_new(void)
{
	return rate_limiter_new(REFUSALS_A_MINUTE);
}

/* A key may be refused a thousand times a second, and must not fill the log. */
static bool may_note(const struct audit_refusal *refusal)
{
	struct gateway_process *gateway = refusal->worker->process->user;
	uint64_t now_us = time_monotonic_us() / 60; /* the limiter's second is a minute */
	bool may =
		rate_limiter_take(gateway->refusals, &refusal->caller->key_id, now_us).is_allowed;
	if (!may)
		metric_add(&left_out_total, NULL, NULL, 1);
	return may;
}

void audit_refused(const struct audit_refusal *refusal)
{
	const struct team_change *change = team_change_of(refusal->match->op);
	if (!change || !may_note(refusal))
		return;
	struct arena *arena = arena_new();
	struct refused *refused = arena_new_of(arena, struct refused);
	*refused = (struct refused){
		.arena = arena,
		.change = change,
		.account = refusal->caller->account,
		.key = refusal->caller->key_id,
		.target = target_of(arena, refusal->match),
		.peer = arena_strdup(arena, refusal->peer),
		.user_agent = arena_strdup(arena, user_agent_of(arena, refusal->head)),
	};
	request_spawn(refusal->worker, refusal->request_id, NOTE_TIMEOUT_MS, note_refused,
	              refused_noted, refused);
}

void audit_refused_here(struct request *rq)
{
	const struct audit_refusal refusal = {
		.worker = rq->worker,
		.request_id = rq->id,
		.match = &rq->http->match,
		.head = &rq->http->head,
		.peer = peer_of(rq),
		.caller = &rq->caller,
	};
	audit_refused(&refusal);
}

/* --- Months ----------------------------------------------------------------------------------- */

void audit_months_keep(struct request *rq)
{
	pg_query(rq, AUDIT_MONTHS_KEEP_SQL, pg_int(days));
}
