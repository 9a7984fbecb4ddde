/** libcommon/input/: the input of a handler: path parameters, query parameters and members of the
 * JSON body, declared as rows of a table, decoded and checked before the handler does anything.
 *
 *     struct run_input { const char *project; int64_t seeds; const char *note; };
 *     static const struct field RUN_FIELDS[] = {
 *             PATH_UUID(struct run_input, project, "project_id"),
 *             BODY_INT(struct run_input, seeds, "seeds", REQUIRED, 1, 64, 0),
 *             BODY_TEXT(struct run_input, note, "note", NULLABLE, 0, 2000),
 *             FIELD_END,
 *     };
 *     struct run_input *in = request_input(rq, struct run_input, RUN_FIELDS);
 *
 * A row names the C struct and its member (whose type is checked at compile time), the name that
 * the client writes, flags and bounds. All faults are collected and answered in one problem (400,
 * `errors`), and so is a query parameter that no row names, unless the table has a row
 * QUERY_IGNORES_OTHERS. Members of a body that no row names are
 * ignored and named in the answer's field X-Ignored-Fields (ignored_fields.h), except those that
 * the resource has and a client cannot change: a READ_ONLY row names each of them, so that a client
 * can send back what it has read.
 *
 * Absent values: a text is NULL, a number or boolean has the row's default (`fallback`), which is 0
 * where the macro has no such argument. A null that NULLABLE admits is NULL, or the default.
 *
 * A member that only the SQL statement uses needs no struct member: declare it with a JSON_* row
 * and pass request_body_json() to the statement. That text contains only the members that the
 * client sent, so that a PATCH can distinguish an absent member from null:
 *
 *     UPDATE run r SET (note) = (SELECT n.note FROM jsonb_populate_record(r, :changes::jsonb) n) …
 */
#pragma once

#include "base/url.h"
#include "input/http_call.h"
#include "loop/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The part of the request that a value is in. */
enum field_source {
	FIELD_END_OF_TABLE,
	IN_PATH,
	IN_QUERY,
	IN_BODY,
	READ_ONLY_MEMBER, /* of the body, without effect: READ_ONLY() */
	OTHERS_KEPT,      /* the handler keeps the members that no row names: KEEPS_OTHERS */
	QUERY_OTHERS,     /* parameters of the query that no row names are ignored */
};

/** The type of a value, the C type of its struct member, and what min and max bound. */
enum field_type {
	FIELD_TEXT,    /* const char *; min and max in code points */
	FIELD_UUID,    /* const char *, canonical lower case */
	FIELD_INT,     /* int64_t; min and max of the value */
	FIELD_FLOAT,   /* double, finite; min and max of the value */
	FIELD_BOOL,    /* bool; in a query: true, false, 1 or 0 */
	FIELD_ENUM,    /* const char *, one of `values` */
	FIELD_DATE,    /* const char *, YYYY-MM-DD */
	FIELD_TIME,    /* const char *, RFC 3339; stored in UTC with milliseconds */
	FIELD_ID,      /* const char *, JSON text of an integer or a string that a client chose as
			  an id; max in code points of the string, which is not empty */
	FIELD_URL,     /* const char *, http or https URL in canonical form (base/url.h) */
	FIELD_OBJECT,  /* const char *, JSON text of an object */
	FIELD_ARRAY,   /* const char *, JSON text of an array; min and max in items */
	FIELD_STRINGS, /* const char *, JSON text of an array of strings; min and max in items, each
			  at most item_max code points, none empty */
	FIELD_LIMIT,   /* int64_t, 1 or more; a value above max becomes max */
	FIELD_OFFSET,  /* int64_t, 0 or more */
};

/** Flags of a row, joined with `|`. */
enum field_flag {
	OPTIONAL = 0, /* may be absent, must not be null */
	REQUIRED = 1, /* must be present, must not be null */
	NULLABLE = 2, /* may be null, which clears what is stored */
	TRIMMED = 4,  /* white space at both ends is removed before the bounds are checked */
	/* FIELD_UUID: an interest. If the caller's key is limited to one, another interest is
	 * ERR_FORBIDDEN, and an absent one becomes the key's own (key_limit.h). */
	OF_INTEREST = 8,
	/* IN_QUERY, FIELD_TEXT: may be given up to QUERY_REPEATS_MAX times; the member is the JSON
	 * text of an array of the values. */
	REPEATED = 16,
	/* With `members`: nothing reads the members that no row of those names. Without this flag
	 * they are kept in the value. */
	OTHERS_IGNORED = 32,
	/* IN_BODY, NULLABLE: a value that does not fit is left out, as if the member were absent,
	 * and the answer says so (left_out.h). A report is worth more than one member of it. */
	FORGIVEN = 64,
};

/** Most bytes of an object or array whose row does not set bytes_max. */
#define FIELD_JSON_BYTES ((size_t)64 << 10)

#define QUERY_REPEATS_MAX 100

/** In place of an offset: the value is checked, and put into request_body_json() only. */
#define FIELD_NOWHERE ((size_t)-1)

/** A row. Written with the macros below; a combination that has no macro is written out, with
 * FIELD_AT for the offset. */
struct field {
	enum field_source source;
	enum field_type type;
	const char *name; /* as the client writes it */
	size_t offset;    /* of the struct member, or FIELD_NOWHERE */
	unsigned flags;
	double min, max;           /* inclusive; both 0: unbounded */
	int64_t fallback;          /* numbers and booleans: the value when absent */
	const char *const *values; /* FIELD_ENUM: NULL-terminated */
	size_t item_max;           /* FIELD_STRINGS: code points of an item; 0: unbounded */
	/* Bytes of the value as JSON text, without the quotes of a string. 0: FIELD_JSON_BYTES for
	 * an object or array, `max` for a URL, unbounded for other texts. */
	size_t bytes_max;
	/* FIELD_TEXT: a further check; returns false and sets the client's message when the text
	 * does not pass. NULL: none. */
	bool (*check)(const char *text, size_t length, const char **ret_message);
	/* The members of a FIELD_OBJECT, or of the objects in a FIELD_ARRAY, as JSON_* rows. Faults
	 * are named `resource.url`, `links[2].type`. Members that no row names are kept, unless
	 * OTHERS_IGNORED is set. TRIMMED affects only the bounds of nested texts. NULL: any object,
	 * any items. */
	const struct field *members;
};

/* Offset of a member; a member of another type does not compile. */
#define FIELD_AT(s, member, type)                                                             \
	(offsetof(s, member) +                                                                \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((s *)0)->member), type) ? 1 \
	                                                                                  : -1]))

/* Macros for rows. Their arguments:
 *     s, m    struct and member; m of JSON_OBJECT_OF and JSON_ARRAY_OF: the table of nested members
 *     n       name that the client writes
 *     f       flags
 *     lo, hi  bounds; 0, 0: unbounded
 *     d       default
 *     v       values of an enumeration, a NULL-terminated array
 *     each    code points of the longest item
 *     bytes   bytes of the longest value as JSON text
 */

/* IN_PATH: always required. */
#define PATH_UUID(s, m, n)                                                       \
	{                                                                        \
		IN_PATH, FIELD_UUID, (n), FIELD_AT(s, m, const char *), REQUIRED \
	}
#define PATH_INTEREST(s, m)                                                       \
	{                                                                         \
		IN_PATH, FIELD_UUID, "interest_id", FIELD_AT(s, m, const char *), \
			REQUIRED | OF_INTEREST                                    \
	}
#define PATH_TEXT(s, m, n, lo, hi)                                                           \
	{                                                                                    \
		IN_PATH, FIELD_TEXT, (n), FIELD_AT(s, m, const char *), REQUIRED, (lo), (hi) \
	}

/* IN_QUERY */
#define QUERY_UUID(s, m, n)                                             \
	{                                                               \
		IN_QUERY, FIELD_UUID, (n), FIELD_AT(s, m, const char *) \
	}
#define QUERY_INTEREST(s, m)                                                                   \
	{                                                                                      \
		IN_QUERY, FIELD_UUID, "interest_id", FIELD_AT(s, m, const char *), OF_INTEREST \
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
#define QUERY_TIME(s, m, n)                                             \
	{                                                               \
		IN_QUERY, FIELD_TIME, (n), FIELD_AT(s, m, const char *) \
	}
#define QUERY_LIMIT(s, m, d, hi) QUERY_LIMIT_OF(s, m, "limit", d, hi)
#define QUERY_LIMIT_OF(s, m, n, d, hi)                                                           \
	{                                                                                        \
		IN_QUERY, FIELD_LIMIT, (n), FIELD_AT(s, m, int64_t), 0, 1, (hi), .fallback = (d) \
	}
#define QUERY_OFFSET(s, m)                                                \
	{                                                                 \
		IN_QUERY, FIELD_OFFSET, "offset", FIELD_AT(s, m, int64_t) \
	}

/* IN_BODY */
#define BODY_TEXT(s, m, n, f, lo, hi)                                                   \
	{                                                                               \
		IN_BODY, FIELD_TEXT, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi) \
	}
#define BODY_UUID(s, m, n, f)                                               \
	{                                                                   \
		IN_BODY, FIELD_UUID, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_INTEREST(s, m)                                                       \
	{                                                                         \
		IN_BODY, FIELD_UUID, "interest_id", FIELD_AT(s, m, const char *), \
			NULLABLE | OF_INTEREST                                    \
	}
#define BODY_INT(s, m, n, f, lo, hi, d)                                                            \
	{                                                                                          \
		IN_BODY, FIELD_INT, (n), FIELD_AT(s, m, int64_t), (f), (lo), (hi), .fallback = (d) \
	}
#define BODY_BOOL(s, m, n, f, d)                                                     \
	{                                                                            \
		IN_BODY, FIELD_BOOL, (n), FIELD_AT(s, m, bool), (f), .fallback = (d) \
	}
#define BODY_ENUM(s, m, n, f, v)                                                           \
	{                                                                                  \
		IN_BODY, FIELD_ENUM, (n), FIELD_AT(s, m, const char *), (f), .values = (v) \
	}
#define BODY_ID(s, m, n, f, hi)                                                        \
	{                                                                              \
		IN_BODY, FIELD_ID, (n), FIELD_AT(s, m, const char *), (f), .max = (hi) \
	}
#define BODY_URL(s, m, n, f)                                                        \
	{                                                                           \
		IN_BODY, FIELD_URL, (n), FIELD_AT(s, m, const char *), (f), 1, 2048 \
	}
#define BODY_DATE(s, m, n, f)                                               \
	{                                                                   \
		IN_BODY, FIELD_DATE, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_TIME(s, m, n, f)                                               \
	{                                                                   \
		IN_BODY, FIELD_TIME, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_OBJECT(s, m, n, f)                                               \
	{                                                                     \
		IN_BODY, FIELD_OBJECT, (n), FIELD_AT(s, m, const char *), (f) \
	}
#define BODY_STRINGS(s, m, n, f, lo, hi, each)                                              \
	{                                                                                   \
		IN_BODY, FIELD_STRINGS, (n), FIELD_AT(s, m, const char *), (f), (lo), (hi), \
			.item_max = (each)                                                  \
	}

/* IN_BODY without a struct member: for request_body_json() only. */
#define JSON_TEXT(n, f, lo, hi)                                          \
	{                                                                \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, (f), (lo), (hi) \
	}
#define JSON_TEXT_BYTES(n, f, lo, hi, bytes)                                                   \
	{                                                                                      \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, (f), (lo), (hi), .bytes_max = (bytes) \
	}
#define JSON_LINK(n, f)                                                \
	{                                                              \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, (f), 0, 2048, \
			.check = url_is_link_or_empty                  \
	}
#define JSON_REFERENCE(n, f, hi)                                       \
	{                                                              \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, (f), 0, (hi), \
			.check = url_is_safe_reference                 \
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
#define JSON_ID(n, f, hi)                                               \
	{                                                               \
		IN_BODY, FIELD_ID, (n), FIELD_NOWHERE, (f), .max = (hi) \
	}
#define JSON_URL(n, f)                                               \
	{                                                            \
		IN_BODY, FIELD_URL, (n), FIELD_NOWHERE, (f), 1, 2048 \
	}
#define JSON_OBJECT(n, f)                                      \
	{                                                      \
		IN_BODY, FIELD_OBJECT, (n), FIELD_NOWHERE, (f) \
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

/* A member of the resource that a client cannot change. */
#define READ_ONLY(n)                                             \
	{                                                        \
		READ_ONLY_MEMBER, FIELD_TEXT, (n), FIELD_NOWHERE \
	}

/* In the table of a body: none of its members is ignored. */
#define KEEPS_OTHERS                                       \
	{                                                  \
		OTHERS_KEPT, FIELD_TEXT, "", FIELD_NOWHERE \
	}

/* Of an operation whose address another server makes, which adds parameters of its own. */
#define QUERY_IGNORES_OTHERS                                \
	{                                                   \
		QUERY_OTHERS, FIELD_TEXT, "", FIELD_NOWHERE \
	}

#define FIELD_END                  \
	{                          \
		FIELD_END_OF_TABLE \
	}

/** Decode and check the input that `fields` declares. Returns a new struct in the request's arena.
 * A table without body rows leaves the body unread; an absent body is read as `{}`. Suspends,
 * outside a transaction, when the body has more than 64 KiB: it is parsed, checked and written on
 * the thread pool, so that the loop serves other requests.
 *
 * Raises ERR_INVALID: one or more values do not fit, the query has a parameter that no row names,
 * or the body is not an object; also when rq->problem has faults already, which checks of the
 * handler added before: those of several members together are made before this call, so that all
 * faults are named in one answer (request_has_member()). ERR_FORBIDDEN: an OF_INTEREST value is not
 * the one that the caller's key is limited to; ERR_MEDIA_TYPE: the body's type is neither
 * application/json nor application/…+json, or its charset is not UTF-8; ERR_MALFORMED: the body is
 * not JSON. */
void *request_input_read(struct request *rq, const struct field *fields, size_t size);
#define request_input(rq, type, fields) ((type *)request_input_read((rq), (fields), sizeof(type)))

/** For an operation that takes no input: raises ERR_INVALID when the query has a parameter. */
void request_input_none(struct request *rq);

/** Whether the body has the member, and not as null. For checks that concern several members.
 * Suspends and raises as request_body(). */
bool request_has_member(struct request *rq, const char *name);

/** Add a fault for each item that is not valid of the list at a path of the body
 * (json_at()), named as `digest.weekdays[2]`. A list that is absent, or no list, has none. Suspends
 * and raises as request_body(). */
void request_check_items(struct request *rq, const char *path, bool (*is_valid)(yyjson_val *item),
                         const char *message);

/** Add an error of the member `name` of the body, `item 2 must be WHAT`, for each text in its array
 * that is not valid. What is no array of texts the field's own check finds. */
void request_check_texts(struct request *rq, const char *name, bool (*is_valid)(const char *text),
                         const char *what);

/** For request_check_items(): a UUID, or no text, which the field's own check finds. */
bool item_is_uuid(yyjson_val *item);

/** For a check of it: an integer from `least` to `most`, which is spelled as one from here on,
 * however the client has. */
bool item_is_whole(yyjson_val *item, int64_t least, int64_t most);

/** The body, parsed and not checked, for choosing between tables. Suspends and raises as
 * request_input() does for a body that is no JSON object. */
yyjson_val *request_body(struct request *rq);

/** Raise ERR_MEDIA_TYPE if the request has a body that is not JSON by its Content-Type. For an
 * operation that reads rq->http->body itself. */
void request_require_json_type(struct request *rq);

/** Count the memory that reading the text as JSON needs (http_call_take_json()). A long text is
 * looked through beside the loop. Suspends; raises as http_call_take_json(). */
void request_take_json(struct request *rq, const char *text, size_t length);

/** The same, and read it into the request's arena. Fails as json_parse(). */
enum err_code request_parse_json(struct request *rq, const char *text, size_t length,
                                 yyjson_val **ret_root, const char **ret_why);

/** As request_parse_json(), for a text that another process of this system has made
 * (json_parse_peer()). For want of memory it fails, as http_call_take_json_try(), and does not
 * raise. */
enum err_code request_parse_peer(struct request *rq, const char *text, size_t length,
                                 yyjson_val **ret_root, const char **ret_why);

/** As json_parse_own(), into the request's arena. A long text is read beside the loop. Suspends. */
yyjson_val *request_parse_own(struct request *rq, const char *text);

/** Parse a large body while no transaction is open, so that it is parsed on the thread pool.
 * Suspends and raises as request_body(). */
void request_body_prepare(struct request *rq);

/** After request_input(): JSON text of an object with the body members that the table declares and
 * the client sent. Values are checked, texts trimmed where the row says so; null stays null. */
const char *request_body_json(struct request *rq);

/** For PUT and PATCH, after request_input(): raise ERR_INVALID when request_body_json() is `{}`. */
void request_require_member(struct request *rq);

/** The decoded path parameter, which is not checked; NULL: the path has none of that name. For
 * checks that are made before request_input(). */
const char *request_path(const struct request *rq, const char *name);

/** The first request field (header) of that name, letters' case ignored, or the decoded query
 * parameter, which a row must name; NULL: absent. */
const char *request_header(const struct request *rq, const char *name);
const char *request_query(const struct request *rq, const char *name);
