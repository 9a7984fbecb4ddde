#include "notify/message.h"

#include "base/timefmt.h"
#include "base/utf8.h"
#include "message.sql.h"
#include "notify/dispatcher.h"
#include "notify/notify.h"
#include "pg/pg.h"
#include "service/process.h"

#include <string.h>

const char *message_public_id(struct arena *arena, const char *id)
{
	struct buf text = {.arena = arena};
	buf_puts(&text, "msg_");
	for (; *id; id++)
		if (*id != '-')
			buf_add(&text, id, 1);
	return text.data;
}

/* Put the address of the API before the page of the console. */
static void complete_url(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *data)
{
	yyjson_mut_val *url = yyjson_mut_obj_get(data, "url");
	const char *path = yyjson_mut_get_str(url);
	if (path && path[0] == '/')
		yyjson_mut_obj_put(data, yyjson_mut_str(doc, "url"),
		                   yyjson_mut_str(doc,
		                                  arena_printf(arena, "%s%s",
		                                               process_settings.public_url, path)));
}

static size_t written_bytes(struct arena *arena, yyjson_mut_val *value)
{
	size_t length;
	json_write_mut(arena, value, &length);
	return length;
}

static bool can_shrink(yyjson_mut_val *value)
{
	return yyjson_mut_arr_size(value) > 0 || yyjson_mut_obj_size(value) > 0 ||
	       (yyjson_mut_is_str(value) && yyjson_mut_get_len(value) > 1);
}

/* The member of an object that takes the most, of those that can be cut; NULL: none can. */
static yyjson_mut_val *longest_member(struct arena *arena, yyjson_mut_val *object,
                                      size_t *ret_bytes)
{
	yyjson_mut_val *longest = NULL, *name, *value;
	size_t index, count;
	*ret_bytes = 0;
	yyjson_mut_obj_foreach(object, index, count, name, value)
	{
		size_t bytes = can_shrink(value) ? written_bytes(arena, value) : 0;
		if (bytes > *ret_bytes) {
			*ret_bytes = bytes;
			longest = value;
		}
	}
	return longest;
}

/* Half of a text. */
static const char *half_text(struct arena *arena, yyjson_mut_val *value)
{
	const char *text = yyjson_mut_get_str(value);
	size_t length = yyjson_mut_get_len(value);
	return arena_strndup(arena, text, utf8_cut(text, length, length / 2));
}

static void halve_object(yyjson_mut_val *object)
{
	yyjson_mut_obj_iter members;
	size_t kept = yyjson_mut_obj_size(object) / 2;
	yyjson_mut_obj_iter_init(object, &members);
	for (size_t i = 0; yyjson_mut_obj_iter_next(&members); i++)
		if (i >= kept)
			yyjson_mut_obj_iter_remove(&members);
}

/* Halve a value: the longest member of an object, if that is half of it or more. */
static void halve(struct arena *arena, yyjson_mut_val *value)
{
	size_t bytes;
	while (yyjson_mut_is_obj(value)) {
		yyjson_mut_val *longest = longest_member(arena, value, &bytes);
		if (!longest || bytes < written_bytes(arena, value) / 2) {
			halve_object(value);
			return;
		}
		value = longest;
	}
	if (yyjson_mut_is_arr(value)) {
		size_t kept = yyjson_mut_arr_size(value) / 2;
		yyjson_mut_arr_remove_range(value, kept, yyjson_mut_arr_size(value) - kept);
	} else {
		yyjson_mut_set_str(value, half_text(arena, value));
	}
}

/* Halve the longest member. False: nothing is left that can be cut. */
static bool cut_once(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *data)
{
	size_t bytes;
	yyjson_mut_val *longest = longest_member(arena, data, &bytes);
	if (!longest)
		return false;
	halve(arena, longest);
	yyjson_mut_obj_put(data, yyjson_mut_str(doc, "truncated"), yyjson_mut_bool(doc, true));
	return true;
}

const char *message_body(struct arena *arena, const struct message_parts *parts)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc), *data = yyjson_val_mut_copy(doc, parts->data);
	char *at = arena_alloc(arena, TIME_TEXT_LEN + 1);
	time_format(parts->at_ms, at);
	complete_url(doc, arena, data);
	yyjson_mut_obj_add_str(doc, body, "id", message_public_id(arena, parts->id));
	yyjson_mut_obj_add_str(doc, body, "type", parts->type);
	yyjson_mut_obj_add_str(doc, body, "timestamp", at);
	yyjson_mut_obj_add_str(doc, body, "account_id", parts->account);
	yyjson_mut_obj_add_val(doc, body, "data", data);
	size_t length;
	const char *text;
	do
		text = json_write_mut(arena, body, &length);
	while (length > MESSAGE_BYTES_MAX && cut_once(doc, arena, data));
	return text;
}

/* The text, if it is a UUID: what a message is about is not always an interest. */
static const char *uuid_or_null(const char *text)
{
	struct uuid id;
	return text && uuid_parse(text, strlen(text), &id) ? text : NULL;
}

static struct pg_rows *take(struct request *rq, const struct message_parts *parts)
{
	return pg_query(rq, MESSAGE_TAKE_SQL, pg_text(parts->account), pg_text(parts->id),
	                pg_text(parts->type), pg_time(parts->at_ms),
	                pg_text(message_body(rq->arena, parts)),
	                pg_text(json_get_text(parts->data, "repo")),
	                pg_text(uuid_or_null(json_get_text(parts->data, "interest_id"))),
	                pg_int(notify_days), pg_int(MESSAGES_WAITING_MAX));
}

static struct pg_rows *take_digest(struct request *rq, const struct message_parts *parts,
                                   const char *endpoint)
{
	return pg_query(rq, MESSAGE_TAKE_DIGEST_SQL, pg_text(parts->account), pg_text(parts->id),
	                pg_text(parts->type), pg_time(parts->at_ms),
	                pg_text(message_body(rq->arena, parts)), pg_text(endpoint),
	                pg_int(notify_days), pg_int(MESSAGES_WAITING_MAX));
}

void message_take(struct request *rq, const struct event *event)
{
	const char *endpoint = uuid_or_null(json_get_text(event->data, "endpoint_id"));
	struct message_parts parts = {
		.id = event->id,
		.type = event_require_text(rq, event, "type"),
		.at_ms = event->at_ms,
		.account = event->account,
		.data = json_get(event->data, "data"),
	};
	if (!yyjson_is_obj(parts.data) || uuid_is_nil(&rq->caller.account))
		raise_error(rq, ERR_INVALID, "the event has no data or no account");
	struct pg_rows *rows = endpoint ? take_digest(rq, &parts, endpoint) : take(rq, &parts);
	if (pg_value_int(rows, 0) > 0)
		dispatcher_wake(rq->worker);
}
