/** Counts of requests by key, day, family and status. A table belongs to one thread; counting takes
 * neither a lock nor memory. Its size is fixed: what does not fit is not counted. */
#pragma once

#include "base/arena.h"
#include "crypto/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_TABLE_SLOTS 4096
#define USAGE_TABLE_MAX   3072 /* counts */

/** What is counted, and how many times. */
struct usage_count {
	struct uuid key;
	const char *family; /* static, and compared by its address */
	uint32_t day;       /* days since 1970 (UTC) */
	uint16_t status;    /* of HTTP */
	uint32_t requests;  /* 0: an empty slot */
	uint32_t taken;     /* of them, by usage_table_take() */
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

/** Copy all counts, in the arena, to be stored. They stay until usage_table_stored(). */
struct usage_count *usage_table_take(struct usage_table *table, struct arena *arena,
                                     size_t *ret_count);

/** What was taken last is stored: remove it. What was counted meanwhile stays. */
void usage_table_stored(struct usage_table *table);
