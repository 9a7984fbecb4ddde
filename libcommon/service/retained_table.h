/** What ends the rows of a table. Each process declares all tables of its schema in such rows, in
 * its folder retention/; those that every schema has are COMMON_TABLES. `svc-X retention --show`
 * prints them (main/retention_command.h), and fails where the rows and the schema differ, so that
 * no table is added without an answer to the question how it ends.
 *
 * Rows that no other table and no sum depends on need no code: retained_tables_keep() deletes them
 * by the condition of TABLE_DELETED. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stddef.h>

struct service;

struct retained_table {
	const char *table; /* NULL ends the rows */
	/* The column that has the age of a row: a time, a date, or a UUID of version 7; NULL: the
	 * table has none. */
	const char *age;
	const char *setting; /* the days for which rows are kept: RUN_DAYS; NULL: no setting */
	const char *end; /* one sentence: what deletes the rows, or why they do not become more */
	/* Of rows of the table `t` that retained_tables_keep() deletes, in SQL; $1 are the days of
	 * the setting. NULL: other code deletes them. */
	const char *old;
	bool has_index; /* by which `old` finds the rows */
};

/** Rows go by their age: after the days of a setting, or after a fixed time, which `end` says. */
#define TABLE_AGES(table, age, setting, end) \
	{                                    \
		table, age, setting, end     \
	}

/** Rows go by their age, and retained_tables_keep() deletes them; it reads the whole table. */
#define TABLE_DELETED(table, age, setting, end, old) \
	{                                            \
		table, age, setting, end, old, false \
	}

/** The same of a large table, where an index has the rows of `old`. */
#define TABLE_DELETED_BY_INDEX(table, age, setting, end, old) \
	{                                                     \
		table, age, setting, end, old, true           \
	}

/** Rows go with another row, or their number is bounded: `end` says by what. */
#define TABLE_BOUND(table, end)        \
	{                              \
		table, NULL, NULL, end \
	}

#define TABLES_END   \
	{            \
		NULL \
	}

extern const struct retained_table COMMON_TABLES[];

/** The setting of the table, of whole days. NULL: the table has none, or the process. */
const struct setting *retained_table_setting(const struct service *service,
                                             const struct retained_table *table);

/** Recurring, each day: delete old rows of the tables of the process that are TABLE_DELETED, in
 * batches. A table that cannot be deleted from, as when it is locked for more than a second, is
 * left to the next pass, with a line in the log. A pass that has no time left goes on soon where it
 * has deleted something, else the next day; behind the table at which it ended, in either case. */
void retained_tables_keep(struct request *rq);
extern const int64_t RETAINED_TABLES_EVERY_MS;
