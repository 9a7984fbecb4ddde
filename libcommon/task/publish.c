#include "task/publish.h"

#include "base/base.h"

/* KEYS: fence_key, batch_key. ARGV: the fence of the sender's lease, the newest batch that was
 * sent, the newest that was numbered, the number of this one or 0, then for each entry its stream,
 * the number of words that follow, and those: names and values of its fields. Replies
 * [enum publication_outcome, number]. */
static const char PUBLISH[] =
	"local fence = tonumber(redis.call('GET', KEYS[1]) or '0') "
	"local batch = tonumber(redis.call('GET', KEYS[2]) or '0') "
	"if fence > tonumber(ARGV[1]) then return {1, fence} end "
	"redis.call('SET', KEYS[1], ARGV[1]) "
	"if batch < tonumber(ARGV[2]) then return {2, batch} end "
	"if batch > tonumber(ARGV[3]) then return {3, batch} end "
	"local i, added = 5, 0 "
	"while i <= #ARGV do "
	"  local stream, count = ARGV[i], tonumber(ARGV[i + 1]) "
	"  redis.call('XADD', stream, '*', unpack(ARGV, i + 2, i + 1 + count)) "
	"  added = added + 1 "
	"  i = i + 2 + count "
	"end "
	"if ARGV[4] ~= '0' then redis.call('SET', KEYS[2], ARGV[4]) end "
	"return {0, added}";

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

struct publication publication_new(struct request *rq, struct tasks *tasks,
                                   const struct publication_state *state)
{
	struct publication publication = {.rq = rq, .tasks = tasks};
	const char *const words[] = {
		"EVAL", PUBLISH, "2", tasks->fence_key, tasks->batch_key,
	};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		add_word(&publication, words[i]);
	add_number(&publication, state->fence);
	add_number(&publication, state->sent_batch);
	add_number(&publication, state->numbered_batch);
	add_number(&publication, state->batch);
	return publication;
}

void publication_add(struct publication *publication, const char *stream, const char *const *fields,
                     size_t count)
{
	add_word(publication, stream);
	add_number(publication, (int64_t)count);
	for (size_t i = 0; i < count; i++)
		add_word(publication, fields[i]);
}

struct publication_result publication_send(struct publication *publication)
{
	const struct redis_value *reply =
		redis_command(publication->rq, publication->argv, publication->argc);
	if (reply->type != REDIS_LIST || reply->count != 2)
		raise_error(publication->rq, ERR_INTERNAL, "the message store sent a wrong reply");
	return (struct publication_result){
		.outcome = (enum publication_outcome)reply->items[0].integer,
		.number = reply->items[1].integer,
	};
}
