#include "call/call.h"

#include "base/timefmt.h"
#include "call/profile.h"
#include "json/json.h"

#include <curl/curl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define CONNECT_TIMEOUT_MS 10000L
#define TIMEOUT_MS         300000L /* a model may have to answer */
#define CONTENT_BYTES_MAX  ((size_t)64 * 1024 * 1024)
#define VALUES_MAX         4000000
#define ATTEMPTS           4
#define PAUSE_MS           250 /* before the second attempt; then twice as long each time */
#define RETRY_AFTER_MAX_S  10  /* a longer wait is left to the user */
#define KEY_BYTES          16

struct transfer {
	struct buf content;
	bool is_too_large;
	char error[CURL_ERROR_SIZE];
};

static size_t receive(char *data, size_t size, size_t count, void *ctx)
{
	struct transfer *transfer = ctx;
	transfer->is_too_large = transfer->content.length + size * count > CONTENT_BYTES_MAX;
	if (transfer->is_too_large)
		return 0;
	buf_add(&transfer->content, data, size * count);
	return size * count;
}

/* The connection is kept for further requests that read. */
static CURL *connection(struct cli *cli)
{
	if (!cli->curl) {
		curl_global_init(CURL_GLOBAL_DEFAULT);
		cli->curl = curl_easy_init();
		require(cli->curl);
	}
	curl_easy_reset(cli->curl);
	return cli->curl;
}

void call_end(struct cli *cli)
{
	if (cli->curl)
		curl_easy_cleanup(cli->curl);
	cli->curl = NULL;
}

static void add_header(struct curl_slist **headers, struct arena *arena, const char *name,
                       const char *value)
{
	if (value)
		*headers = curl_slist_append(*headers, arena_printf(arena, "%s: %s", name, value));
	require(*headers);
}

static struct curl_slist *headers_of(const struct query *query, const char *key,
                                     const char *content)
{
	struct arena *arena = query->cli->arena;
	struct curl_slist *headers = NULL;
	add_header(&headers, arena, "Accept", "application/json");
	if (query->operation->needs_key)
		add_header(&headers, arena, "Authorization", arena_printf(arena, "Bearer %s", key));
	add_header(&headers, arena, "Content-Type", content ? "application/json" : NULL);
	for (const struct operation_field *field = query->operation->fields; field->name; field++)
		if (field->place == FIELD_HEADER)
			add_header(&headers, arena, field->name, query_value(query, field->name));
	return headers;
}

/* Redirections are not followed: they would take the key elsewhere. */
static void set_options(CURL *curl, const struct profile *profile, const struct query *query,
                        struct transfer *transfer)
{
	size_t length;
	long timeout_ms = query->cli->timeout_ms;
	const char *content = query_content(query, &length);
	bool has_content = content || query->operation->has_body ||
	                   strcmp(query->operation->method, "POST") == 0;
	curl_easy_setopt(curl, CURLOPT_URL,
	                 arena_printf(query->cli->arena, "%s%s", profile->url,
	                              query_target(query)));
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "expops/" EXPOPS_VERSION);
	curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
	                 timeout_ms ? timeout_ms : CONNECT_TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms ? timeout_ms : TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	if (profile->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, profile->ca_file);
	if (has_content) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
		                 (curl_off_t)(content ? length : 0));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, content ? content : "");
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, query->operation->method);
	/* libcurl itself sends a request again whose kept connection breaks before the answer. One
	 * that changes something has a connection of its own, so that call() decides that. */
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT,
	                 (long)(strcmp(query->operation->method, "GET") != 0));
}

/* A field of the answer's header; NULL: it has none. */
static const char *header_of(CURL *curl, const char *name)
{
	struct curl_header *header;
	return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
	               ? header->value
	               : NULL;
}

static int64_t number_of(const char *text)
{
	char *end;
	errno = 0;
	long long number = text ? strtoll(text, &end, 10) : -1;
	return text && end != text && *end == '\0' && errno == 0 && number >= 0 ? number : -1;
}

static void read_answer(struct cli *cli, CURL *curl, struct transfer *transfer,
                        struct answer *answer)
{
	long status;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	answer->status = (int)status;
	buf_puts(&transfer->content, "");
	answer->content = transfer->content.data;
	answer->length = transfer->content.length;
	answer->total = number_of(header_of(curl, "X-Total-Count"));
	answer->retry_after = number_of(header_of(curl, "Retry-After"));
	const char *request_id = header_of(curl, "X-Request-Id"),
		   *type = header_of(curl, "Content-Type");
	answer->request_id = request_id ? cli_shown(cli, request_id) : NULL;
	if (type && strstr(type, "json") &&
	    json_parse_peer(cli->arena, answer->content, answer->length, VALUES_MAX, &answer->json,
	                    NULL))
		answer->json = NULL;
}

static bool is_broken(CURLcode code)
{
	return code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
	       code == CURLE_PARTIAL_FILE;
}

struct answer *call_try(struct query *query)
{
	struct cli *cli = query->cli;
	const struct profile *profile = profile_get(cli);
	struct answer *answer = arena_new_of(cli->arena, struct answer);
	struct transfer transfer = {.content = {.arena = cli->arena}};
	size_t length;
	CURL *curl = connection(cli);
	struct curl_slist *headers = headers_of(query, profile->key, query_content(query, &length));
	set_options(curl, profile, query, &transfer);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	CURLcode code = curl_easy_perform(curl);
	*answer = (struct answer){.total = -1, .retry_after = -1};
	if (code == CURLE_OK) {
		read_answer(cli, curl, &transfer, answer);
	} else {
		answer->is_broken = is_broken(code);
		answer->failure = transfer.is_too_large ? "the answer has more than 64 MiB"
		                  : *transfer.error     ? cli_shown(cli, transfer.error)
		                                        : curl_easy_strerror(code);
	}
	curl_slist_free_all(headers);
	return answer;
}

bool call_is_transient(const struct answer *answer)
{
	static const int STATUSES[] = {0, 429, 502, 503, 504};
	for (size_t i = 0; i < ARRAY_LEN(STATUSES); i++)
		if (answer->status == STATUSES[i])
			return true;
	return false;
}

/* With an Idempotency-Key the same request does nothing twice, so that it can be sent again. */
static void set_idempotency_key(struct query *query)
{
	unsigned char bytes[KEY_BYTES];
	struct buf text = {.arena = query->cli->arena};
	if (!operation_field(query->operation, "Idempotency-Key") ||
	    query_value(query, "Idempotency-Key"))
		return;
	require(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	query_set(query, "Idempotency-Key", text.data);
}

void call_pause(int64_t ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* A connection that is refused is an error at once: it may be the wrong one. */
static bool is_worth_repeating(const struct query *query, const struct answer *answer)
{
	return operation_is_repeatable(query->operation) && call_is_transient(answer) &&
	       (answer->status != 0 || answer->is_broken) &&
	       answer->retry_after <= RETRY_AFTER_MAX_S;
}

/* Whether the request may have been done, although the answer is no success. */
static bool is_uncertain(const struct answer *answer)
{
	const char *error = json_get_text(answer->json, "error");
	bool is_undone = error && strcmp(error, "unavailable") == 0;
	return answer->is_broken || (answer->status >= 500 && !is_undone);
}

/* An answer for a DELETE that an attempt before the last one has done: 404 says that nothing is
 * left. */
static struct answer *deleted(struct query *query)
{
	struct arena *arena = query->cli->arena;
	struct answer *answer = arena_new_of(arena, struct answer);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	for (const struct operation_field *field = query->operation->fields; field->name; field++)
		if (field->place == FIELD_PATH)
			json_add_text(doc, root, "id", query_value(query, field->name));
	yyjson_mut_obj_add_true(doc, root, "deleted");
	*answer = (struct answer){.status = 200, .total = -1, .retry_after = -1};
	answer->content = json_write_mut(arena, root, &answer->length);
	answer->json = json_parse_own(arena, answer->content);
	return answer;
}

struct answer *call(struct query *query)
{
	int64_t pause = PAUSE_MS;
	bool is_done = false; /* perhaps */
	set_idempotency_key(query);
	struct answer *answer = call_try(query);
	for (int attempt = 1; attempt < ATTEMPTS && is_worth_repeating(query, answer);
	     attempt++, pause *= 2) {
		is_done = is_done || is_uncertain(answer);
		call_pause(MAX_OF(pause, answer->retry_after * 1000));
		answer = call_try(query);
	}
	if (is_done && answer->status == 404 && strcmp(query->operation->method, "DELETE") == 0)
		return deleted(query);
	if (answer->status < 200 || answer->status > 299)
		call_fail(query->cli, answer);
	return answer;
}

static enum exit_status exit_status_of(int status)
{
	static const struct {
		int status;
		enum exit_status exit_status;
	} ROWS[] = {
		{400, EXIT_USAGE},     {401, EXIT_NOT_ALLOWED}, {403, EXIT_NOT_ALLOWED},
		{404, EXIT_NOT_FOUND}, {422, EXIT_USAGE},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		if (ROWS[i].status == status)
			return ROWS[i].exit_status;
	return EXIT_FAILED;
}

/* A line for each field that was refused. */
static void add_faults(struct cli *cli, struct buf *out, yyjson_val *faults)
{
	size_t index, count;
	yyjson_val *fault;
	if (yyjson_arr_size(faults) == 1) /* the detail is this one */
		return;
	yyjson_arr_foreach (faults, index, count, fault)
		buf_printf(out, "\n  %s: %s", cli_shown(cli, json_get_text(fault, "field")),
		           cli_shown(cli, json_get_text(fault, "message")));
}

/* What a problem document (RFC 9457) says. */
static const char *problem_text(struct cli *cli, const struct answer *answer)
{
	const char *detail = json_get_text(answer->json, "detail"),
		   *title = json_get_text(answer->json, "title");
	struct buf out = {.arena = cli->arena};
	if (json_get_bool(answer->json, "pool_building", false))
		return "the candidates of the interest are still being collected; try again in a "
		       "minute";
	if (detail || title)
		buf_puts(&out, cli_shown(cli, detail ? detail : title));
	else
		buf_printf(&out, "%s answered %d, and not as expops does", cli->profile->url,
		           answer->status);
	add_faults(cli, &out, json_get(answer->json, "errors"));
	if (answer->retry_after > 0)
		buf_printf(&out, "; try again in %lld s", (long long)answer->retry_after);
	if (answer->status >= 500 && answer->request_id)
		buf_printf(&out, " (request %s)", answer->request_id);
	return out.data;
}

void call_fail(struct cli *cli, const struct answer *answer)
{
	if (answer->status == 0)
		cli_fail(EXIT_FAILED, "%s: %s", cli->profile->url, answer->failure);
	if (answer->status == 401)
		cli_fail(EXIT_NOT_ALLOWED,
		         "%s does not know this key, or no longer; expops login stores another one",
		         cli->profile->url);
	cli_fail(exit_status_of(answer->status), "%s", problem_text(cli, answer));
}
