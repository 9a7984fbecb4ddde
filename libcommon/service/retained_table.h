/** What ends the rows of a table. Each process declares all tables of its schema in such rows,
 * beside the code that deletes; those that every schema has are COMMON_TABLES. `svc-X retention
 * --show` prints them (main/retention_command.h), and fails where the rows and the schema differ,
 * so that no table is added without an answer to the question how it ends. */
#pragma once

#include <stddef.h>

struct retained_table {
	const char *table; /* NULL ends the rows */
	/* The column that has the age of a row: a time, a date, or a UUID of version 7; NULL: the
	 * table has none. */
	const char *age;
	const char *setting; /* the days for which rows are kept: RUN_DAYS; NULL: no setting */
	const char *end; /* one sentence: what deletes the rows, or why they do not become more */
};

/** Rows go by their age: after the days of a setting, or after a fixed time, which `end` says. */
#define TABLE_AGES(table, age, setting, end) \
	{                                    \
		table, age, setting, end     \
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
