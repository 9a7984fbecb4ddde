#include "main/stream_permission.h"

#include "base/arena.h"
#include "base/base.h"
#include "observe/log.h"
#include "product/event_streams.h"
#include "redis/permission.h"
#include "service/process.h"
#include "service/service.h"

#include <string.h>

#define COMMANDS_MAX 200

struct asked {
	struct redis_words commands[COMMANDS_MAX];
	size_t count;
};

static void add(struct asked *asked, const char *command, const char *key, const char *argument)
{
	require(asked->count < COMMANDS_MAX);
	asked->commands[asked->count++] = (struct redis_words){{command, key, argument}};
}

/* No stream has an entry 0-1, so nothing is deleted, and no stream is made. */
static void add_written(struct asked *asked, struct arena *arena, const struct event_stream *stream)
{
	add(asked, "XDEL", stream->name, "0-1");
	for (size_t i = 0; i < EVENT_READERS_MAX && stream->readers[i]; i++)
		add(asked, "GET",
		    event_stream_key(arena, stream->name, "position", stream->readers[i]), NULL);
}

static enum err_code check(const struct process *process, struct arena *arena)
{
	struct asked *asked = arena_new_of(arena, struct asked);
	const char *service = process->service->name;
	for (const struct event_stream *s = EVENT_STREAMS; s->name; s++) {
		if (strcmp(s->writer, service) == 0)
			add_written(asked, arena, s);
		if (event_stream_has_reader(EVENT_STREAMS, s->name, service))
			add(asked, "XLEN", s->name, NULL);
	}
	size_t lacking =
		redis_permission_lacking(process->settings->redis_url, process->redis_trust,
	                                 asked->commands, asked->count);
	if (lacking == asked->count)
		return ERR_NONE;
	log_error("the schema is not migrated before the user of Redis has the rights of this "
	          "version: give it what deploy/redis-acl prints, by ACL LOAD or ACL SETUSER",
	          f_text("command", asked->commands[lacking].words[0]),
	          f_text("key", asked->commands[lacking].words[1]));
	return ERR_CONFLICT;
}

enum err_code stream_permission_check(const void *process)
{
	struct arena *arena = arena_new();
	enum err_code code = check(process, arena);
	arena_free(arena);
	return code;
}
