#include "client/trace_export.h"

#include "base/arena.h"
#include "base/timefmt.h"
#include "base/url.h"
#include "json/json.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "observe/trace_queue.h"
#include "pacing/backoff.h"

#include <curl/curl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LINGER_MS    1000 /* how long the first span of a batch waits for others */
#define TIMEOUT_MS   5000
#define STOP_MS      2000
#define TRIES_MAX    5
#define PAUSE_MS     500
#define PAUSE_MAX_MS 5000
#define LOG_PAUSE_MS 60000

static struct {
	const char *endpoint, *headers;
	double fraction;
} settings;

const struct setting TRACE_SETTINGS[] = {
	SETTING_TEXT(
		&settings.endpoint, "OTEL_EXPORTER_OTLP_ENDPOINT", "",
		"Collector of traces, by OTLP over HTTP with JSON: http://host:4318; empty: no "
		"traces."),
	SETTING_SECRET(&settings.headers, "OTEL_EXPORTER_OTLP_HEADERS", "",
                       "Header fields for the collector: name=value,name=value, percent-encoded."),
	SETTING_FLOAT(
		&settings.fraction, "OTEL_TRACES_SAMPLER_ARG", "0.01", 0, 1,
		"Fraction of the traces that begin here which are recorded; one that a client "
		"sends is recorded if it says so."),
	SETTING_END,
};

static struct {
	pthread_t thread;
	CURL *easy;
	struct curl_slist *fields;
	char *resource; /* the payload up to its spans */
	struct arena *arena;
	_Atomic uint64_t stop_at_ms; /* 0: it is not stopping */
	bool is_running;
	struct log_pause pause;
} exporter;

enum err_code trace_settings_check(void)
{
	const char *url = settings.endpoint;
	if (!*url || url_scheme_length(url))
		return ERR_NONE;
	fprintf(stderr, "OTEL_EXPORTER_OTLP_ENDPOINT: must be http://host:port or https://host\n");
	return ERR_INVALID;
}

/* --- One batch -------------------------------------------------------------------------------- */

/* Ends a transfer when the process has to end. */
static int on_progress(void *unused, curl_off_t to_get, curl_off_t got, curl_off_t to_send,
                       curl_off_t sent)
{
	(void)unused, (void)to_get, (void)got, (void)to_send, (void)sent;
	uint64_t stop_at_ms = exporter.stop_at_ms;
	return stop_at_ms && time_monotonic_ms() >= stop_at_ms;
}

static size_t ignore_answer(char *data, size_t size, size_t count, void *unused)
{
	(void)data, (void)unused;
	return size * count;
}

static const char *payload_of(struct arena *arena, const struct trace_batch *batch,
                              size_t *ret_length)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, exporter.resource);
	buf_add(&out, batch->text, batch->length);
	buf_puts(&out, "]}]}]}");
	*ret_length = out.length;
	return out.data;
}

/* Why the collector did not take the payload; "": it did. */
static const char *post(struct arena *arena, const char *payload, size_t length, bool *ret_is_final)
{
	char error[CURL_ERROR_SIZE] = "";
	long status = 0;
	curl_easy_setopt(exporter.easy, CURLOPT_POSTFIELDS, payload);
	curl_easy_setopt(exporter.easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	curl_easy_setopt(exporter.easy, CURLOPT_ERRORBUFFER, error);
	CURLcode result = curl_easy_perform(exporter.easy);
	curl_easy_setopt(exporter.easy, CURLOPT_ERRORBUFFER, NULL);
	if (result != CURLE_OK) {
		*ret_is_final = false;
		return arena_strdup(arena, error[0] ? error : curl_easy_strerror(result));
	}
	curl_easy_getinfo(exporter.easy, CURLINFO_RESPONSE_CODE, &status);
	*ret_is_final = status != 429 && status != 502 && status != 503 && status != 504;
	return status / 100 == 2 ? "" : arena_printf(arena, "it answered %ld", status);
}

static void send_batch(const struct trace_batch *batch)
{
	struct arena *arena = arena_new();
	size_t length;
	const char *payload = payload_of(arena, batch, &length), *why;
	bool is_final, may_go_on = true;
	unsigned tries = 0;
	do {
		why = post(arena, payload, length, &is_final);
		if (!*why)
			break;
		if (log_is_due(&exporter.pause, LOG_PAUSE_MS))
			log_warn("the collector does not take traces", f_text("reason", why));
		may_go_on = !is_final && ++tries < TRIES_MAX &&
		            trace_queue_pause(backoff_ms(tries, PAUSE_MS, PAUSE_MAX_MS));
	} while (may_go_on);
	spans_count(*why ? SPAN_REFUSED : SPAN_SENT, batch->count);
	arena_free(arena);
}

static void *exporter_main(void *unused)
{
	struct trace_batch batch;
	while (trace_queue_take(&batch, LINGER_MS))
		send_batch(&batch);
	return unused;
}

/* --- Start and end ---------------------------------------------------------------------------- */

static void add_resource_text(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":",
	           out->data[out->length - 1] == '[' ? "" : ",", name);
	json_quote(out, value, strlen(value));
	buf_puts(out, "}}");
}

static char *resource_of(struct arena *arena, const char *process, const char *instance)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
	add_resource_text(&out, "service.namespace", "expops");
	add_resource_text(&out, "service.name", process);
	add_resource_text(&out, "service.instance.id", instance);
	add_resource_text(&out, "service.version", EXPOPS_VERSION);
	buf_puts(&out, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"expops\"},\"spans\":[");
	return out.data;
}

/* `name=value,name=value` */
static struct curl_slist *fields_of(struct arena *arena, const char *text)
{
	struct curl_slist *fields = curl_slist_append(NULL, "Content-Type: application/json");
	while (*text) {
		size_t length = strcspn(text, ","), name = strcspn(text, "=,");
		if (name < length) {
			const char *encoded =
				arena_strndup(arena, text + name + 1, length - name - 1);
			char *value = curl_easy_unescape(NULL, encoded, 0, NULL);
			fields = curl_slist_append(fields, arena_printf(arena, "%.*s: %s",
			                                                (int)name, text, value));
			curl_free(value);
		}
		text += length + (text[length] == ',');
	}
	return fields;
}

static CURL *easy_new(struct arena *arena)
{
	CURL *easy = curl_easy_init();
	require(easy);
	size_t length = strlen(settings.endpoint);
	while (length > 0 && settings.endpoint[length - 1] == '/')
		length--;
	curl_easy_setopt(easy, CURLOPT_URL,
	                 arena_printf(arena, "%.*s/v1/traces", (int)length, settings.endpoint));
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exporter.fields);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore_answer);
	return easy;
}

void trace_export_start(const char *process, const char *instance)
{
	if (!*settings.endpoint)
		return;
	exporter.arena = arena_new();
	exporter.resource = resource_of(exporter.arena, process, instance);
	exporter.fields = fields_of(exporter.arena, settings.headers);
	exporter.easy = easy_new(exporter.arena);
	exporter.is_running = true;
	trace_queue_start();
	require(pthread_create(&exporter.thread, NULL, exporter_main, NULL) == 0);
	trace_start(settings.fraction);
	log_info("sending traces",
	         f_text("url", url_without_secrets(exporter.arena, settings.endpoint, false)),
	         f_float("fraction", settings.fraction));
}

void trace_export_stop(void)
{
	if (!exporter.is_running)
		return;
	exporter.is_running = false;
	exporter.stop_at_ms = time_monotonic_ms() + STOP_MS;
	trace_queue_end();
	pthread_join(exporter.thread, NULL);
	curl_easy_cleanup(exporter.easy);
	curl_slist_free_all(exporter.fields);
	trace_queue_free();
	arena_free(exporter.arena);
}
