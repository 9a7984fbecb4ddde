#include "mcp/confirm.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "confirm.sql.h"
#include "crypto/crypto.h"
#include "http/query.h"
#include "mcp/tool_result.h"
#include "pg/pg.h"

#include <endian.h>
#include <string.h>

#define ANSWER_SECONDS 600
#define NONCE_BYTES    16

#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* The bytes of a requestState. */
struct request_state {
	uint8_t nonce[NONCE_BYTES];
	uint64_t end_s; /* big-endian */
	uint8_t hmac[SHA256_LEN];
};

/* --- requestState ----------------------------------------------------------------------------- */

static bool read_key(struct tool_call *t, const uint8_t **ret_key)
{
	struct request *rq = t->call->rq;
	struct pg_rows *rows;
	uint8_t fresh[SHA256_LEN];
	size_t length;
	random_bytes(fresh, sizeof(fresh));
	if (pg_try(rq, &rows, NULL, CONFIRM_KEY_SQL, pg_bytes(fresh, sizeof(fresh)))) {
		mcp_fail(t->call, RPC_INTERNAL, "not available now, try again");
		return false;
	}
	*ret_key = pg_value_bytes(rq->arena, rows, 0, &length);
	require(length == SHA256_LEN);
	return true;
}

/* The arguments that the user is asked about, as text. */
static const char *subject_of(struct tool_call *t)
{
	yyjson_mut_val *arguments = yyjson_mut_val_mut_copy(t->doc, t->arguments);
	yyjson_mut_obj_remove_key(arguments, "confirm");
	return json_write_mut(t->call->rq->arena, arguments, NULL);
}

static void sign(struct tool_call *t, const uint8_t *key, struct request_state *state,
                 uint8_t hmac[SHA256_LEN])
{
	struct buf text = {.arena = t->call->rq->arena};
	buf_add(&text, state->nonce, sizeof(state->nonce));
	buf_add(&text, &state->end_s, sizeof(state->end_s));
	buf_add(&text, t->call->rq->caller.key_id.bytes, sizeof(t->call->rq->caller.key_id.bytes));
	buf_puts(&text, t->tool->name);
	buf_puts(&text, subject_of(t));
	hmac_sha256(key, SHA256_LEN, text.data, text.length, hmac);
}

/* The state that the client has sent back; false: it is not ours, or too old. */
static bool read_state(struct tool_call *t, const uint8_t *key, const char *text,
                       struct request_state *ret_state)
{
	size_t length;
	uint8_t hmac[SHA256_LEN];
	const void *bytes = base64url_decode(t->call->rq->arena, text, strlen(text), &length);
	if (!bytes || length != sizeof(*ret_state))
		return false;
	memcpy(ret_state, bytes, length);
	sign(t, key, ret_state, hmac);
	return equal_constant_time(hmac, ret_state->hmac, sizeof(hmac)) &&
	       be64toh(ret_state->end_s) > (uint64_t)(time_now_ms() / 1000);
}

/* --- What was started ------------------------------------------------------------------------- */

/* Of the key, the tool and its arguments. */
static struct pg_param start_hash(struct tool_call *t)
{
	struct request *rq = t->call->rq;
	char key[UUID_TEXT_LEN + 1];
	uuid_format(&rq->caller.key_id, key);
	return pg_sha256(arena_printf(rq->arena, "%s %s %s", key, t->tool->name, subject_of(t)));
}

/* Sentences before a question about a run that may have been started already: "" if it was not.
 * False: the call has failed. */
static bool ask_again(struct tool_call *t, const char *sql, const char **ret_text)
{
	struct pg_rows *rows;
	if (pg_try(t->call->rq, &rows, NULL, sql, start_hash(t))) {
		mcp_fail(t->call, RPC_INTERNAL, "not available now, try again");
		return false;
	}
	*ret_text = pg_empty(rows) ? ""
	                           : "The same was confirmed less than 10 minutes ago, and may run "
	                             "already: get_run_status tells. This would be another run. ";
	return true;
}

static void set_idempotency_key(struct tool_call *t, const uint8_t nonce[NONCE_BYTES])
{
	char *hex = arena_alloc(t->call->rq->arena, 2 * NONCE_BYTES + 1);
	hex_encode(nonce, NONCE_BYTES, hex);
	t->idempotency_key = hex;
}

/* Note that the run is started, and set its Idempotency-Key. `nonce` NULL: the same call again is
 * the same run. False: the call has failed. */
static bool note_start(struct tool_call *t, const uint8_t *nonce)
{
	struct request *rq = t->call->rq;
	struct pg_rows *rows;
	uint8_t fresh[NONCE_BYTES];
	size_t length;
	random_bytes(fresh, sizeof(fresh));
	if (pg_try(rq, &rows, NULL, CONFIRM_START_SQL, start_hash(t),
	           pg_bytes(nonce ? nonce : fresh, NONCE_BYTES), pg_bool(nonce))) {
		mcp_fail(t->call, RPC_INTERNAL, "not available now, try again");
		return false;
	}
	const uint8_t *noted = pg_value_bytes(rq->arena, rows, 0, &length);
	require(length == NONCE_BYTES);
	set_idempotency_key(t, noted);
	return true;
}

/* --- Asking ----------------------------------------------------------------------------------- */

static const char *agent_of(const struct tool_call *t)
{
	const char *agent = tool_text(t, "agent");
	return agent ? agent : "the coding agent";
}

static void ask(struct tool_call *t, const uint8_t *key)
{
	static const char FORM[] =
		",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"confirm\":{"
		"\"type\":\"boolean\",\"title\":\"Start the run\"}},\"required\":[\"confirm\"]}}}}";
	struct mcp_call *call = t->call;
	const char *again;
	struct request_state state = {
		.end_s = htobe64((uint64_t)(time_now_ms() / 1000) + ANSWER_SECONDS),
	};
	if (!ask_again(t, CONFIRM_ASKED_BY_FORM_SQL, &again))
		return;
	random_bytes(state.nonce, sizeof(state.nonce));
	sign(t, key, &state, state.hmac);
	char *message =
		arena_printf(call->rq->arena, "%sStart %s on %s? It runs with your model key.",
	                     again, agent_of(t), tool_text(t, "repo"));
	call->result_type = "input_required";
	struct buf *out = mcp_member(call, "inputRequests");
	buf_puts(out, "{\"confirm\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":"
	              "\"form\",\"message\":");
	json_quote(out, message, strlen(message));
	buf_puts(out, FORM);
	buf_printf(mcp_member(call, "requestState"), "\"%s\"",
	           base64url_encode(call->rq->arena, &state, sizeof(state)));
}

static void write_not_started(struct tool_call *t, const char *reason)
{
	yyjson_mut_val *result = yyjson_mut_obj(t->doc);
	yyjson_mut_obj_add_bool(t->doc, result, "started", false);
	yyjson_mut_obj_add_str(t->doc, result, "reason", reason);
	tool_result_value(t->call, result);
}

/* What the user has answered. */
static bool is_accepted(struct tool_call *t, yyjson_val *response)
{
	const char *action = json_get_text(response, "action");
	if (action && strcmp(action, "accept") == 0 &&
	    json_get_bool(json_get(response, "content"), "confirm", false))
		return true;
	write_not_started(t, action && strcmp(action, "cancel") == 0 ? "cancelled" : "declined");
	return false;
}

static bool is_confirmed_by_answer(struct tool_call *t)
{
	struct mcp_call *call = t->call;
	const uint8_t *key;
	struct request_state state;
	const char *sent = json_get_text(call->params, "requestState");
	yyjson_val *response = json_get(json_get(call->params, "inputResponses"), "confirm");
	if (!read_key(t, &key))
		return false;
	if (!sent && !response) {
		ask(t, key);
		return false;
	}
	if (!sent || !yyjson_is_obj(response) || !read_state(t, key, sent, &state)) {
		mcp_fail(
			call, RPC_INVALID_PARAMS,
			"requestState or inputResponses are wrong or too old: call start_run anew");
		return false;
	}
	return is_accepted(t, response) && note_start(t, state.nonce);
}

/* --- Clients that cannot ask ------------------------------------------------------------------ */

/* What a run of the repository has cost on average, as a sentence. */
static const char *cost_of_run(struct tool_call *t)
{
	struct request *rq = t->call->rq;
	const struct operation_call report = {
		.op = api_op(API_ID_fleet_report_get),
		.target = arena_printf(rq->arena, "%s?repos=%s",
	                               api_op(API_ID_fleet_report_get)->path,
	                               query_encode(rq->arena, tool_text(t, "repo"))),
	};
	struct operation_answer answer = operation_call(rq, &report);
	double cost = json_get_float(json_get(answer.json, "kpis"), "cost_per_dispatched_run", -1);
	if (cost < 0)
		return "What a run costs there is not known yet.";
	return arena_printf(rq->arena, "A run cost %.2f USD there on average.", cost);
}

static bool is_confirmed_by_argument(struct tool_call *t)
{
	const char *model = tool_text(t, "model"), *again;
	if (yyjson_mut_is_true(yyjson_mut_obj_get(t->arguments, "confirm")))
		return note_start(t, NULL);
	if (!ask_again(t, CONFIRM_ASKED_SQL, &again))
		return false;
	tool_result_error(t->call,
	                  "Nothing was started. %sThis would start %s on %s with %s. %s\n"
	                  "Ask the user, then call again with confirm true.\n",
	                  again, agent_of(t), tool_text(t, "repo"),
	                  model ? model : "the model that the agent is set up with",
	                  cost_of_run(t));
	return false;
}

/* Whether the client has declared that it can show forms: `{}` and `{"form":{}}` do. */
static bool can_ask(const struct tool_call *t)
{
	yyjson_val *capabilities = json_get(json_get(t->call->params, "_meta"), CAPABILITIES);
	yyjson_val *elicitation = json_get(capabilities, "elicitation");
	return t->call->is_modern && yyjson_is_obj(elicitation) &&
	       (yyjson_obj_size(elicitation) == 0 || json_get(elicitation, "form"));
}

bool confirm_run(struct tool_call *t)
{
	return can_ask(t) ? is_confirmed_by_answer(t) : is_confirmed_by_argument(t);
}
