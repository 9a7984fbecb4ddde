#include "pg/prepared.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256 /* a service has 20 to 100 statements */

uint64_t pg_prepared_hash(const char *sql)
{
	/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *sql != '\0'; sql++)
		hash = (hash ^ (unsigned char)*sql) * UINT64_C(0x100000001b3);
	return hash;
}

struct pg_prepared_entry *pg_prepared_find(const struct pg_prepared *prepared, const char *sql,
                                           uint64_t hash)
{
	if (prepared->buckets == NULL)
		return NULL;
	struct pg_prepared_entry *entry = prepared->buckets[hash % BUCKETS];
	while (entry != NULL &&
	       (entry->hash != hash || entry->is_stale || strcmp(entry->sql, sql) != 0))
		entry = entry->next;
	return entry;
}

struct pg_prepared_entry *pg_prepared_add(struct pg_prepared *prepared, const char *sql,
                                          uint64_t hash)
{
	if (prepared->count >= PG_PREPARED_MAX)
		return NULL;
	if (prepared->buckets == NULL)
		prepared->buckets = calloc(BUCKETS, sizeof(*prepared->buckets));
	size_t length = strlen(sql) + 1;
	struct pg_prepared_entry *entry = calloc(1, sizeof(*entry) + length);
	require(prepared->buckets != NULL && entry != NULL);
	memcpy(entry->sql, sql, length);
	snprintf(entry->name, sizeof(entry->name), "s%u", ++prepared->count);
	entry->hash = hash;
	entry->next = prepared->buckets[hash % BUCKETS];
	prepared->buckets[hash % BUCKETS] = entry;
	return entry;
}

void pg_prepared_clear(struct pg_prepared *prepared)
{
	for (size_t i = 0; prepared->buckets != NULL && i < BUCKETS; i++) {
		struct pg_prepared_entry *entry = prepared->buckets[i], *next;
		for (; entry != NULL; entry = next) {
			next = entry->next;
			free(entry);
		}
	}
	free(prepared->buckets);
	*prepared = (struct pg_prepared){0};
}
