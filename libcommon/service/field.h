/** Declared input: what an operation takes from its path, query and JSON body, checked before the
 * handler's first line of work.
 *
 *     struct run_input { const char *experiment; int64_t seeds; const char *note; };
 *     static const struct field RUN_FIELDS[] = {
 *             PATH_UUID(struct run_input, experiment, "experiment_id"),
 *             BODY_INT(struct run_input, seeds, "seeds", REQUIRED, 1, 64),
 *             BODY_TEXT(struct run_input, note, "note", NULLABLE, 0, 2000),
 *             FIELD_END,
 *     };
 *
 * Every fault is found before the reply, which names each field. Members of a body that no row
 * names are ignored. In C an absent text is NULL, an absent number is the row's default. What C
 * does not look at needs no struct member: use the JSON rows, and let the statement read
 * request_body_json().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

enum field_place { FIELD_END_OF_TABLE, IN_PATH, IN_QUERY, IN_BODY };

enum field_type {
	FIELD_TEXT,    /* const char *; min and max in code points */
	FIELD_UUID,    /* const char *, canonical lower case */
	FIELD_INT,     /* int64_t */
	FIELD_FLOAT,   /* double, finite */
	FIELD_BOOL,    /* bool */
	FIELD_ENUM,    /* const char *, one of `values` */
	FIELD_DATE,    /* const char *, YYYY-MM-DD */
	FIELD_TIME,    /* const char *, RFC 3339 */
	FIELD_URL,     /* const char *, absolute http or https URL */
	FIELD_OBJECT,  /* const char *, JSON text of an object */
	FIELD_ARRAY,   /* const char *, JSON text of an array; min and max in items */
	FIELD_STRINGS, /* const char *, JSON text of an array of strings; min and max in items, each
			  at most item_max code points, none empty */
	FIELD_LIMIT,   /* int64_t: above max is clamped, below 1 or not an integer is a fault */
	FIELD_OFFSET,  /* int64_t, 0 or more */
};

enum field_flag {
	OPTIONAL = 0,
	REQUIRED = 1, /* must be there, and not null */
	NULLABLE = 2, /* null clears; without it null is a fault */
	TRIMMED = 4,  /* white space at both ends is dropped before the bounds are checked */
};

#define FIELD_NOWHERE ((size_t)-1) /* checked, and kept in request_body_json() alone */

struct field {
	enum field_place place;
	enum field_type type;
	const char *name; /* as the client writes it */
	size_t offset;    /* of the struct member, or FIELD_NOWHERE */
	unsigned flags;
	double min, max;           /* inclusive; both 0: no bound */
	int64_t fallback;          /* numbers and booleans: the value when absent */
	const char *const *values; /* FIELD_ENUM: NULL-terminated */
	size_t item_max;
	bool (*check)(const char *text, size_t length,
	              const char **ret_message); /* FIELD_TEXT: a form of its own; NULL: any */
	/* FIELD_OBJECT: its declared members; FIELD_ARRAY: those of its items, which are objects
	 * then. Faults are named `resource.url`, `links[2].type`; members that no row names are
	 * kept. All IN_BODY and FIELD_NOWHERE; TRIMMED only affects their bounds. NULL: free
	 * form. */
	const struct field *members;
};

/* Offset of a member whose type is checked at compile time. */
#define FIELD_AT(s, member, type)                                                             \
	(offsetof(s, member) +                                                                \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((s *)0)->member), type) ? 1 \
	                                                                                  : -1]))

#define PATH_UUID(s, m, n)                                                       \
	{                                                                        \
		IN_PATH, FIELD_UUID, (n), FIELD_AT(s, m, const char *), REQUIRED \
	}
#define PATH_TEXT(s, m, n, lo, hi)                                                           \
	{                                                                                    \
		IN_PATH, FIELD_TEXT, (n), FIELD_AT(s, m, const char *), REQUIRED, (lo), (hi) \
	}

#define QUERY_UUID(s, m, n)                                             \
	{                                                               \
		IN_QUERY, FIELD_UUID, (n), FIELD_AT(s, m, const char *) \
	}
#define QUERY_TEXT(s, m, n, f, lo, hi)                                                   \
	{                                                                                \
		IN_QUERY, FIELD_TEXT, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi) \
	}
#define QUERY_ENUM(s, m, n, v)                                                         \
	{                                                                              \
		IN_QUERY, FIELD_ENUM, (n), FIELD_AT(s, m, const char *), .values = (v) \
	}
#define QUERY_BOOL(s, m, n, d)                                                   \
	{                                                                        \
		IN_QUERY, FIELD_BOOL, (n), FIELD_AT(s, m, bool), .fallback = (d) \
	}
#define QUERY_DATE(s, m, n)                                             \
	{                                                               \
		IN_QUERY, FIELD_DATE, (n), FIELD_AT(s, m, const char *) \
	}
#define QUERY_LIMIT(s, m, d, hi)                                                     \
	{                                                                            \
		IN_QUERY, FIELD_LIMIT, "limit", FIELD_AT(s, m, int64_t), 0, 1, (hi), \
			.fallback = (d)                                              \
	}
#define QUERY_OFFSET(s, m)                                                \
	{                                                                 \
		IN_QUERY, FIELD_OFFSET, "offset", FIELD_AT(s, m, int64_t) \
	}

#define BODY_TEXT(s, m, n, f, lo, hi)                                                   \
	{                                                                               \
		IN_BODY, FIELD_TEXT, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi) \
	}
#define BODY_UUID(s, m, n, f)                                               \
	{                                                                   \
		IN_BODY, FIELD_UUID, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_INT(s, m, n, f, lo, hi, d)                                                            \
	{                                                                                          \
		IN_BODY, FIELD_INT, (n), FIELD_AT(s, m, int64_t), (f), (lo), (hi), .fallback = (d) \
	}
#define BODY_FLOAT(s, m, n, f, lo, hi)                                             \
	{                                                                          \
		IN_BODY, FIELD_FLOAT, (n), FIELD_AT(s, m, double), (f), (lo), (hi) \
	}
#define BODY_BOOL(s, m, n, f, d)                                                     \
	{                                                                            \
		IN_BODY, FIELD_BOOL, (n), FIELD_AT(s, m, bool), (f), .fallback = (d) \
	}
#define BODY_ENUM(s, m, n, f, v)                                                           \
	{                                                                                  \
		IN_BODY, FIELD_ENUM, (n), FIELD_AT(s, m, const char *), (f), .values = (v) \
	}
#define BODY_OBJECT(s, m, n, f)                                               \
	{                                                                     \
		IN_BODY, FIELD_OBJECT, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_ARRAY(s, m, n, f, lo, hi)                                                   \
	{                                                                                \
		IN_BODY, FIELD_ARRAY, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi) \
	}
#define BODY_STRINGS(s, m, n, f, lo, hi, each)                                              \
	{                                                                                   \
		IN_BODY, FIELD_STRINGS, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi), \
			.item_max = (each)                                                  \
	}

/* Rows that C never looks at: checked, and kept in request_body_json(). */
#define JSON_TEXT(n, f, lo, hi)                                          \
	{                                                                \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, (f), (lo), (hi) \
	}
#define JSON_UUID(n, f)                                      \
	{                                                    \
		IN_BODY, FIELD_UUID, (n), FIELD_NOWHERE, (f) \
	}
#define JSON_INT(n, f, lo, hi)                                          \
	{                                                               \
		IN_BODY, FIELD_INT, (n), FIELD_NOWHERE, (f), (lo), (hi) \
	}
#define JSON_FLOAT(n, f, lo, hi)                                          \
	{                                                                 \
		IN_BODY, FIELD_FLOAT, (n), FIELD_NOWHERE, (f), (lo), (hi) \
	}
#define JSON_BOOL(n, f)                                      \
	{                                                    \
		IN_BODY, FIELD_BOOL, (n), FIELD_NOWHERE, (f) \
	}
#define JSON_ENUM(n, f, v)                                                  \
	{                                                                   \
		IN_BODY, FIELD_ENUM, (n), FIELD_NOWHERE, (f), .values = (v) \
	}
#define JSON_URL(n, f)                                               \
	{                                                            \
		IN_BODY, FIELD_URL, (n), FIELD_NOWHERE, (f), 1, 2048 \
	}
#define JSON_OBJECT(n, f)                                      \
	{                                                      \
		IN_BODY, FIELD_OBJECT, (n), FIELD_NOWHERE, (f) \
	}
#define JSON_ARRAY(n, f, lo, hi)                                          \
	{                                                                 \
		IN_BODY, FIELD_ARRAY, (n), FIELD_NOWHERE, (f), (lo), (hi) \
	}
#define JSON_OBJECT_OF(n, f, m)                                                \
	{                                                                      \
		IN_BODY, FIELD_OBJECT, (n), FIELD_NOWHERE, (f), .members = (m) \
	}
#define JSON_ARRAY_OF(n, f, lo, hi, m)                                                    \
	{                                                                                 \
		IN_BODY, FIELD_ARRAY, (n), FIELD_NOWHERE, (f), (lo), (hi), .members = (m) \
	}
#define JSON_STRINGS(n, f, lo, hi, each)                                                        \
	{                                                                                       \
		IN_BODY, FIELD_STRINGS, (n), FIELD_NOWHERE, (f), (lo), (hi), .item_max = (each) \
	}

#define FIELD_END                  \
	{                          \
		FIELD_END_OF_TABLE \
	}
