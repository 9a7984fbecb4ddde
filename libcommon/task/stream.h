/** Redis Streams in our words: entries, consumer groups. */
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

/** The value of a field; NULL: none of that name. */
const char *stream_field(const struct stream_entry *entry, const char *name);

/** Entries of a list such as XCLAIM or XRANGE answer. In the arena. */
struct stream_entries stream_entries_of(struct request *rq, const struct redis_value *list);

/** Entries of the one stream that an XREAD or XREADGROUP was for; none when it timed out. */
struct stream_entries stream_entries_read(struct request *rq, const struct redis_value *reply);

/** Make the stream and a group that begins at its oldest entry, where they are missing. Raises. */
void stream_make_group(struct request *rq, const char *stream, const char *group);

/** Read as `consumer` of the group: `>` for new entries, `0` for those that it has read
 * and not acknowledged; at most `count`, none after `block_ms`. Suspends. Returns whether the group
 * is there; where it is not, there are no entries. Raises. */
bool stream_read_group(struct request *rq, struct redis_blocking *connection, const char *stream,
                       const char *group, const char *consumer, const char *id, int count,
                       uint64_t block_ms, struct stream_entries *ret_entries);

/** Whether the reply is the error of a group or stream that is not there. */
bool stream_is_group_missing(const struct redis_value *reply);

/** Order of entry ids, `ms-sequence`: below, at or above 0 as strcmp(). */
int stream_id_compare(const char *a, const char *b);
