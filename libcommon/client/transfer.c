#include "client/transfer.h"

#include "base/base.h"
#include "base/tcp.h"
#include "client/guard.h"
#include "loop/fiber.h"
#include "loop/worker.h"
#include "pacing/budget.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_TIMEOUT_MS 5000
#define REDIRECTS_MAX      5
#define IDLE_MAX           32 /* connections kept for reuse */
#define FIELDS_MAX_BYTES   ((size_t)256 * 1024)
#define FIELDS_FIRST       16
#define PROTOCOLS          "http,https"

/* What a call of a user's URL counts besides its answer: for its connection, with TLS, and what the
 * request that waits for it holds; and for each field of the answer besides its bytes. */
#define CALL_BYTES  ((size_t)256 * 1024)
#define FIELD_BYTES (2 * sizeof(struct http_field) + 2 * 16)

BUDGET(answers, "expops_fetch_bytes",
       "Memory of calls of URLs that users named, and of their answers; FETCH_MEMORY is the limit.",
       "expops_fetch_refused_total",
       "Calls refused because FETCH_MEMORY or the account's share of it was used up.");

struct fetcher {
	CURLM *multi; /* NULL: there was no transfer yet */
	uv_timer_t timer;
	uv_loop_t *loop;
	size_t transfer_count;
};

/* Watches one of libcurl's sockets. */
struct watcher {
	uv_poll_t poll;
	struct fetcher *fetcher;
	curl_socket_t socket;
};

/* Mark the transfers that have ended as done and wake their fibers. */
static void finish_transfers(struct fetcher *fetcher)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(fetcher->multi, &left))) {
		struct transfer *transfer = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		transfer->result = message->data.result;
		transfer->is_done = true;
		fiber_wake(transfer->fiber);
	}
}

static void socket_action(struct fetcher *fetcher, curl_socket_t socket, int flags)
{
	int running;
	curl_multi_socket_action(fetcher->multi, socket, flags, &running);
	finish_transfers(fetcher);
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct watcher *watcher = handle->data;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0;
	flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
	flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
	socket_action(watcher->fetcher, watcher->socket, flags);
}

static void on_watcher_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static struct watcher *watcher_new(struct fetcher *fetcher, curl_socket_t socket)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	require(watcher);
	watcher->fetcher = fetcher;
	watcher->socket = socket;
	watcher->poll.data = watcher;
	if (uv_poll_init_socket(fetcher->loop, &watcher->poll, socket) != 0) {
		free(watcher);
		return NULL;
	}
	curl_multi_assign(fetcher->multi, socket, watcher);
	return watcher;
}

/* libcurl's CURLMOPT_SOCKETFUNCTION: start, change or stop watching a socket. */
static int on_socket(CURL *easy, curl_socket_t socket, int what, void *arg, void *socket_arg)
{
	struct fetcher *fetcher = arg;
	struct watcher *watcher = socket_arg;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watcher)
			uv_close((uv_handle_t *)&watcher->poll, on_watcher_closed);
		curl_multi_assign(fetcher->multi, socket, NULL);
		return 0;
	}
	if (!watcher)
		watcher = watcher_new(fetcher, socket);
	if (!watcher)
		return -1;
	int events = what & CURL_POLL_IN ? UV_READABLE : 0;
	events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
	return uv_poll_start(&watcher->poll, events, on_poll) == 0 ? 0 : -1;
}

static void on_timer(uv_timer_t *timer)
{
	socket_action(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout_change(CURLM *multi, long timeout_ms, void *arg)
{
	struct fetcher *fetcher = arg;
	(void)multi;
	if (timeout_ms < 0)
		uv_timer_stop(&fetcher->timer);
	else
		uv_timer_start(&fetcher->timer, on_timer, (uint64_t)timeout_ms, 0);
	return 0;
}

struct fetcher *fetcher_new(uv_loop_t *loop)
{
	require(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS);
	struct fetcher *fetcher = calloc(1, sizeof(*fetcher));
	require(fetcher);
	fetcher->loop = loop;
	uv_timer_init(loop, &fetcher->timer);
	fetcher->timer.data = fetcher;
	return fetcher;
}

static void curl_begin(void)
{
	require(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

/* Not at start: many processes call nobody, and libcurl initialises its TLS library. */
static void fetcher_begin(struct fetcher *fetcher)
{
	static uv_once_t once = UV_ONCE_INIT;
	uv_once(&once, curl_begin);
	fetcher->multi = curl_multi_init();
	require(fetcher->multi);
	curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
	curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION, on_timeout_change);
	curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
	curl_multi_setopt(fetcher->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_MAX);
}

static void on_fetcher_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void fetcher_free(struct fetcher *fetcher)
{
	if (!fetcher)
		return;
	require(fetcher->transfer_count == 0);
	if (fetcher->multi)
		curl_multi_cleanup(fetcher->multi);
	uv_close((uv_handle_t *)&fetcher->timer, on_fetcher_closed);
}

static void add_field(struct transfer *transfer, const char *line, size_t name_length,
                      const char *value, size_t value_length)
{
	if (transfer->field_count == transfer->field_room) {
		size_t room = transfer->field_room ? transfer->field_room * 2 : FIELDS_FIRST;
		transfer->answer_fields =
			arena_grow(transfer->arena, transfer->answer_fields,
		                   transfer->field_room * sizeof(struct http_field),
		                   room * sizeof(struct http_field));
		transfer->field_room = room;
	}
	transfer->answer_fields[transfer->field_count++] = (struct http_field){
		.name = arena_strndup(transfer->arena, line, name_length),
		.value = arena_strndup(transfer->arena, value, value_length),
		.name_length = (uint32_t)name_length,
		.value_length = (uint32_t)value_length,
	};
}

/* The code of a call that http_body_add() has refused memory. */
static enum err_code full_code(enum err_code code)
{
	return code && code != ERR_RATE_LIMITED ? ERR_CONTENTION : code;
}

/* One line of a head. A status line starts a new response, which replaces the fields and the body
 * of a 1xx or redirect. */
static size_t on_head_line(char *line, size_t one, size_t length, void *arg)
{
	struct transfer *transfer = arg;
	size_t end = length * one;
	transfer->field_bytes += end;
	if (transfer->field_bytes > FIELDS_MAX_BYTES)
		transfer->failure = ERR_UPSTREAM;
	else
		transfer->failure =
			full_code(http_body_take_work(&transfer->body, end + FIELD_BYTES));
	if (transfer->failure)
		return 0;
	if (end >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		transfer->field_count = 0;
		transfer->body.length = 0;
		return length;
	}
	while (end > 0 && strchr("\r\n \t", line[end - 1]))
		end--;
	char *colon = memchr(line, ':', end);
	if (!colon)
		return length;
	size_t start = (size_t)(colon - line) + 1;
	while (start < end && (line[start] == ' ' || line[start] == '\t'))
		start++;
	add_field(transfer, line, (size_t)(colon - line), line + start, end - start);
	return length;
}

static size_t on_body(char *data, size_t one, size_t length, void *arg)
{
	struct transfer *transfer = arg;
	struct http_body *body = &transfer->body;
	size_t bytes = one * length, room = body->max_bytes - body->length;
	bool is_over = bytes > room;
	if (is_over && !transfer->cuts_body)
		transfer->failure = ERR_UPSTREAM;
	else
		transfer->failure = full_code(http_body_add(body, data, MIN_OF(bytes, room)));
	transfer->is_cut = is_over && transfer->failure == ERR_NONE;
	return is_over || transfer->failure ? 0 : bytes;
}

void transfer_add_line(struct transfer *transfer, const char *line)
{
	struct curl_slist *grown = curl_slist_append(transfer->fields, line);
	require(grown);
	transfer->fields = grown;
}

static void set_fields(struct transfer *transfer, const struct fetch_call *call)
{
	bool has_agent = false;
	for (size_t i = 0; i < call->field_count; i++) {
		const struct http_field *field = &call->fields[i];
		/* libcurl omits `Name:`; `Name;` sends an empty field. */
		const char *form = field->value[0] ? "%s: %s" : "%s;";
		transfer_add_line(transfer,
		                  arena_printf(transfer->arena, form, field->name, field->value));
		has_agent |= strcasecmp(field->name, "User-Agent") == 0;
	}
	transfer_add_line(transfer, "Expect:");
	if (!has_agent)
		curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, "expops/" EXPOPS_VERSION);
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->fields);
}

static void set_method(struct transfer *transfer, const struct fetch_call *call)
{
	static const char *const WITH_BODY[] = {"POST", "PUT", "PATCH"};
	CURL *easy = transfer->easy;
	const char *method = call->method ? call->method : "GET";
	bool has_body = call->body;
	for (size_t i = 0; i < ARRAY_LEN(WITH_BODY); i++)
		has_body |= strcmp(method, WITH_BODY[i]) == 0;
	if (has_body) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_length);
		curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, call->body ? call->body : "");
	}
	if (strcmp(method, "HEAD") == 0)
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	else if (strcmp(method, has_body ? "POST" : "GET") != 0)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

static void set_reuse(struct transfer *transfer, const struct fetch_call *call)
{
	bool is_repeatable = fetch_effect(call) != HTTP_ONCE;
	curl_easy_setopt(transfer->easy, CURLOPT_FRESH_CONNECT,
	                 is_repeatable && !call->is_fresh ? 0L : 1L);
	curl_easy_setopt(transfer->easy, CURLOPT_FORBID_REUSE, is_repeatable ? 0L : 1L);
}

static void set_limits(struct transfer *transfer, const struct fetch_call *call)
{
	CURL *easy = transfer->easy;
	if (call->connect_timeout_ms)
		curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->connect_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
	curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, PROTOCOLS);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, call->follow_redirects ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
	if (!call->cuts_response)
		curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
		                 (curl_off_t)transfer->body.max_bytes);
	/* Not between services: it costs them more than a network in between carries it for. */
	if (!call->service)
		curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
}

/* libcurl's CURLOPT_SOCKOPTFUNCTION, for outside servers and for services. */
static int probe_socket(void *arg attr_unused, curl_socket_t socket,
                        curlsocktype purpose attr_unused)
{
	tcp_probe(socket);
	return CURL_SOCKOPT_OK;
}

static int detect_loss(void *arg attr_unused, curl_socket_t socket,
                       curlsocktype purpose attr_unused)
{
	tcp_detect_loss(socket);
	return CURL_SOCKOPT_OK;
}

static void set_callbacks(struct transfer *transfer, const struct fetch_call *call)
{
	CURL *easy = transfer->easy;
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, call->service ? detect_loss : probe_socket);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head_line);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

struct transfer *transfer_new(struct fetcher *fetcher, uint64_t timeout_ms)
{
	struct arena *arena = arena_new();
	struct transfer *transfer = arena_new_of(arena, struct transfer);
	if (!fetcher->multi)
		fetcher_begin(fetcher);
	transfer->arena = arena;
	transfer->fiber = fiber_self();
	transfer->fetcher = fetcher;
	transfer->easy = curl_easy_init();
	require(transfer->easy);
	curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
	curl_easy_setopt(transfer->easy, CURLOPT_ERRORBUFFER, transfer->error);
	curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
	/* Do not wait for the thread of an abandoned name look-up. */
	curl_easy_setopt(transfer->easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(transfer->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	fetcher->transfer_count++;
	return transfer;
}

struct transfer *transfer_begin(struct transfer *transfer, const char *url)
{
	struct arena *arena = transfer->arena;
	if (curl_easy_setopt(transfer->easy, CURLOPT_URL, url) == CURLE_OK &&
	    curl_multi_add_handle(transfer->fetcher->multi, transfer->easy) == CURLM_OK)
		return transfer;
	transfer_end(transfer);
	arena_free(arena);
	return NULL;
}

void fetch_set_limit(size_t memory_bytes)
{
	budget_set_limit(&answers, memory_bytes);
}

size_t fetch_used_bytes(void)
{
	return budget_used_bytes(&answers);
}

/* The budget of a call: of one to an address that a user chose, while a client waits for it. The
 * background worker makes as many as it has places, which are bounded, and for work that must not
 * fail because others make calls. */
static struct budget *budget_of(const struct request *rq, const struct fetch_call *call)
{
	return call->guard >= FETCH_GUARD_ALL && rq->worker->server ? &answers : NULL;
}

static enum err_code body_begin(struct request *rq, const struct fetch_call *call,
                                struct transfer *transfer)
{
	http_body_init_in(&transfer->body, transfer->arena, budget_of(rq, call),
	                  &rq->caller.account,
	                  call->response_max_bytes ? call->response_max_bytes : 8 << 20);
	return full_code(http_body_take_work(&transfer->body, CALL_BYTES));
}

static struct transfer *begin(struct transfer *transfer, const struct fetch_call *call)
{
	transfer->cuts_body = call->cuts_response;
	set_callbacks(transfer, call);
	set_limits(transfer, call);
	set_method(transfer, call);
	set_reuse(transfer, call);
	set_fields(transfer, call);
	fetch_guard_set(transfer, call->guard);
	if (call->is_direct || call->unix_path)
		curl_easy_setopt(transfer->easy, CURLOPT_PROXY, "");
	if (call->unix_path)
		curl_easy_setopt(transfer->easy, CURLOPT_UNIX_SOCKET_PATH, call->unix_path);
	return transfer_begin(transfer, call->url);
}

enum err_code transfer_start(struct request *rq, const struct fetch_call *call, uint64_t timeout_ms,
                             struct transfer **ret_transfer)
{
	struct transfer *transfer = transfer_new(rq->worker->fetch, timeout_ms);
	enum err_code code = body_begin(rq, call, transfer);
	if (code) {
		struct arena *arena = transfer->arena;
		transfer_end(transfer);
		arena_free(arena);
		return code;
	}
	*ret_transfer = begin(transfer, call);
	return *ret_transfer ? ERR_NONE : ERR_UPSTREAM;
}

enum err_code transfer_wait(struct transfer *transfer)
{
	enum err_code code = ERR_NONE;
	while (!transfer->is_done && code == ERR_NONE)
		code = fiber_wait();
	return transfer->is_done ? ERR_NONE : code;
}

void transfer_end(struct transfer *transfer)
{
	transfer->fetcher->transfer_count--;
	curl_multi_remove_handle(transfer->fetcher->multi, transfer->easy);
	curl_easy_cleanup(transfer->easy);
	curl_slist_free_all(transfer->fields);
	curl_slist_free_all(transfer->recipients);
	curl_mime_free(transfer->content);
}
