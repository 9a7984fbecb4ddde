/** libcommon/json/: JSON, read and written (RFC 8259), over yyjson, and problem documents
 * (problem.h).
 *
 * What clients write is read strictly: json_parse(). What this system's own processes write is read
 * by json_parse_peer() and json_parse_own(), which allow for the JSON of a client within it. What
 * servers outside write, whose authors do not hear of a fault, is read by json_parse_lenient().
 *
 * json_parse() refuses text that is not valid UTF-8, has bytes after the value, contains a NUL (raw
 * or \u0000) in a string or a duplicate member name in an object, or nests deeper than
 * JSON_MAX_DEPTH.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 64
#define JSON_OWN_DEPTH 96 /* of what may hold the JSON of a client */

/** Parse into the arena. Copies; the text need not be NUL-terminated. ERR_MALFORMED: refused;
 * `ret_why` (may be NULL) says why and at which byte, from 0, in the arena, as the rest of a
 * sentence: `is not valid JSON: unexpected character at byte 17`, `has a duplicate member name at
 * byte 14`, `has a NUL (\u0000) in a string at byte 3`, `nests deeper than 64 at byte 64`. */
enum err_code json_parse(struct arena *arena, const char *text, size_t length,
                         yyjson_val **ret_root, const char **ret_why);

/** As json_parse(). ERR_TOO_LARGE: the text has more than `values_max` values, names included, and
 * no memory was spent on it: a text of 8 MiB can hold 4 million, which need 100 MB when they are
 * parsed. `ret_why`: `has more than 500000 values`. */
enum err_code json_parse_bounded(struct arena *arena, const char *text, size_t length,
                                 size_t values_max, yyjson_val **ret_root, const char **ret_why);

/** As json_parse_bounded(), for a text that another process of this system has made: it may nest as
 * deep as JSON_OWN_DEPTH, and NULs and duplicate names, which it cannot have, are not
 * looked for. */
enum err_code json_parse_peer(struct arena *arena, const char *text, size_t length,
                              size_t values_max, yyjson_val **ret_root, const char **ret_why);

/** As json_parse_bounded(), for a text that a server outside has made: a fault in what is not read
 * must not lose what is. Characters that Postgres refuses or that are not UTF-8 become U+FFFD, and
 * what nests deeper than JSON_MAX_DEPTH becomes null (json_repair.h). Of two members of one name
 * the first is read. A number beyond the range of double is infinite, and written as null. The
 * result can be written and stored like any other. */
enum err_code json_parse_lenient(struct arena *arena, const char *text, size_t length,
                                 size_t values_max, yyjson_val **ret_root, const char **ret_why);

/** The most values, names included, that json_parse() can find in the text, JSON or not. One cheap
 * pass. */
size_t json_values_max(const char *text, size_t length);

/** How many digits the numbers of a parsed value take beyond its text where they are written
 * without exponents, as Postgres writes those of a jsonb: 1e300 has 301. */
size_t json_digits(yyjson_val *root);

/** As json_parse_peer(), for a text that the process or its database made: require()s that it is
 * JSON. */
yyjson_val *json_parse_own(struct arena *arena, const char *text);

/** Make an empty document to build a value in; freed with the arena. */
yyjson_mut_doc *json_doc_new(struct arena *arena);

/** The compact text of a value, NUL-terminated, in the arena; `ret_length` may be NULL. The text is
 * always valid JSON: NaN and infinity become null, bytes that are not UTF-8 become U+FFFD. */
char *json_write(struct arena *arena, yyjson_val *value, size_t *ret_length);
char *json_write_mut(struct arena *arena, yyjson_mut_val *value, size_t *ret_length);

/** Append `text` to `out` as a JSON string, quotes included; bytes that are not UTF-8 become
 * U+FFFD. */
void json_quote(struct buf *out, const char *text, size_t length);

/** The same for what people read in a terminal, as logs: with escapes for what that would obey
 * (base/terminal.h). */
void json_quote_for_terminal(struct buf *out, const char *text, size_t length);

/** The value at a path of names with points between them, `pull_request.head.ref`; `.` or nothing:
 * the value itself. NULL: there is none. */
yyjson_val *json_at(yyjson_val *value, const char *path);

/** The texts of an array, borrowed, and NULL behind them; what is no text is left out. */
const char **json_texts(struct arena *arena, yyjson_val *array, size_t *ret_count);

/** Add a member to an object that is built: a text, which is borrowed, or null if it is NULL; a
 * number with six decimal places, or null if it is NaN; and a copy of the member `name` of `from`,
 * or null if that has none. */
void json_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text);
void json_add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, double value);
void json_add_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *as, yyjson_val *from,
                     const char *name);

/** For each member of an object; none if it is NULL or something else. The macro of yyjson adds to
 * NULL then, which is undefined. */
#define json_obj_foreach(object, index, count, name, value)                \
	for ((index) = 0, (count) = yyjson_obj_size(object),               \
	    (name) = (count) > 0 ? unsafe_yyjson_get_first(object) : NULL, \
	    (value) = (count) > 0 ? (name) + 1 : NULL;                     \
	     (index) < (count);                                            \
	     (index)++, (name) = unsafe_yyjson_get_next(value), (value) = (name) + 1)

/** Whether the value is a whole number, in any spelling (`5`, `5.0`, `5e0`), that int64_t holds
 * exactly. Not one with a point or an exponent from 2^53 on, which may stand for several
 * integers. */
bool json_is_whole(yyjson_val *value, int64_t *ret_number);

/** Make such a number an integer in the document, so that it is written as one; others stay. */
void json_spell_whole(yyjson_val *value);

/** Get a member; NULL or `fallback` if it is absent or has another type. Any spelling of a whole
 * number is an integer. The results borrow from the document. */
yyjson_val *json_get(yyjson_val *object, const char *name);
const char *json_get_text(yyjson_val *object, const char *name);
int64_t json_get_int(yyjson_val *object, const char *name, int64_t fallback);
double json_get_float(yyjson_val *object, const char *name, double fallback);
bool json_get_bool(yyjson_val *object, const char *name, bool fallback);
