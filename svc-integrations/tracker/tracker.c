#include "tracker/tracker.h"

#include "base/url.h"
#include "client/fetch.h"
#include "connection/token.h"
#include "json/json.h"
#include "provider/oauth_answer.h"
#include "provider/reason.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ANSWER_MAX_BYTES ((size_t)1024 * 1024)
#define CALL_TIMEOUT_MS  8000

static const struct tracker_api *const APIS[] = {&LINEAR, &JIRA};

const struct tracker_api *tracker_api_of(const struct provider *provider)
{
	for (size_t i = 0; provider->tracker && i < ARRAY_LEN(APIS); i++)
		if (strcmp(APIS[i]->name, provider->tracker->api) == 0)
			return APIS[i];
	return NULL;
}

enum err_code trackers_check(void)
{
	enum err_code code = ERR_NONE;
	for (const struct provider *provider = PROVIDERS; provider->name; provider++) {
		if (!provider->tracker || !provider->tracker->api[0] || tracker_api_of(provider))
			continue;
		fprintf(stderr, "%s: must be linear, jira or empty\n", provider->tracker->variable);
		code = ERR_INVALID;
	}
	return code;
}

attr_noreturn void tracker_raise_missing(struct request *rq, const struct ticket *ticket)
{
	raise_error(rq, ERR_NOT_FOUND, "%s has no ticket %s that you can see%s%s",
	            ticket->provider->name, ticket->id, ticket->url ? " at " : "",
	            ticket->url ? ticket->url : "");
}

bool ticket_is_below(const struct ticket *ticket, const char *place)
{
	const char *at = ticket->url + url_scheme_length(ticket->url);
	place += url_scheme_length(place);
	size_t length = strlen(place);
	return length > 0 && strncasecmp(at, place, length) == 0 && strchr("/?#", at[length]);
}

attr_noreturn void tracker_raise_refused(struct request *rq, const struct ticket *ticket,
                                         const char *words)
{
	const char *const secrets[] = {ticket->token, NULL};
	words = reason_clean(rq->arena, words, secrets);
	raise_error(rq, ERR_CONFLICT, "%s refused%s%s", ticket->provider->name, words ? ": " : "",
	            words ? words : "");
}

static struct fetch_response *fetch_answer(struct request *rq, const struct ticket *ticket,
                                           const char *url, yyjson_mut_val *body, bool is_safe)
{
	const struct http_field fields[] = {
		{"Authorization", arena_printf(rq->arena, "Bearer %s", ticket->token)},
		{"Accept", "application/json"},
		{"User-Agent", "expops"},
		{"Content-Type", "application/json"},
	};
	struct fetch_call call = {
		.method = body ? "POST" : "GET",
		.url = url,
		.fields = fields,
		.field_count = ARRAY_LEN(fields) - !body,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = CALL_TIMEOUT_MS,
		.effect = is_safe ? HTTP_SAFE : HTTP_EFFECT_OF_METHOD,
	};
	call.body = body ? json_write_mut(rq->arena, body, &call.body_length) : NULL;
	struct fetch_response *answer;
	enum err_code code = fetch_try(rq, &call, &answer);
	if (code)
		raise_error(rq,
		            is_safe || code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_UNCERTAIN,
		            "%s does not answer", ticket->provider->name);
	return answer;
}

/* Raise what an answer says by its status. */
static void check_status(struct request *rq, const struct ticket *ticket,
                         const struct fetch_response *answer, bool is_safe)
{
	const char *name = ticket->provider->name;
	if (answer->status == 429)
		raise_retry_later(rq, ERR_UNAVAILABLE,
		                  (unsigned)(fetch_retry_after_ms(answer) / 1000),
		                  "%s asks to wait", name);
	if (answer->status >= 500)
		raise_error(rq, is_safe ? ERR_UNAVAILABLE : ERR_UNCERTAIN,
		            "%s answered with status %d", name, answer->status);
	if (answer->status == 401) {
		connection_refused(rq, name);
		raise_error(rq, ERR_CONFLICT, "%s refused the connection: connect again", name);
	}
	if (answer->status != 403)
		connection_accepted(rq, name);
	if (answer->status == 403 || answer->status == 404)
		tracker_raise_missing(rq, ticket);
}

struct tracker_answer tracker_call(struct request *rq, const struct ticket *ticket, const char *url,
                                   yyjson_mut_val *body, bool is_safe)
{
	struct fetch_response *answer = fetch_answer(rq, ticket, url, body, is_safe);
	check_status(rq, ticket, answer, is_safe);
	yyjson_val *root;
	const char *fault = fetch_json_outside(rq->arena, answer, &root);
	if (fault)
		raise_error(rq, ERR_UPSTREAM, "the answer of %s %s", ticket->provider->name, fault);
	return (struct tracker_answer){answer->status, root};
}
