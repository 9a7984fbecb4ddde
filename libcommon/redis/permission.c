#include "redis/permission.h"

#include "redis/url.h"

#include <hiredis/hiredis.h>

#include <stdbool.h>
#include <string.h>
#include <sys/time.h>

static const struct timeval PATIENCE = {.tv_sec = 2};

static redisContext *connect_now(const struct redis_url *url)
{
	redisContext *context = url->path ? redisConnectUnixWithTimeout(url->path, PATIENCE)
	                                  : redisConnectWithTimeout(url->host, url->port, PATIENCE);
	if (context && !context->err)
		redisSetTimeout(context, PATIENCE);
	return context;
}

/* NULL: the connection was lost. */
static redisReply *ask(redisContext *context, const char *const *words)
{
	const char *argv[REDIS_WORDS_MAX];
	int argc = 0;
	while (argc < REDIS_WORDS_MAX && words[argc]) {
		argv[argc] = words[argc];
		argc++;
	}
	return context && !context->err ? redisCommandArgv(context, argc, argv, NULL) : NULL;
}

static void log_in(redisContext *context, const struct redis_url *url)
{
	const char *const with_user[] = {"AUTH", url->user, url->password, NULL};
	const char *const without[] = {"AUTH", url->password, NULL};
	if (url->password)
		freeReplyObject(ask(context, url->user ? with_user : without));
}

static bool is_refused(redisContext *context, const struct redis_words *command)
{
	redisReply *reply = ask(context, command->words);
	bool is_refused = reply && reply->type == REDIS_REPLY_ERROR &&
	                  strncmp(reply->str, "NOPERM", strlen("NOPERM")) == 0;
	freeReplyObject(reply);
	return is_refused;
}

size_t redis_permission_lacking(const char *url, const struct redis_words *commands, size_t count)
{
	struct redis_url parsed;
	size_t place = 0;
	if (redis_url_parse(url, &parsed))
		return count;
	redisContext *context = connect_now(&parsed);
	log_in(context, &parsed);
	while (place < count && !is_refused(context, &commands[place]))
		place++;
	if (context)
		redisFree(context);
	redis_url_free(&parsed);
	return place;
}
