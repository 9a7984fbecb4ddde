#include "task/publish.h"

#include "base/base.h"

/* KEYS: batch_key, entries_key. ARGV: the batch that Redis must have, the number of this one or 0,
 * then for each entry its stream, its task or '', the number of words that follow, and those: names
 * and values of its fields. */
static const char PUBLISH[] =
	"local known = tonumber(redis.call('GET', KEYS[1]) or '0') "
	"if known < tonumber(ARGV[1]) then return {0, known} end "
	"local i, added = 3, 0 "
	"while i <= #ARGV do "
	"  local stream, task, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]) "
	"  local entry = task ~= '' and redis.call('HGET', KEYS[2], task) "
	"  if not entry or #redis.call('XRANGE', stream, entry, entry) == 0 then "
	"    local id = redis.call('XADD', stream, '*', unpack(ARGV, i + 3, i + 2 + count)) "
	"    if task ~= '' then redis.call('HSET', KEYS[2], task, id) end "
	"    added = added + 1 "
	"  end "
	"  i = i + 3 + count "
	"end "
	"if ARGV[2] ~= '0' then redis.call('SET', KEYS[1], ARGV[2]) end "
	"return {1, added}";

static void add_word(struct publication *publication, const char *word)
{
	if (publication->argc == publication->room) {
		size_t room = publication->room ? publication->room * 2 : 64;
		publication->argv =
			arena_grow(publication->rq->arena, publication->argv,
		                   publication->room * sizeof(char *), room * sizeof(char *));
		publication->room = room;
	}
	publication->argv[publication->argc++] = word;
}

static void add_number(struct publication *publication, int64_t number)
{
	add_word(publication, arena_printf(publication->rq->arena, "%lld", (long long)number));
}

struct publication publication_new(struct request *rq, struct tasks *tasks, int64_t known_batch,
                                   int64_t batch)
{
	struct publication publication = {.rq = rq, .tasks = tasks};
	const char *const words[] = {"EVAL", PUBLISH, "2", tasks->batch_key, tasks->entries_key};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		add_word(&publication, words[i]);
	add_number(&publication, known_batch);
	add_number(&publication, batch);
	return publication;
}

static void add_entry(struct publication *publication, const char *stream, const char *task,
                      const char *const *fields, size_t count)
{
	add_word(publication, stream);
	add_word(publication, task);
	add_number(publication, (int64_t)count);
	for (size_t i = 0; i < count; i++)
		add_word(publication, fields[i]);
}

void publication_add_job(struct publication *publication, const char *task, const char *kind)
{
	const char *const fields[] = {"task", task, "kind", kind};
	add_entry(publication, publication->tasks->jobs_stream, task, fields, ARRAY_LEN(fields));
}

void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count)
{
	add_entry(publication, stream, "", fields, count);
}

struct publication_result publication_send(struct publication *publication)
{
	const struct redis_value *reply =
		redis_command(publication->rq, publication->argv, publication->argc);
	require(reply->type == REDIS_LIST && reply->count == 2);
	bool is_added = reply->items[0].integer == 1;
	int64_t number = reply->items[1].integer;
	return (struct publication_result){
		.is_lost = !is_added,
		.redis_batch = is_added ? 0 : number,
		.added = is_added ? number : 0,
	};
}

/* KEYS: jobs_stream, entries_key. ARGV: group, entry, task. */
static const char REMOVE[] = "redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) "
			     "redis.call('XDEL', KEYS[1], ARGV[2]) "
			     "if redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[2] then "
			     "  redis.call('HDEL', KEYS[2], ARGV[3]) "
			     "end "
			     "return 1";

void job_entry_remove(struct request *rq, struct tasks *tasks, const char *entry_id,
                      const char *task_id)
{
	redis_words(rq, "EVAL", REMOVE, "2", tasks->jobs_stream, tasks->entries_key,
	            tasks->settings.service, entry_id, task_id);
}
