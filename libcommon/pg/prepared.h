/** Which statements a connection has prepared, and under which names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** More than any service has; past it statements go unprepared. */
#define PG_PREPARED_MAX 1024

struct pg_prepared_entry {
	struct pg_prepared_entry *next; /* in its bucket */
	uint64_t hash;
	bool is_stale; /* the server does not know it, or its plan no longer fits */
	char name[16];
	char sql[];
};

/** Zero-initialise. Entries stay where they are until pg_prepared_clear(). */
struct pg_prepared {
	struct pg_prepared_entry **buckets;
	unsigned count; /* stale ones included: also the counter that names are made of */
};

uint64_t pg_prepared_hash(const char *sql);

/** The usable entry of that text; NULL: none. */
struct pg_prepared_entry *pg_prepared_find(const struct pg_prepared *prepared, const char *sql,
                                           uint64_t hash);

/** A new entry with a new name; NULL: the map is full. Copies the text. */
struct pg_prepared_entry *pg_prepared_add(struct pg_prepared *prepared, const char *sql,
                                          uint64_t hash);

/** Forget all: the connection is gone. */
void pg_prepared_clear(struct pg_prepared *prepared);
