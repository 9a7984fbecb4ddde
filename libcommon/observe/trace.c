#include "observe/trace.h"

#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "crypto/uuid.h"
#include "json/json.h"
#include "observe/metrics.h"
#include "observe/trace_queue.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define TRACE_ID_LEN    16
#define SPAN_ID_LEN     8
#define TRACEPARENT_LEN 55 /* `00-` trace id `-` span id `-` flags */
#define FLAG_SAMPLED    1
#define STATUS_ERROR    2 /* of OTLP */

METRIC_COUNTER(spans_total, "expops_spans_total",
               "Spans of traces by what became of them: sent; full, dropped because too many "
               "waited; refused, dropped because the collector was away or did not take them.",
               "outcome");

/* Who called: the ids of a traceparent. */
struct context {
	uint8_t trace_id[TRACE_ID_LEN];
	uint8_t span_id[SPAN_ID_LEN];
	bool is_sampled;
};

struct span {
	enum span_kind kind;
	struct context context; /* of this span */
	uint8_t parent_id[SPAN_ID_LEN];
	bool has_parent;
	int64_t started_ns;  /* Unix time */
	uint64_t started_us; /* monotonic */
};

/* Set before other threads start. */
static bool is_on;
static double sampled_fraction;

void trace_start(double fraction)
{
	is_on = true;
	sampled_fraction = fraction;
}

bool trace_is_on(void)
{
	return is_on;
}

void spans_count(enum span_outcome outcome, size_t count)
{
	static const char *const NAMES[] = {"sent", "full", "refused"};
	metric_add(&spans_total, NAMES[outcome], NULL, (double)count);
}

static bool is_zero(const uint8_t *id, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (id[i])
			return false;
	return true;
}

/* W3C Trace Context, section 3.2.2: what a later version adds behind the flags is ignored. */
static bool context_parse(const char *text, struct context *ret_context)
{
	uint8_t version, flags;
	size_t length = text ? strlen(text) : 0;
	if (length < TRACEPARENT_LEN || text[2] != '-' || text[35] != '-' || text[52] != '-' ||
	    !hex_decode(text, 2, &version, 1) || version == 0xff ||
	    !hex_decode(text + 3, 32, ret_context->trace_id, TRACE_ID_LEN) ||
	    !hex_decode(text + 36, 16, ret_context->span_id, SPAN_ID_LEN) ||
	    !hex_decode(text + 53, 2, &flags, 1) || is_zero(ret_context->trace_id, TRACE_ID_LEN) ||
	    is_zero(ret_context->span_id, SPAN_ID_LEN))
		return false;
	ret_context->is_sampled = flags & FLAG_SAMPLED;
	return text[TRACEPARENT_LEN] == '\0' || (version > 0 && text[TRACEPARENT_LEN] == '-');
}

static char *context_format(struct arena *arena, const struct context *context)
{
	char trace_id[2 * TRACE_ID_LEN + 1], span_id[2 * SPAN_ID_LEN + 1];
	hex_encode(context->trace_id, TRACE_ID_LEN, trace_id);
	hex_encode(context->span_id, SPAN_ID_LEN, span_id);
	return arena_printf(arena, "00-%s-%s-%02x", trace_id, span_id,
	                    context->is_sampled ? FLAG_SAMPLED : 0);
}

/* By the trace id, so that all processes decide the same. */
static bool is_chosen(const uint8_t trace_id[TRACE_ID_LEN])
{
	uint64_t number = 0;
	for (int i = 0; i < 7; i++)
		number = number << 8 | trace_id[TRACE_ID_LEN - 7 + i];
	return (double)number < sampled_fraction * (double)(UINT64_C(1) << 56);
}

/* The first span of the request's trace. False: the ids are random, because the request id is no
 * UUID, and nobody else can find them. */
static bool root_context(const char *request_id, struct context *ret_context)
{
	struct uuid uuid;
	uint8_t ids[SHA256_LEN];
	bool is_derived = request_id && uuid_parse(request_id, strlen(request_id), &uuid);
	if (is_derived)
		sha256(&uuid, sizeof(uuid), ids);
	else
		random_bytes(ids, sizeof(ids));
	memcpy(ret_context->trace_id, ids, TRACE_ID_LEN);
	memcpy(ret_context->span_id, ids + TRACE_ID_LEN, SPAN_ID_LEN);
	ret_context->is_sampled = is_chosen(ret_context->trace_id);
	return is_derived;
}

static int64_t unix_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct span *span_new(struct arena *arena, enum span_kind kind)
{
	struct span *span = arena_new_of(arena, struct span);
	span->kind = kind;
	span->started_ns = unix_ns();
	span->started_us = time_monotonic_us();
	return span;
}

/* A span within that of the caller. */
static struct span *span_within(struct arena *arena, enum span_kind kind,
                                const struct context *caller)
{
	struct span *span = span_new(arena, kind);
	span->context = *caller;
	memcpy(span->parent_id, caller->span_id, SPAN_ID_LEN);
	span->has_parent = true;
	random_bytes(span->context.span_id, SPAN_ID_LEN);
	return span;
}

static struct span *begin_root(struct arena *arena, enum span_kind kind, const char *request_id,
                               struct context *ret_context)
{
	bool is_known = root_context(request_id, ret_context);
	if (!ret_context->is_sampled)
		return NULL;
	if (kind == SPAN_CONSUMER && is_known)
		return span_within(arena, kind, ret_context);
	struct span *span = span_new(arena, kind);
	span->context = *ret_context;
	return span;
}

struct span *span_begin(struct arena *arena, enum span_kind kind, const char *request_id,
                        const char **traceparent)
{
	struct context context;
	struct span *span = NULL;
	if (!is_on)
		return NULL;
	if (context_parse(*traceparent, &context)) {
		if (!context.is_sampled)
			return NULL;
		span = span_within(arena, kind, &context);
	} else if (kind == SPAN_CLIENT) {
		return NULL;
	} else {
		span = begin_root(arena, kind, request_id, &context);
	}
	*traceparent = context_format(arena, span ? &span->context : &context);
	return span;
}

static void add_id(struct buf *out, const char *name, const uint8_t *id, size_t length)
{
	char hex[2 * TRACE_ID_LEN + 1];
	hex_encode(id, length, hex);
	buf_printf(out, "\"%s\":\"%s\",", name, hex);
}

/* 64-bit integers are texts in the JSON of Protocol Buffers. */
static void add_value(struct buf *out, const struct log_field *field)
{
	if (field->type == LOG_TEXT) {
		buf_puts(out, "\"stringValue\":");
		json_quote(out, field->text, strlen(field->text));
	} else if (field->type == LOG_BOOL) {
		buf_printf(out, "\"boolValue\":%s", field->boolean ? "true" : "false");
	} else if (field->type == LOG_INT) {
		buf_printf(out, "\"intValue\":\"%" PRId64 "\"", field->integer);
	} else if (field->type == LOG_MS) {
		buf_printf(out, "\"doubleValue\":%.12g", (double)field->integer / 1e3);
	} else {
		buf_printf(out, "\"doubleValue\":%.12g", field->number);
	}
}

static void add_attributes(struct buf *out, const struct log_field *field)
{
	const char *separator = "";
	buf_puts(out, "\"attributes\":[");
	for (; field->type != LOG_END; field++) {
		if (field->type == LOG_TEXT && !field->text)
			continue;
		buf_printf(out, "%s{\"key\":\"%s\",\"value\":{", separator, field->name);
		add_value(out, field);
		buf_puts(out, "}}");
		separator = ",";
	}
	buf_puts(out, "]");
}

void span_write(const struct span *span, const char *name, bool is_failed,
                const struct log_field *attributes)
{
	struct arena *arena = arena_new();
	struct buf out = {.arena = arena};
	int64_t took_ns = (int64_t)(time_monotonic_us() - span->started_us) * 1000;
	buf_puts(&out, "{");
	add_id(&out, "traceId", span->context.trace_id, TRACE_ID_LEN);
	add_id(&out, "spanId", span->context.span_id, SPAN_ID_LEN);
	if (span->has_parent)
		add_id(&out, "parentSpanId", span->parent_id, SPAN_ID_LEN);
	buf_puts(&out, "\"name\":");
	json_quote(&out, name, strlen(name));
	buf_printf(&out,
	           ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64
	           "\",\"endTimeUnixNano\":\"%" PRId64 "\",",
	           (int)span->kind, span->started_ns, span->started_ns + took_ns);
	add_attributes(&out, attributes);
	if (is_failed)
		buf_printf(&out, ",\"status\":{\"code\":%d}", STATUS_ERROR);
	buf_puts(&out, "}");
	if (!trace_queue_add(out.data, out.length))
		spans_count(SPAN_FULL, 1);
	arena_free(arena);
}
