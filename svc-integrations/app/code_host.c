#include "app/code_host.h"

#include "base/json.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "client/fetch.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "rate_limit.sql.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)8 * 1024 * 1024)
#define CALL_TIMEOUT_MS  15000
#define REASON_MAX       300

/* The version of the REST API that the calls are written for. */
#define API_VERSION "2022-11-28"

/* A secondary limit tells no time: wait a minute, as the code host asks for. */
#define SECONDARY_LIMIT_S 60

/* The longest wait that is believed. Primary limits end within the hour. */
#define LIMIT_MAX_S 3600

static attr_noreturn void raise_limit(struct request *rq, int64_t seconds)
{
	rq->problem.retry_after_s = (unsigned)seconds;
	raise_error(rq, ERR_UNAVAILABLE, "the code host's rate limit is reached");
}

static void check_limit(struct request *rq, const char *limit)
{
	struct pg_rows *rows = pg_query(rq, RATE_LIMIT_GET_SQL, pg_text(limit));
	if (!pg_empty(rows))
		raise_limit(rq, pg_value_int(rows, 0, 0));
}

static int64_t field_int(const struct fetch_response *answer, const char *name, int64_t fallback)
{
	const char *value = fetch_field(answer, name);
	if (!value || !isdigit((unsigned char)value[0]))
		return fallback;
	return strtoll(value, NULL, 10);
}

/* For how many seconds no more calls may be made, by the fields that the code host documents; 0: any time. */
static int64_t limit_seconds(const struct fetch_response *answer)
{
	bool is_refused = answer->status == 403 || answer->status == 429;
	int64_t retry_after_s = field_int(answer, "retry-after", -1);
	int64_t wait_s = 0;
	if (is_refused && retry_after_s >= 0)
		wait_s = retry_after_s;
	else if (field_int(answer, "x-ratelimit-remaining", 1) == 0)
		wait_s = field_int(answer, "x-ratelimit-reset", 0) - time_now_ms() / 1000;
	else if (answer->status == 429 ||
	         (is_refused && strcasestr(answer->body, "secondary rate limit")))
		wait_s = SECONDARY_LIMIT_S;
	return MIN_OF(MAX_OF(wait_s, is_refused && wait_s ? 1 : 0), LIMIT_MAX_S);
}

/* Obey the limit that an answer tells. The call that reached it has succeeded unless it was refused. */
static void obey_limit(struct request *rq, const char *limit, const struct fetch_response *answer)
{
	int64_t seconds = limit_seconds(answer);
	if (seconds <= 0)
		return;
	pg_query(rq, RATE_LIMIT_SET_SQL, pg_text(limit), pg_int(seconds));
	log_warn(LOG_GROUP_APP, "the code host's rate limit is reached", f_text("limit", limit),
	         f_int("seconds", seconds));
	if (answer->status == 403 || answer->status == 429)
		raise_limit(rq, seconds);
}

static yyjson_val *parse(struct request *rq, const struct fetch_response *answer)
{
	yyjson_val *root = NULL;
	if (answer->body_length > 0 &&
	    json_parse(rq->arena, answer->body, answer->body_length, &root, NULL) &&
	    answer->status < 400)
		raise_error(rq, ERR_UPSTREAM, "the code host sent an answer that is not JSON");
	return root;
}

struct code_host_answer code_host_call(struct request *rq, const struct code_host_auth *auth,
                                       const char *method, const char *path, yyjson_mut_val *body)
{
	check_limit(rq, auth->limit);
	const struct http_field fields[] = {
		{"Accept", "application/vnd.github+json"},
		{"Authorization", arena_printf(rq->arena, "Bearer %s", auth->token)},
		{"X-GitHub-Api-Version", API_VERSION},
		{"User-Agent", "expops"},
		{"Content-Type", "application/json"},
	};
	size_t length = 0;
	const char *text = body ? json_write_mut(rq->arena, body, &length) : NULL;
	const struct fetch_call call = {
		.method = method,
		.url = arena_printf(rq->arena, "%s%s", code_host_api_url(), path),
		.fields = fields,
		.field_count = body ? ARRAY_LEN(fields) : ARRAY_LEN(fields) - 1,
		.body = text,
		.body_length = length,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = CALL_TIMEOUT_MS,
	};
	struct fetch_response *answer;
	enum err_code code = fetch_try(rq, &call, &answer);
	if (code)
		raise_error(rq, code == ERR_UNCERTAIN ? code : ERR_UNAVAILABLE,
		            "the code host does not answer");
	obey_limit(rq, auth->limit, answer);
	if (answer->status >= 500)
		raise_error(rq, ERR_UNAVAILABLE, "the code host answered with status %d",
		            answer->status);
	return (struct code_host_answer){.status = answer->status, .json = parse(rq, answer)};
}

const char *code_host_reason(struct request *rq, const struct code_host_answer *answer)
{
	const char *message = json_get_text(answer->json, "message");
	yyjson_val *first = yyjson_arr_get_first(json_get(answer->json, "errors"));
	const char *detail =
		yyjson_is_str(first) ? yyjson_get_str(first) : json_get_text(first, "message");
	if (!message)
		return arena_printf(rq->arena, "status %d", answer->status);
	return arena_printf(rq->arena, "%.*s%s%.*s", REASON_MAX, message, detail ? ": " : "",
	                    REASON_MAX, detail ? detail : "");
}

/* The characters of owners and repositories at the code host. */
static bool is_name(const char *text, size_t length, size_t most)
{
	if (length == 0 || length > most || (length <= 2 && strspn(text, ".") >= length))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
			return false;
	return true;
}

struct repository_name repository_name_read(struct request *rq, const char *field, const char *text)
{
	const char *slash = strchr(text, '/');
	if (!slash || !is_name(text, (size_t)(slash - text), 100) ||
	    !is_name(slash + 1, strlen(slash + 1), 100))
		raise_field(rq, field, "must be owner/name");
	return (struct repository_name){
		.owner = arena_strndup(rq->arena, text, (size_t)(slash - text)),
		.name = slash + 1,
		.full = text,
	};
}
