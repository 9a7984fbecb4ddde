#include "task/job_listen.h"

#include "base/base.h"
#include "task/announce.h"
#include "task/job_claim.h"
#include "task/stream.h"

#define ANY_COUNT "1000" /* more entries than the stream keeps */

/* Entries are not acknowledged, because a lost one only delays a task; all that have arrived say
 * the same. */
static enum err_code wait_for_entry(struct request *rq, struct tasks *tasks, bool *ret_has_arrived)
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
	*ret_has_arrived = reply->type == REDIS_LIST;
	if (stream_is_group_missing(reply))
		stream_make_group(rq, tasks->jobs_stream, tasks->settings.service);
	else if (reply->type == REDIS_ERROR)
		return ERR_INTERNAL;
	return ERR_NONE;
}

void job_listen_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	bool has_arrived = false;
	enum err_code code = wait_for_entry(rq, tasks, &has_arrived);
	if (!job_claim_look(tasks) && has_arrived)
		announce_tasks(rq->worker->redis, tasks->jobs_stream);
	if (code != ERR_NONE)
		raise_error(rq, code, "%s cannot be read", tasks->jobs_stream);
}
