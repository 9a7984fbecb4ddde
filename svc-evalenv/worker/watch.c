#include "base/terminal.h"
#include "base/utf8.h"
#include "json/json.h"
#include "loop/wait.h"
#include "main/command_run.h"
#include "pacing/backoff.h"
#include "worker/api.h"
#include "worker/worker.h"

#include <stdio.h>
#include <string.h>

#define POLL_MS         1000
#define CALL_TIMEOUT_MS 10000
#define RETRY_MAX_MS    10000

const struct setting *const WATCH_SETTINGS[] = {API_SETTINGS, NULL};

struct watch {
	const char *build_id;
	char etag[128];    /* of the newest answer; "": none */
	char status[32];   /* that was printed last */
	int64_t shown;     /* characters of the log */
	unsigned failures; /* calls without an answer, in succession */
	bool is_over, has_succeeded;
};

/* The part of the tail that was not shown. */
static void show_log(struct watch *watch, const char *tail, int64_t length)
{
	int64_t kept = (int64_t)utf8_count(tail, strlen(tail));
	int64_t skip = watch->shown - (length - kept);
	if (skip < 0)
		printf("[%lld characters are left out]\n", (long long)-skip);
	for (; skip > 0 && *tail; skip--)
		tail += utf8_sequence(tail, strlen(tail));
	terminal_print(stdout, tail, strlen(tail));
	watch->shown = length;
}

static void show(struct request *rq, struct watch *watch, yyjson_val *build)
{
	const char *status = json_get_text(build, "status");
	const char *tail = json_get_text(build, "log_tail");
	yyjson_val *error = json_get(build, "error");
	if (tail)
		show_log(watch, tail, json_get_int(build, "log_length", watch->shown));
	if (status && strcmp(status, watch->status) != 0) {
		const char *image = json_get_text(build, "image");
		snprintf(watch->status, sizeof(watch->status), "%s", status);
		fprintf(stderr, "%s%s%s\n", terminal_text(rq->arena, status), image ? " " : "",
		        terminal_text(rq->arena, image));
	}
	if (yyjson_is_obj(error))
		fprintf(stderr, "%s: %s\n", terminal_text(rq->arena, json_get_text(error, "kind")),
		        terminal_text(rq->arena, json_get_text(error, "message")));
	fflush(stdout);
	watch->is_over = json_get_text(build, "finished_at");
	watch->has_succeeded = strcmp(watch->status, "succeeded") == 0;
}

/* Conditional, so that nothing is sent while nothing has changed. */
static void look(struct request *rq, struct watch *watch)
{
	const struct http_field field = http_field_of("If-None-Match", watch->etag);
	struct api_call call = {
		.path = arena_printf(rq->arena, "/eval-env/builds/%s", watch->build_id),
		.timeout_ms = CALL_TIMEOUT_MS,
		.fields = &field,
		.field_count = *watch->etag ? 1 : 0,
	};
	if (api_call_try(rq, &call)) {
		watch->failures++;
		return;
	}
	watch->failures = 0;
	if (call.answer->status == 304)
		return;
	if (call.answer->status != 200)
		raise_error(rq, ERR_NOT_FOUND, "%s", api_detail(&call));
	const char *etag = fetch_field(call.answer, "ETag");
	snprintf(watch->etag, sizeof(watch->etag), "%s", etag ? etag : "");
	show(rq, watch, call.json);
}

static void watch_main(struct request *rq)
{
	struct watch *watch = rq->user;
	while (!watch->is_over) {
		request_page_begin(rq);
		look(rq, watch);
		if (!watch->is_over)
			fiber_sleep(rq, watch->failures
			                        ? backoff_ms(watch->failures, POLL_MS, RETRY_MAX_MS)
			                        : POLL_MS);
		request_page_end(rq);
	}
}

int watch_command(struct process *process, int argc, char **argv)
{
	if (argc != 2)
		return COMMAND_USAGE;
	struct watch watch = {.build_id = argv[1]};
	int status = outside_run(process, watch_main, &watch);
	return status ? status : !watch.has_succeeded;
}
