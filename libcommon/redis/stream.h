/** Redis Streams: entries and consumer groups. For task/. */
#pragma once

#include "redis/redis.h"

/** One entry; borrows from the reply. */
struct stream_entry {
	const char *id;
	const struct redis_value *fields; /* name, value, ...; NULL: the entry was deleted */
};

struct stream_entries {
	struct stream_entry *items;
	size_t count;
};

/** The value of a field; NULL: the entry has no such field. */
const char *stream_field(const struct stream_entry *entry, const char *name);

/** The same; "" when the entry lacks it. */
const char *stream_text(const struct stream_entry *entry, const char *name);

/** Run a command as redis_try(); raises when there is no reply, or an error. */
struct redis_value *stream_command(struct request *rq, const char *const *argv, size_t argc);

/** As stream_command(); NULL when the error is that the stream or the group does not exist. */
struct redis_value *stream_command_if_exists(struct request *rq, const char *const *argv,
                                             size_t argc);

/** Raise and log if the reply is an error. */
void stream_raise_error(struct request *rq, const struct redis_value *reply);

/** A member of a `[name, value, ...]` list, as in replies to XINFO; NULL: it has no such member. */
const struct redis_value *stream_member(const struct redis_value *list, const char *name);

/** The id of the newest entry that the stream ever had; "0-0": there is no such stream. Suspends;
 * raises. */
const char *stream_newest_id(struct request *rq, const char *stream);

/** Whether the stream has the entry now. Suspends; raises. */
bool stream_has_entry(struct request *rq, const char *stream, const char *id);

/** The entries in a reply to XCLAIM or XRANGE. In the arena. */
struct stream_entries stream_entries_of(struct request *rq, const struct redis_value *list);

/** The entries in a reply to XREAD or XREADGROUP of one stream; none when it timed out. */
struct stream_entries stream_entries_read(struct request *rq, const struct redis_value *reply);

/** Create the stream if missing, and the group if missing, beginning at the oldest entry. Suspends;
 * raises. */
void stream_make_group(struct request *rq, const char *stream, const char *group);

/** Whether the reply is the error that the group or the stream does not exist. */
bool stream_is_group_missing(const struct redis_value *reply);

/** Compare entry ids, `ms-sequence`, as strcmp() does. */
int stream_id_compare(const char *a, const char *b);
