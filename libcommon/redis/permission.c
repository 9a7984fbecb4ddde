#include "redis/permission.h"

#include "base/base.h"
#include "redis/reconnect.h"
#include "tls/context.h"

#include <stdbool.h>
#include <string.h>

#define PATIENCE_MS 5000

/* The commands are sent in order, and so are their replies. */
struct survey {
	uv_loop_t loop;
	uv_timer_t patience;
	size_t count, replies;
	size_t lacking; /* the first command that is refused; `count`: none */
};

static void on_reply(void *arg, const redisReply *reply)
{
	static const char REFUSED[] = "NOPERM";
	struct survey *survey = arg;
	size_t place = survey->replies++;
	if (reply && reply->type == REDIS_REPLY_ERROR && place < survey->lacking &&
	    strncmp(reply->str, REFUSED, strlen(REFUSED)) == 0)
		survey->lacking = place;
	if (survey->replies == survey->count)
		uv_stop(&survey->loop);
}

static void on_patience_over(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

static bool send_one(struct redis_link *link, const struct redis_words *command,
                     struct survey *survey)
{
	size_t argc = 0;
	while (argc < REDIS_WORDS_MAX && command->words[argc])
		argc++;
	return redis_link_send(link, command->words, argc, on_reply, survey);
}

/* Ask on a loop of this thread. */
static void ask(struct survey *survey, const struct redis_url *url, struct tls_context *tls,
                const struct redis_words *commands)
{
	require(uv_loop_init(&survey->loop) == 0);
	uv_timer_init(&survey->loop, &survey->patience);
	uv_timer_start(&survey->patience, on_patience_over, PATIENCE_MS, 0);
	struct redis_link *link = redis_link_new(&survey->loop, url, tls, PATIENCE_MS, NULL, NULL);
	size_t sent = 0;
	while (sent < survey->count && send_one(link, &commands[sent], survey))
		sent++;
	if (sent == survey->count && survey->replies < sent)
		uv_run(&survey->loop, UV_RUN_DEFAULT);
	redis_link_free(link);
	uv_close((uv_handle_t *)&survey->patience, NULL);
	while (uv_run(&survey->loop, UV_RUN_DEFAULT) != 0) /* on_reply() may have stopped it */
		;
	require(uv_loop_close(&survey->loop) == 0);
}

size_t redis_permission_lacking(const char *url, struct tls_trust *trust,
                                const struct redis_words *commands, size_t count)
{
	struct redis_url parsed;
	struct survey survey = {.count = count, .lacking = count};
	if (count == 0 || redis_url_parse(url, &parsed))
		return count;
	struct tls_context *tls = parsed.is_tls ? tls_context_new_client(trust) : NULL;
	ask(&survey, &parsed, tls, commands);
	tls_context_free(tls);
	redis_url_free(&parsed);
	return survey.lacking;
}
