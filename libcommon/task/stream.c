#include "task/stream.h"

#include "base/base.h"
#include "base/log.h"
#include "loop/worker.h"

#include <stdlib.h>
#include <string.h>

const char *stream_field(const struct stream_entry *entry, const char *name)
{
	for (size_t i = 0; entry->fields && i + 1 < entry->fields->count; i += 2) {
		if (strcmp(entry->fields->items[i].text, name) == 0)
			return entry->fields->items[i + 1].text;
	}
	return NULL;
}

struct redis_value *stream_command(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *reply;
	enum err_code code = redis_try(rq, &reply, argv, argc);
	if (code != ERR_NONE)
		raise_error(rq, code, "the message store is unavailable");
	return reply;
}

struct stream_entries stream_entries_of(struct request *rq, const struct redis_value *list)
{
	struct stream_entries entries = {0};
	if (list->type != REDIS_LIST)
		return entries;
	entries.items = arena_array(rq->arena, list->count, sizeof(*entries.items));
	for (size_t i = 0; i < list->count; i++) {
		const struct redis_value *item = &list->items[i];
		if (item->type != REDIS_LIST || item->count != 2)
			continue;
		bool has_fields = item->items[1].type == REDIS_LIST;
		entries.items[entries.count++] = (struct stream_entry){
			.id = item->items[0].text,
			.fields = has_fields ? &item->items[1] : NULL,
		};
	}
	return entries;
}

struct stream_entries stream_entries_read(struct request *rq, const struct redis_value *reply)
{
	if (reply->type != REDIS_LIST || reply->count != 1 || reply->items[0].count != 2)
		return (struct stream_entries){0};
	return stream_entries_of(rq, &reply->items[0].items[1]);
}

void stream_make_group(struct request *rq, const char *stream, const char *group)
{
	const char *const argv[] = {"XGROUP", "CREATE", stream, group, "0", "MKSTREAM"};
	const struct redis_value *reply = stream_command(rq, argv, ARRAY_LEN(argv));
	if (reply->type == REDIS_ERROR && strncmp(reply->text, "BUSYGROUP", 9) != 0)
		raise_error(rq, ERR_INTERNAL, "cannot create the consumer group: %s", reply->text);
}

bool stream_is_group_missing(const struct redis_value *reply)
{
	return reply->type == REDIS_ERROR && (strncmp(reply->text, "NOGROUP", 7) == 0 ||
	                                      strstr(reply->text, "no such key") != NULL);
}

bool stream_read_group(struct request *rq, struct redis_blocking *connection, const char *stream,
                       const char *group, const char *consumer, const char *id, int count,
                       uint64_t block_ms, struct stream_entries *ret_entries)
{
	const char *const argv[] = {
		"XREADGROUP", "GROUP",
		group,        consumer,
		"COUNT",      arena_printf(rq->arena, "%d", count),
		"BLOCK",      arena_printf(rq->arena, "%llu", (unsigned long long)block_ms),
		"STREAMS",    stream,
		id,
	};
	struct redis_value *reply;
	enum err_code code = redis_blocking_try(rq, connection, &reply, argv, ARRAY_LEN(argv));
	if (code != ERR_NONE)
		raise_error(rq, code, "%s cannot be read", stream);
	bool is_missing = stream_is_group_missing(reply);
	if (reply->type == REDIS_ERROR && !is_missing)
		raise_error(rq, ERR_INTERNAL, "%s", reply->text);
	*ret_entries = stream_entries_read(rq, reply);
	return !is_missing;
}

void stream_renew_claims(struct request *rq, const char *stream, const char *group,
                         const char *consumer, const char *const *ids, size_t count)
{
	const char *const head[] = {"XCLAIM", stream, group, consumer, "0"};
	const char **argv = arena_array(rq->arena, ARRAY_LEN(head) + count + 1, sizeof(*argv));
	size_t argc = ARRAY_LEN(head);
	struct redis_value *reply;
	memcpy(argv, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		argv[argc++] = ids[i];
	argv[argc++] = "JUSTID";
	if (count > 0 && redis_try(rq, &reply, argv, argc) != ERR_NONE)
		log_debug(LOG_GROUP_JOBS, "entries not claimed again", f_text("stream", stream));
}

int stream_id_compare(const char *a, const char *b)
{
	char *end_a, *end_b;
	for (int part = 0; part < 2; part++) {
		unsigned long long number_a = strtoull(a, &end_a, 10);
		unsigned long long number_b = strtoull(b, &end_b, 10);
		if (number_a != number_b)
			return number_a < number_b ? -1 : 1;
		a = *end_a == '-' ? end_a + 1 : end_a;
		b = *end_b == '-' ? end_b + 1 : end_b;
	}
	return 0;
}
