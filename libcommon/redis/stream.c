#include "redis/stream.h"

#include "base/base.h"
#include "loop/worker.h"
#include "observe/log.h"

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

const char *stream_text(const struct stream_entry *entry, const char *name)
{
	const char *text = stream_field(entry, name);
	return text ? text : "";
}

void stream_raise_error(struct request *rq, const struct redis_value *reply)
{
	if (reply->type != REDIS_ERROR)
		return;
	log_error("redis refused a command", f_text("why", reply->text));
	raise_error(rq, ERR_INTERNAL, "the message store refused a command: %s", reply->text);
}

static struct redis_value *reply_to(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *reply;
	enum err_code code = redis_try(rq, &reply, argv, argc);
	if (code != ERR_NONE)
		raise_error(rq, code, "the message store is unavailable");
	return reply;
}

struct redis_value *stream_command(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *reply = reply_to(rq, argv, argc);
	stream_raise_error(rq, reply);
	return reply;
}

struct redis_value *stream_command_if_exists(struct request *rq, const char *const *argv,
                                             size_t argc)
{
	struct redis_value *reply = reply_to(rq, argv, argc);
	if (stream_is_group_missing(reply))
		return NULL;
	stream_raise_error(rq, reply);
	return reply;
}

const struct redis_value *stream_member(const struct redis_value *list, const char *name)
{
	for (size_t i = 0; list->type == REDIS_LIST && i + 1 < list->count; i += 2) {
		if (list->items[i].text && strcmp(list->items[i].text, name) == 0)
			return &list->items[i + 1];
	}
	return NULL;
}

const char *stream_newest_id(struct request *rq, const char *stream)
{
	const char *const argv[] = {"XINFO", "STREAM", stream};
	const struct redis_value *info = stream_command_if_exists(rq, argv, ARRAY_LEN(argv));
	const struct redis_value *id = info ? stream_member(info, "last-generated-id") : NULL;
	return id && id->type == REDIS_TEXT ? id->text : "0-0";
}

bool stream_has_entry(struct request *rq, const char *stream, const char *id)
{
	const char *const argv[] = {"XRANGE", stream, id, id};
	return stream_command(rq, argv, ARRAY_LEN(argv))->count > 0;
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
	const struct redis_value *reply = reply_to(rq, argv, ARRAY_LEN(argv));
	if (reply->type != REDIS_ERROR || strncmp(reply->text, "BUSYGROUP", 9) != 0)
		stream_raise_error(rq, reply);
}

bool stream_is_group_missing(const struct redis_value *reply)
{
	return reply->type == REDIS_ERROR &&
	       (strncmp(reply->text, "NOGROUP", 7) == 0 || strstr(reply->text, "no such key") ||
	        strstr(reply->text, "requires the key to exist"));
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
