/** Counts of requests by key, day, family and status. A table belongs to one thread. It grows with
 * the counts, up to a bound: what does not fit is not counted. */
#pragma once

#include "base/arena.h"
#include "crypto/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_TABLE_MAX 49152 /* counts, of 40 bytes in at most 4 MB */

/** What is counted, and how many times. */
struct usage_count {
	struct uuid key;
	const char *family; /* static, and compared by its address; NULL: an empty slot */
	uint32_t day;       /* days since 1970 (UTC) */
	uint16_t status;    /* of HTTP */
	uint32_t requests;
};

struct usage_table;

struct usage_table *usage_table_new(void);

/** Accepts NULL. */
void usage_table_free(struct usage_table *table);

/** Count a request: `key`, `family`, `day` and `status` of `request` count. False: there is no room
 * for another count. */
bool usage_table_add(struct usage_table *table, const struct usage_count *request);

/** How many counts there are. */
size_t usage_table_size(const struct usage_table *table);

/** Copy all counts, in the arena, to be stored. */
struct usage_count *usage_table_copy(const struct usage_table *table, struct arena *arena,
                                     size_t *ret_count);

/** Some of these were stored: what was counted since the copy is left. */
void usage_table_subtract(struct usage_table *table, const struct usage_count *stored,
                          size_t count);

/** Remove the counts of which nothing is left, and free the memory that they had. */
void usage_table_shrink(struct usage_table *table);
