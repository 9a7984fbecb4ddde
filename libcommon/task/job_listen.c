#include "task/job_listen.h"

#include "base/base.h"
#include "task/announce.h"
#include "task/job_claim.h"
#include "task/stream.h"

#include <string.h>

#define ANY_COUNT "1000" /* more entries than the stream keeps */

struct arrival {
	bool has_any; /* an entry */
	bool has_own; /* one that this process has added for others */
};

static struct arrival arrival_of(struct request *rq, const struct tasks *tasks,
                                 const struct redis_value *reply)
{
	struct stream_entries entries = stream_entries_read(rq, reply);
	struct arrival arrived = {.has_any = entries.count > 0};
	for (size_t i = 0; i < entries.count; i++) {
		const char *left_by = stream_field(&entries.items[i], ANNOUNCE_LEFT_BY);
		arrived.has_own |= left_by && strcmp(left_by, tasks->settings.instance) == 0;
	}
	return arrived;
}

/* Entries are not acknowledged, because a lost one only delays a task. */
static enum err_code wait_for_entry(struct request *rq, struct tasks *tasks,
                                    struct arrival *ret_arrived)
{
	const char *const argv[] = {
		"XREADGROUP",
		"GROUP",
		tasks->settings.service,
		tasks->settings.instance,
		"COUNT",
		ANY_COUNT,
		"NOACK",
		"BLOCK",
		arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.block),
		"STREAMS",
		tasks->jobs_stream,
		">",
	};
	struct redis_value *reply;
	enum err_code code =
		redis_blocking_try(rq, tasks->listener_connection, &reply, argv, ARRAY_LEN(argv));
	if (code != ERR_NONE)
		return code;
	if (stream_is_group_missing(reply))
		stream_make_group(rq, tasks->jobs_stream, tasks->settings.service);
	else if (reply->type == REDIS_ERROR)
		return ERR_INTERNAL;
	else
		*ret_arrived = arrival_of(rq, tasks, reply);
	return ERR_NONE;
}

void job_listen_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	struct arrival arrived = {0};
	enum err_code code = wait_for_entry(rq, tasks, &arrived);
	bool has_looked = job_claim_look(tasks);
	if (arrived.has_own || (arrived.has_any && !has_looked))
		announce_tasks(rq->worker->redis, tasks->jobs_stream, NULL);
	if (code != ERR_NONE)
		raise_error(rq, code, "%s cannot be read", tasks->jobs_stream);
}
