#include "app/code_host.h"

#include "app/rate_limit.h"
#include "base/utf8.h"
#include "client/fetch.h"
#include "json/json.h"
#include "loop/wait.h"
#include "provider/provider.h"

#include <ctype.h>
#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)8 * 1024 * 1024)
#define CALL_TIMEOUT_MS  15000
#define RETRY_PAUSE_MS   100
#define REASON_MAX       300
#define NAME_MAX_LENGTH  100
#define REDIRECTS_MAX    3

/* The version of the REST API that the calls are written for. */
#define API_VERSION "2022-11-28"

static yyjson_val *parse(struct request *rq, const struct fetch_response *answer)
{
	yyjson_val *root = NULL;
	const char *fault =
		answer->body_length > 0 ? fetch_json_outside(rq->arena, answer, &root) : NULL;
	if (fault && answer->status < 400)
		raise_error(rq, ERR_UPSTREAM, "the code host's answer %s", fault);
	return root;
}

/* One call. */
struct call {
	const char *method, *path, *body; /* body NULL: none */
	size_t length;
	bool is_safe; /* changes nothing */
};

#define CALL_FIELDS_MAX 5

static size_t fields_of(struct request *rq, const struct code_host_auth *auth,
                        const struct call *call, struct http_field fields[CALL_FIELDS_MAX])
{
	size_t count = 0;
	fields[count++] = http_field_of("Accept", "application/vnd.github+json");
	fields[count++] = http_field_of("X-GitHub-Api-Version", API_VERSION);
	fields[count++] = http_field_of("User-Agent", "expops");
	if (auth->token)
		fields[count++] = http_field_of("Authorization",
		                                arena_printf(rq->arena, "Bearer %s", auth->token));
	if (call->body)
		fields[count++] = http_field_of("Content-Type", "application/json");
	return count;
}

/* Make the call, and obey the rate limit that the answer states. A call that changes nothing is
 * made again when its connection breaks. */
static struct fetch_response *call_once(struct request *rq, const struct code_host_auth *auth,
                                        const struct call *call)
{
	rate_limit_check(rq, auth->limit);
	struct http_field fields[CALL_FIELDS_MAX];
	size_t field_count = fields_of(rq, auth, call, fields);
	const struct fetch_call fetch = {
		.method = call->method,
		.url = arena_printf(rq->arena, "%s%s", code_host_api_url(), call->path),
		.fields = fields,
		.field_count = field_count,
		.body = call->body,
		.body_length = call->length,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = CALL_TIMEOUT_MS,
		.effect = call->is_safe ? HTTP_SAFE : HTTP_EFFECT_OF_METHOD,
		.url_is_secret = auth->is_in_path,
	};
	struct fetch_response *answer;
	enum err_code code = fetch_try(rq, &fetch, &answer);
	if (code == ERR_UNAVAILABLE && call->is_safe) {
		fiber_sleep(rq, RETRY_PAUSE_MS);
		code = fetch_try(rq, &fetch, &answer);
	}
	bool is_undone = call->is_safe || code == ERR_UNAVAILABLE;
	if (code)
		raise_error(rq, is_undone ? ERR_UNAVAILABLE : ERR_UNCERTAIN,
		            "the code host does not answer");
	rate_limit_obey(rq, auth->limit, answer);
	if (answer->status >= 500)
		raise_error(rq, call->is_safe ? ERR_UNAVAILABLE : ERR_UNCERTAIN,
		            "the code host answered with status %d", answer->status);
	return answer;
}

/* The path that an answer redirects to; NULL: it does not, or leads away from the API. */
static const char *redirect_path(const struct fetch_response *answer)
{
	const char *base = code_host_api_url();
	size_t length = strlen(base);
	const char *location = fetch_field(answer, "Location");
	if (answer->status < 301 || answer->status > 308 || !location)
		return NULL;
	if (strncmp(location, base, length) == 0)
		location += length;
	return location[0] == '/' && location[1] != '/' ? location : NULL;
}

/* Whether an answer can be the fault of the token: refused; or of a repository that an old token
 * does not open any more. */
static bool is_of_token(int status)
{
	return status == 401 || status == 403 || status == 404;
}

/* Make the call, with other tokens as long as the answer is their fault. */
static struct fetch_response *call_renewed(struct request *rq, struct code_host_auth *auth,
                                           const struct call *call)
{
	struct fetch_response *answer = call_once(rq, auth, call);
	while (auth->renew && is_of_token(answer->status) && auth->renew(rq, auth, answer->status))
		answer = call_once(rq, auth, call);
	return answer;
}

static struct code_host_answer make_call(struct request *rq, const struct code_host_auth *auth,
                                         struct call call, yyjson_mut_val *body)
{
	struct code_host_auth used = *auth;
	call.body = body ? json_write_mut(rq->arena, body, &call.length) : NULL;
	struct fetch_response *answer = call_renewed(rq, &used, &call);
	const char *next = NULL;
	for (int i = 0; i < REDIRECTS_MAX && strcmp(call.method, "GET") == 0; i++) {
		if (!(next = redirect_path(answer)))
			break;
		call.path = next;
		answer = call_renewed(rq, &used, &call);
	}
	const struct code_host_answer result = {
		.status = answer->status,
		.json = parse(rq, answer),
		.path = call.path,
		.link = fetch_field(answer, "link"),
	};
	if (result.status == 401 && used.is_of_app)
		raise_error(rq, ERR_UNAVAILABLE, "the code host refuses the app: %s",
		            code_host_reason(rq, &result));
	return result;
}

struct code_host_answer code_host_call(struct request *rq, const struct code_host_auth *auth,
                                       const char *method, const char *path, yyjson_mut_val *body)
{
	bool is_safe = strcmp(method, "GET") == 0;
	return make_call(rq, auth,
	                 (struct call){.method = method, .path = path, .is_safe = is_safe}, body);
}

struct code_host_answer code_host_post_safe(struct request *rq, const struct code_host_auth *auth,
                                            const char *path, yyjson_mut_val *body)
{
	return make_call(rq, auth, (struct call){.method = "POST", .path = path, .is_safe = true},
	                 body);
}

const char *code_host_reason(struct request *rq, const struct code_host_answer *answer)
{
	const char *message = json_get_text(answer->json, "message");
	yyjson_val *first = yyjson_arr_get_first(json_get(answer->json, "errors"));
	const char *detail =
		yyjson_is_str(first) ? yyjson_get_str(first) : json_get_text(first, "message");
	if (!message)
		return arena_printf(rq->arena, "status %d", answer->status);
	return arena_printf(rq->arena, "%s%s%s", utf8_shorten(rq->arena, message, REASON_MAX),
	                    detail ? ": " : "",
	                    detail ? utf8_shorten(rq->arena, detail, REASON_MAX) : "");
}

/* The characters of owners and repositories at the code host. */
static bool is_name(const char *text, size_t length)
{
	bool is_path_step = length <= 2 && strspn(text, ".") >= length;
	if (length == 0 || length > NAME_MAX_LENGTH || is_path_step)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
			return false;
	return true;
}

bool repository_name_is_valid(const char *text)
{
	const char *slash = strchr(text, '/');
	return slash && is_name(text, (size_t)(slash - text)) &&
	       is_name(slash + 1, strlen(slash + 1));
}

bool repository_name_check(const char *text, size_t length, const char **ret_message)
{
	(void)length;
	*ret_message = "must be owner/name";
	return repository_name_is_valid(text);
}

struct repository_name repository_name_read(struct request *rq, const char *field, const char *text)
{
	if (!repository_name_is_valid(text))
		raise_field(rq, field, "must be owner/name");
	const char *slash = strchr(text, '/');
	return (struct repository_name){
		.owner = arena_strndup(rq->arena, text, (size_t)(slash - text)),
		.name = slash + 1,
		.full = text,
	};
}
