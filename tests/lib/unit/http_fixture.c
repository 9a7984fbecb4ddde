#include "http_fixture.h"

#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture *fixture_of(struct http_exchange *x)
{
	return http_server_context(x->server);
}

void respond_text(struct http_exchange *x, int status, const char *text)
{
	struct http_field fields[] = {http_field_of("Content-Type", "text/plain")};
	size_t length = strlen(text);
	http_respond_start(x, status, fields, ARRAY_LEN(fields), (int64_t)length);
	http_respond_content(x, text, length);
	http_respond_end(x);
}

static void on_head(struct http_exchange *x)
{
	struct fixture *f = fixture_of(x);
	f->heads++;
	f->held = x;
	snprintf(f->seen, sizeof(f->seen), "%s %.*s ", x->head.method, (int)x->head.target_length,
	         x->head.target);
	if (f->on_head)
		f->on_head(x);
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	struct fixture *f = fixture_of(x);
	size_t used = strlen(f->seen);
	snprintf(f->seen + used, sizeof(f->seen) - used, "%.*s", (int)MIN_OF(length, 400), data);
	f->content_bytes += length;
	f->content_calls++;
	if (f->on_content)
		f->on_content(x);
}

static void on_end(struct http_exchange *x)
{
	struct fixture *f = fixture_of(x);
	f->ends++;
	if (f->on_end)
		f->on_end(x);
	else if (x->status == 0)
		respond_text(x, 200, f->seen);
}

static void on_drained(struct http_exchange *x)
{
	struct fixture *f = fixture_of(x);
	f->drained++;
	if (f->on_drained)
		f->on_drained(x);
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	struct fixture *f = fixture_of(x);
	f->gones++;
	f->gone_reason = reason;
}

static void on_done(struct http_exchange *x)
{
	struct fixture *f = fixture_of(x);
	f->dones++;
	f->held = NULL;
}

static void refuse(struct arena *arena, enum err_code code, const char *detail,
                   const char *request_id, const char **ret_body, size_t *ret_length)
{
	*ret_body = arena_printf(arena, "{\"error\":\"%s\",\"detail\":\"%s\",\"instance\":\"%s\"}",
	                         err_info(code)->slug, detail, request_id);
	*ret_length = strlen(*ret_body);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = on_content,
	.on_end = on_end,
	.on_drained = on_drained,
	.on_gone = on_gone,
	.on_done = on_done,
	.refuse = refuse,
};

const struct http_handler *const fixture_handler = &HANDLER;
struct http_limits fixture_limits;

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	signal(SIGPIPE, SIG_IGN);
	fixture_limits = http_limits_default;
	uv_loop_init(&f->loop);
	f->server = http_server_new(&f->loop, &HANDLER, &fixture_limits, f);
	const struct address address = {.host = "127.0.0.1"};
	assert_int_equal(http_server_listen(f->server, &address, NULL), ERR_NONE);
	f->port = http_server_port(f->server);
	f->client = http_client_new(&f->loop, f->port);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	if (f->client)
		http_client_free(f->client);
	http_server_free(f->server);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(f->heads, f->dones);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	free(f);
	return 0;
}
