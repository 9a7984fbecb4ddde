#include "notify/attempt.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "client/fetch.h"
#include "crypto/crypto.h"
#include "crypto/webhook_signature.h"
#include "notify/attempt_email.h"
#include "notify/endpoint/endpoint_kind.h"
#include "notify/endpoint/endpoint_secret.h"
#include "notify/format/content.h"
#include "notify/format/slack.h"
#include "notify/message.h"
#include "notify/notify.h"
#include "observe/log.h"
#include "service/process.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TIMEOUT_MS         15000
#define ANSWER_BYTES_MAX   ((size_t)64 << 10)
#define RETRY_AFTER_MAX_MS UINT64_C(86400000)
#define SECOND_MS          UINT64_C(1000)
#define SLACK_WORD_MAX     64

/* Decide what a failure means: sets disable, is_final and pause_ms. */
typedef void judge_fn(struct request *rq, const struct fetch_response *answer,
                      struct outcome *outcome);

/* Pauses between the attempts of a round, in seconds: Svix's schedule
 * (https://docs.svix.com/retries). Each is made up to a tenth longer. */
static const uint32_t PAUSES_S[] = {5, 300, 1800, 7200, 18000, 36000, 36000};

static void set_error(struct outcome *outcome, const char *error)
{
	snprintf(outcome->error, sizeof(outcome->error), "%s", error);
}

void attempt_plan_retry(struct outcome *outcome, int tries, uint64_t asked_ms)
{
	uint32_t random;
	if ((size_t)tries >= ARRAY_LEN(PAUSES_S)) {
		outcome->is_final = true;
		return;
	}
	uint64_t pause_ms = PAUSES_S[tries] * SECOND_MS;
	random_bytes(&random, sizeof(random));
	outcome->retry_ms = MAX_OF(pause_ms + random % (pause_ms / 10), asked_ms);
}

static bool is_abort(const struct fetch_response *answer)
{
	const char *field = fetch_field(answer, "webhook-delivery");
	return field && strcasecmp(field, "abort-message") == 0;
}

/* What a failure means to a webhook: Standard Webhooks, "Operational considerations". */
static void judge_webhook(struct request *rq attr_unused, const struct fetch_response *answer,
                          struct outcome *outcome)
{
	outcome->disable = answer->status == 410 ? "gone" : NULL;
	outcome->is_final = outcome->disable || is_abort(answer);
}

/* Slack says in one word why it refuses an address for good, such as `no_service`. */
static void judge_slack(struct request *rq, const struct fetch_response *answer,
                        struct outcome *outcome)
{
	size_t length = strspn(answer->body, "abcdefghijklmnopqrstuvwxyz_");
	bool is_word = length > 0 && length <= SLACK_WORD_MAX && !answer->body[length];
	if (answer->status == 403 || answer->status == 404 || answer->status == 410)
		outcome->disable = is_word ? arena_strdup(rq->arena, answer->body) : "refused";
	if (answer->status == 400)
		log_error("slack refuses the form of a message", f_text("why", outcome->response));
	if (answer->status == 429)
		outcome->pause_ms = fetch_retry_after_within_ms(answer, RETRY_AFTER_MAX_MS);
	outcome->is_final = outcome->disable || answer->status == 400;
}

static void read_answer(struct request *rq, struct outcome *outcome, const struct sending *sending,
                        const struct fetch_response *answer, judge_fn *judge)
{
	outcome->status = answer->status;
	snprintf(outcome->response, sizeof(outcome->response), "%s", answer->body);
	outcome->is_delivered = answer->status >= 200 && answer->status < 300;
	if (outcome->is_delivered)
		return;
	snprintf(outcome->error, sizeof(outcome->error), "the answer was %d", answer->status);
	judge(rq, answer, outcome);
	if (!outcome->is_final)
		attempt_plan_retry(outcome, sending->tries,
		                   fetch_retry_after_within_ms(answer, RETRY_AFTER_MAX_MS));
}

/* Why there is no answer. An address of a private network and a name without an address are named
 * alike, so that nobody learns which names exist inside. */
static const char *reason_of(enum err_code code, bool is_unresolved, const char *why)
{
	if (code == ERR_FORBIDDEN || is_unresolved)
		return "the host has no address that messages are sent to";
	if (code == ERR_TIMEOUT)
		return "there was no complete answer within 15 s";
	return why[0] ? why : err_info(code)->detail;
}

/* A request of one kind. */
struct post {
	const char *url;
	bool url_is_secret;
	const char *body;
	const struct http_field *fields;
	size_t field_count;
	judge_fn *judge;
};

static void post(struct request *rq, const struct sending *sending, const struct post *post,
                 struct outcome *outcome)
{
	char why[ATTEMPT_ERROR_MAX] = "";
	bool is_unresolved = false;
	struct fetch_response *answer;
	bool is_https = strncmp(post->url, "https:", 6) == 0;
	const struct fetch_call call = {
		.method = "POST",
		.url = post->url,
		.url_is_secret = post->url_is_secret,
		.fields = post->fields,
		.field_count = post->field_count,
		.body = post->body,
		.body_length = strlen(post->body),
		.response_max_bytes = ANSWER_BYTES_MAX,
		.cuts_response = true,
		.timeout_ms = TIMEOUT_MS,
		.effect = HTTP_IDEMPOTENT, /* a receiver knows it by its id */
		.guard = is_https ? FETCH_GUARD_ALL : FETCH_GUARD_LISTED,
		.ret_why = why,
		.why_size = sizeof(why),
		.ret_is_unresolved = &is_unresolved,
	};
	enum err_code code = fetch_try(rq, &call, &answer);
	fetch_raise_if_full(rq, code);
	if (code == ERR_NONE) {
		read_answer(rq, outcome, sending, answer, post->judge);
		return;
	}
	set_error(outcome, reason_of(code, is_unresolved, why));
	attempt_plan_retry(outcome, sending->tries, 0);
}

void attempt_fail_unreadable(const struct sending *sending, struct outcome *outcome)
{
	set_error(outcome, "the secret cannot be read; replace it");
	attempt_plan_retry(outcome, sending->tries, 0);
}

static const char *open_secret(struct request *rq, const struct sending *sending,
                               const void *sealed, size_t length)
{
	return sealed ? endpoint_secret_open(rq, sending->endpoint, sending->account, sealed,
	                                     length)
	              : NULL;
}

/* Append the signature by a secret, if there is one. False: it cannot be read. */
static bool sign(struct request *rq, struct buf *signatures, const struct sending *sending,
                 const struct signed_fields *fields, const void *sealed, size_t length)
{
	struct webhook_key key;
	const char *secret = open_secret(rq, sending, sealed, length);
	if (!sealed)
		return true;
	if (!secret || !webhook_secret_decode(rq->arena, secret, &key))
		return false;
	webhook_signature_add(signatures, &key, fields, sending->body, strlen(sending->body));
	return true;
}

/* A message in the form of Standard Webhooks. */
static void send_webhook(struct request *rq, const struct sending *sending, struct outcome *outcome)
{
	struct buf signatures = {.arena = rq->arena};
	const struct signed_fields signed_by = {
		.id = message_public_id(rq->arena, sending->message),
		.timestamp = arena_printf(rq->arena, "%lld", (long long)(outcome->at_ms / 1000)),
	};
	if (!sending->secret ||
	    !sign(rq, &signatures, sending, &signed_by, sending->secret, sending->secret_length) ||
	    !sign(rq, &signatures, sending, &signed_by, sending->old_secret,
	          sending->old_secret_length)) {
		attempt_fail_unreadable(sending, outcome);
		return;
	}
	const struct http_field fields[] = {
		http_field_of("Content-Type", "application/json"),
		http_field_of("User-Agent", "expops-webhooks/" EXPOPS_VERSION),
		http_field_of("webhook-id", signed_by.id),
		http_field_of("webhook-timestamp", signed_by.timestamp),
		http_field_of("webhook-signature", signatures.data),
	};
	post(rq, sending,
	     &(struct post){.url = sending->url,
	                    .body = sending->body,
	                    .fields = fields,
	                    .field_count = ARRAY_LEN(fields),
	                    .judge = judge_webhook},
	     outcome);
}

/* A message in Slack's form; the address is the secret. */
static void send_slack(struct request *rq, const struct sending *sending, struct outcome *outcome)
{
	const char *url = open_secret(rq, sending, sending->secret, sending->secret_length);
	if (!url) {
		attempt_fail_unreadable(sending, outcome);
		return;
	}
	const struct content content =
		content_read(rq->arena, sending->body, process_settings.public_url);
	const struct http_field fields[] = {
		http_field_of("Content-Type", "application/json"),
		http_field_of("User-Agent", "expops-webhooks/" EXPOPS_VERSION),
	};
	post(rq, sending,
	     &(struct post){.url = url,
	                    .url_is_secret = true,
	                    .body = slack_body(rq->arena, &content),
	                    .fields = fields,
	                    .field_count = ARRAY_LEN(fields),
	                    .judge = judge_slack},
	     outcome);
}

static void (*const SENDERS[])(struct request *rq, const struct sending *sending,
                               struct outcome *outcome) = {
	[ENDPOINT_WEBHOOK] = send_webhook,
	[ENDPOINT_SLACK] = send_slack,
	[ENDPOINT_EMAIL] = attempt_email,
};

void attempt_make(struct request *rq, const struct sending *sending, struct outcome *ret)
{
	uint64_t began_ms = time_monotonic_ms();
	*ret = (struct outcome){.at_ms = time_now_ms()};
	SENDERS[endpoint_kind_of(sending->kind)](rq, sending, ret);
	ret->duration_ms = time_monotonic_ms() - began_ms;
}
