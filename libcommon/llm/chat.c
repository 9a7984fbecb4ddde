#include "llm/chat.h"

#include "base/timefmt.h"
#include "client/openai.h"
#include "json/json.h"
#include "llm/call_gate.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <string.h>

/* Bytes of an answer besides its text, and of a byte of the text as JSON (\u00e9 for two). */
#define ENVELOPE_BYTES ((size_t)64 * 1024)
#define ESCAPED_BYTES  6

static struct {
	const char *url, *model, *key; /* "": no language model */
	int64_t concurrency;
} settings;

const struct setting CHAT_SETTINGS[] = {
	SETTING_TEXT(&settings.url, "LLM_URL", "",
                     "Base URL of an OpenAI-compatible interface of a language model, such as "
                     "https://api.example.com/v1; empty: none."),
	SETTING_TEXT(&settings.model, "LLM_MODEL", "", "Model of LLM_URL."),
	SETTING_SECRET(&settings.key, "LLM_KEY", "", "Bearer key of LLM_URL."),
	SETTING_INT(&settings.concurrency, "LLM_CONCURRENCY", "8", 1, CALL_GATE_MAX,
                    "Calls of LLM_MODEL at once, per process; one account may have a quarter of "
                    "them."),
	SETTING_END,
};

static struct call_gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER};

METRIC_COUNTER(calls_counter, "expops_llm_calls_total", "Calls of the language model.", "purpose",
               "outcome");
METRIC_HISTOGRAM(call_seconds, "expops_llm_call_seconds",
                 "Duration of calls that were sent to the model.", "purpose");
METRIC_GAUGE(running_gauge, "expops_llm_calls_running", "Calls that wait for the model.");

static const struct outcome {
	const char *name;
	enum call_gate_sign sign;
} OUTCOMES[CHAT_OUTCOME_COUNT] = {
	[CHAT_ANSWERED] = {"answered", GATE_SERVER_WORKS},
	[CHAT_NOT_CONFIGURED] = {"not_configured", GATE_NO_SIGN},
	[CHAT_BUSY] = {"busy", GATE_NO_SIGN},
	[CHAT_PAUSED] = {"paused", GATE_NO_SIGN},
	[CHAT_AWAY] = {"away", GATE_SERVER_FAILED},
	[CHAT_REFUSED] = {"refused", GATE_SERVER_WORKS},
	[CHAT_TOO_LATE] = {"too_late", GATE_NO_SIGN},
	[CHAT_TOO_LONG] = {"too_long", GATE_SERVER_WORKS},
	[CHAT_UNUSABLE] = {"unusable", GATE_NO_SIGN},
};

void chat_init(void)
{
	gate.limit = (size_t)settings.concurrency;
	if (!settings.url[0] != !settings.model[0])
		log_warn("LLM_URL and LLM_MODEL must both be set; the one given is "
		         "ignored");
	if (chat_model())
		log_info("using a language model", f_text("model", chat_model()));
}

const char *chat_model(void)
{
	return settings.url[0] && settings.model[0] ? settings.model : NULL;
}

static void add_message(yyjson_mut_doc *doc, yyjson_mut_val *messages, const char *role,
                        const char *content)
{
	yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, messages);
	yyjson_mut_obj_add_str(doc, message, "role", role);
	yyjson_mut_obj_add_str(doc, message, "content", content);
}

static const char *request_body(struct request *rq, const struct chat_call *call)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "model", settings.model);
	yyjson_mut_obj_add_int(doc, root, "max_tokens", call->answer_max_tokens);
	yyjson_mut_obj_add_int(doc, root, "temperature", 0);
	yyjson_mut_val *messages = yyjson_mut_obj_add_arr(doc, root, "messages");
	add_message(doc, messages, "system", call->system);
	add_message(doc, messages, "user", call->text);
	return json_write_mut(rq->arena, root, NULL);
}

static const char *trimmed(struct arena *arena, const char *text)
{
	static const char SPACE[] = " \t\r\n";
	text += strspn(text, SPACE);
	size_t length = strlen(text);
	while (length > 0 && strchr(SPACE, text[length - 1]))
		length--;
	return arena_strndup(arena, text, length);
}

/* Read the completion: choices[0].message.content, and whether the model has cut it. */
static enum chat_outcome read_completion(struct request *rq, const struct chat_call *call,
                                         const struct fetch_response *response,
                                         struct chat_answer *answer)
{
	yyjson_val *root = NULL;
	if (fetch_json_outside(rq->arena, response, &root))
		return CHAT_UNUSABLE;
	yyjson_val *choice = yyjson_arr_get_first(json_get(root, "choices"));
	yyjson_val *message = json_get(choice, "message");
	if (json_get_text(message, "refusal"))
		return CHAT_REFUSED;
	const char *content = json_get_text(message, "content");
	const char *text = content ? trimmed(rq->arena, content) : "";
	if (!text[0])
		return CHAT_UNUSABLE;
	if (strlen(text) > call->answer_max_bytes)
		return CHAT_TOO_LONG;
	const char *finish = json_get_text(choice, "finish_reason");
	answer->is_cut = finish && strcmp(finish, "length") == 0;
	answer->text = text;
	return CHAT_ANSWERED;
}

static enum chat_outcome outcome_of_error(enum err_code code)
{
	switch (code) {
	case ERR_TIMEOUT:
	case ERR_CLIENT_GONE:
		return CHAT_TOO_LATE;
	case ERR_UPSTREAM:
		return CHAT_UNUSABLE;
	default:
		return CHAT_AWAY;
	}
}

static enum chat_outcome outcome_of_status(int status)
{
	return status == 400 || status == 413 || status == 422 ? CHAT_REFUSED : CHAT_AWAY;
}

/* Call the model; `ret_response` stays NULL when it did not respond. */
static enum chat_outcome ask(struct request *rq, const struct chat_call *call,
                             struct chat_answer *answer, struct fetch_response **ret_response)
{
	struct openai_call post = {
		.base_url = settings.url,
		.path = "/chat/completions",
		.key = settings.key,
		.body = request_body(rq, call),
		.response_max_bytes = ENVELOPE_BYTES + ESCAPED_BYTES * call->answer_max_bytes,
		.timeout_ms = MAX_OF(MIN_OF(call->timeout_ms, request_left_ms(rq) / 2), 1),
	};
	enum err_code code = openai_post_try(rq, &post, ret_response);
	if (code)
		return outcome_of_error(code);
	if ((*ret_response)->status != 200)
		return outcome_of_status((*ret_response)->status);
	return read_completion(rq, call, *ret_response, answer);
}

static void report(const struct chat_call *call, enum chat_outcome outcome,
                   const struct fetch_response *response, uint64_t took_ms)
{
	metric_observe_seconds(&call_seconds, call->purpose, NULL, (double)took_ms / 1000);
	if (outcome == CHAT_ANSWERED)
		log_debug("the language model answered", f_text("purpose", call->purpose),
		          f_int("duration_ms", took_ms));
	else
		log_warn("no answer of the language model; going on without it",
		         f_text("purpose", call->purpose), f_text("reason", OUTCOMES[outcome].name),
		         f_int("status", response ? response->status : 0),
		         f_int("duration_ms", took_ms));
}

/* Call the model for a request that the gate has let in. */
static void complete(struct request *rq, const struct chat_call *call, struct chat_answer *answer)
{
	struct uuid account = rq->caller.account;
	struct fetch_response *response = NULL;
	uint64_t begin_ms = time_monotonic_ms();
	metric_add(&running_gauge, NULL, NULL, 1);
	answer->outcome = ask(rq, call, answer, &response);
	metric_add(&running_gauge, NULL, NULL, -1);
	call_gate_leave(&gate, &account, OUTCOMES[answer->outcome].sign,
	                response ? fetch_retry_after_ms(response) : 0);
	report(call, answer->outcome, response, time_monotonic_ms() - begin_ms);
}

struct chat_answer chat_complete(struct request *rq, const struct chat_call *call)
{
	static const enum chat_outcome KEPT_OUT[] = {
		[GATE_FULL] = CHAT_BUSY, [GATE_PAUSED] = CHAT_PAUSED};
	struct chat_answer answer = {.outcome = CHAT_NOT_CONFIGURED};
	if (!chat_model())
		return answer;
	enum call_gate_entry entry = call_gate_enter(&gate, &rq->caller.account);
	if (entry == GATE_ENTERED)
		complete(rq, call, &answer);
	else
		answer.outcome = KEPT_OUT[entry];
	metric_add(&calls_counter, call->purpose, OUTCOMES[answer.outcome].name, 1);
	return answer;
}
