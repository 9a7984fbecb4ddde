#include "json/json.h"

#include "base/terminal.h"
#include "base/utf8.h"
#include "json/json_repair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many member names are compared pair by pair; more are sorted. */
#define FEW_MEMBERS 16

/* Values that yyjson's own header takes, and that it keeps free. */
#define DOC_VALUES 16

/* A member's name. Most comparisons are decided by `start` and `length`. */
struct name {
	uint64_t start; /* the first 8 bytes, zero-filled */
	size_t length;
	const char *text;
};

struct check {
	struct arena *arena;
	const char *copy; /* the parsed text; yyjson keeps the strings in place */
	const char *why;  /* the fault found */
};

static void *alc_malloc(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void *alc_realloc(void *arena, void *ptr, size_t size, size_t new_size)
{
	return new_size <= size ? ptr : arena_grow(arena, ptr, size, new_size);
}

static void alc_free(void *arena attr_unused, void *ptr attr_unused)
{
}

/* For yyjson_read_opts() alone, which has one allocation and makes it half as large again when that
 * is full. */
struct reading {
	yyjson_alc alc;
	struct arena *arena;
	size_t room_bytes; /* for all values, however yyjson gets there */
};

static void *read_malloc(void *ctx, size_t size)
{
	struct reading *reading = ctx;
	reading->room_bytes = MAX_OF(reading->room_bytes, size);
	return arena_alloc(reading->arena, reading->room_bytes);
}

static void *read_realloc(void *ctx, void *ptr, size_t size, size_t new_size)
{
	struct reading *reading = ctx;
	if (new_size <= reading->room_bytes)
		return ptr;
	return arena_grow(reading->arena, ptr, size, new_size);
}

static const yyjson_alc *arena_allocator(struct arena *arena)
{
	yyjson_alc *alc = arena_new_of(arena, yyjson_alc);
	*alc = (yyjson_alc){alc_malloc, alc_realloc, alc_free, arena};
	return alc;
}

/* The position after the string that starts at `start`, just after its opening quote; `length`: it
 * does not end. */
static size_t string_end(const char *text, size_t start, size_t length)
{
	for (;;) {
		const char *quote = memchr(text + start, '"', length - start);
		if (!quote)
			return length;
		const char *first = quote; /* backslash before it; an odd number escapes it */
		while (first > text + start && first[-1] == '\\')
			first--;
		start = (size_t)(quote - text) + 1;
		if ((quote - first) % 2 == 0)
			return start;
	}
}

/* What is known of a text before it is parsed, so that no memory is spent on one that is
 * refused. */
struct shape {
	/* the byte; `length`: not too deep. Arbitrary if the text is not JSON */
	size_t too_deep_at;
	size_t values_max; /* names included */
};

/* Each value is the first one or follows a bracket, a comma or a colon. */
static struct shape shape_of(const char *text, size_t length, size_t depth_max)
{
	struct shape shape = {.too_deep_at = length, .values_max = 1};
	size_t depth = 0, i = 0;
	while (i < length) {
		char c = text[i++];
		if (c == '"')
			i = string_end(text, i, length);
		else if (c == ',' || c == ':')
			shape.values_max++;
		else if (c == '[' || c == '{') {
			shape.values_max++;
			if (++depth > depth_max)
				shape.too_deep_at = MIN_OF(shape.too_deep_at, i - 1);
		} else if ((c == ']' || c == '}') && depth > 0)
			depth--;
	}
	return shape;
}

size_t json_values_max(const char *text, size_t length)
{
	return shape_of(text, length, JSON_MAX_DEPTH).values_max;
}

static bool refuse(struct check *check, const char *what, const char *where)
{
	check->why =
		arena_printf(check->arena, "%s at byte %zu", what, (size_t)(where - check->copy));
	return false;
}

/* An arbitrary order that puts equal names next to each other. */
static int name_compare(const void *left, const void *right)
{
	const struct name *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return a->length <= sizeof(a->start) ? 0 : memcmp(a->text, b->text, a->length);
}

static bool refuse_duplicate(struct check *check, const char *one, const char *other)
{
	return refuse(check, "has a duplicate member name", MAX_OF(one, other));
}

static bool check_names_pairwise(struct check *check, const struct name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			if (name_compare(&names[i], &names[j]) == 0)
				return refuse_duplicate(check, names[i].text, names[j].text);
		}
	}
	return true;
}

static bool check_names_sorted(struct check *check, struct name *names, size_t count)
{
	qsort(names, count, sizeof(*names), name_compare);
	for (size_t i = 1; i < count; i++) {
		if (name_compare(&names[i - 1], &names[i]) == 0)
			return refuse_duplicate(check, names[i - 1].text, names[i].text);
	}
	return true;
}

static bool check_names(struct check *check, yyjson_val *object)
{
	size_t count = yyjson_obj_size(object);
	struct name few[FEW_MEMBERS];
	struct name *names = few;
	if (count > FEW_MEMBERS)
		names = arena_array(check->arena, count, sizeof(*names));

	yyjson_val *key, *value;
	size_t i, max;
	json_obj_foreach (object, i, max, key, value) {
		names[i] =
			(struct name){.length = yyjson_get_len(key), .text = yyjson_get_str(key)};
		memcpy(&names[i].start, names[i].text,
		       MIN_OF(names[i].length, sizeof(names[i].start)));
	}
	return count > FEW_MEMBERS ? check_names_sorted(check, names, count)
	                           : check_names_pairwise(check, names, count);
}

static bool check_string(struct check *check, yyjson_val *string)
{
	const char *text = yyjson_get_str(string);
	if (memchr(text, '\0', yyjson_get_len(string)))
		return refuse(check, "has a NUL (\\u0000) in a string", text);
	return true;
}

/* Recurses at most JSON_MAX_DEPTH times, because the depth has been checked. */
static bool check_value(struct check *check, yyjson_val *value)
{
	yyjson_val *key, *item;
	size_t i, max;
	if (yyjson_is_str(value))
		return check_string(check, value);
	yyjson_arr_foreach (value, i, max, item) {
		if (!check_value(check, item))
			return false;
	}
	json_obj_foreach (value, i, max, key, item) {
		if (!check_string(check, key) || !check_value(check, item))
			return false;
	}
	return !yyjson_is_obj(value) || check_names(check, value);
}

static enum err_code refused(enum err_code code, const char *why, const char **ret_why)
{
	if (ret_why)
		*ret_why = why;
	return code;
}

static enum err_code malformed(const char *why, const char **ret_why)
{
	return refused(ERR_MALFORMED, why, ret_why);
}

/* Parse a copy, whose strings stay where they are. NULL: it is not valid, and `ret_why` is set. */
static yyjson_doc *read_in_place(struct arena *arena, char *copy, size_t length, size_t values_max,
                                 yyjson_read_flag flags, const char **ret_why)
{
	yyjson_read_err err;
	struct reading *reading = arena_new_of(arena, struct reading);
	*reading = (struct reading){
		.alc = {read_malloc, read_realloc, alc_free, reading},
		.arena = arena,
		.room_bytes = (values_max + DOC_VALUES) * 3 / 2 * sizeof(yyjson_val),
	};
	yyjson_doc *doc =
		yyjson_read_opts(copy, length, YYJSON_READ_INSITU | flags, &reading->alc, &err);
	if (!doc)
		malformed(arena_printf(arena, "is not valid JSON: %s at byte %zu", err.msg,
		                       err.pos),
		          ret_why);
	return doc;
}

static enum err_code too_many_values(struct arena *arena, size_t values_max, const char **ret_why)
{
	return refused(ERR_TOO_LARGE, arena_printf(arena, "has more than %zu values", values_max),
	               ret_why);
}

enum err_code json_parse(struct arena *arena, const char *text, size_t length,
                         yyjson_val **ret_root, const char **ret_why)
{
	return json_parse_bounded(arena, text, length, SIZE_MAX, ret_root, ret_why);
}

/* Parse the copy of a text that is neither too deep nor too large. */
static enum err_code parse_within(struct arena *arena, const char *text, size_t length,
                                  size_t depth_max, size_t values_max, char **ret_copy,
                                  yyjson_val **ret_root, const char **ret_why)
{
	struct shape shape = shape_of(text, length, depth_max);
	if (shape.values_max > values_max)
		return too_many_values(arena, values_max, ret_why);
	if (shape.too_deep_at < length)
		return malformed(arena_printf(arena, "nests deeper than %zu at byte %zu", depth_max,
		                              shape.too_deep_at),
		                 ret_why);
	*ret_copy = arena_alloc(arena, length + YYJSON_PADDING_SIZE);
	if (length > 0)
		memcpy(*ret_copy, text, length);
	yyjson_doc *doc = read_in_place(arena, *ret_copy, length, shape.values_max, 0, ret_why);
	*ret_root = yyjson_doc_get_root(doc);
	return doc ? ERR_NONE : ERR_MALFORMED;
}

enum err_code json_parse_bounded(struct arena *arena, const char *text, size_t length,
                                 size_t values_max, yyjson_val **ret_root, const char **ret_why)
{
	char *copy;
	yyjson_val *root;
	enum err_code code = parse_within(arena, text, length, JSON_MAX_DEPTH, values_max, &copy,
	                                  &root, ret_why);
	if (code)
		return code;
	struct check check = {.arena = arena, .copy = copy};
	if (!check_value(&check, root))
		return malformed(check.why, ret_why);
	*ret_root = root;
	return ERR_NONE;
}

enum err_code json_parse_peer(struct arena *arena, const char *text, size_t length,
                              size_t values_max, yyjson_val **ret_root, const char **ret_why)
{
	char *copy;
	return parse_within(arena, text, length, JSON_OWN_DEPTH, values_max, &copy, ret_root,
	                    ret_why);
}

enum err_code json_parse_lenient(struct arena *arena, const char *text, size_t length,
                                 size_t values_max, yyjson_val **ret_root, const char **ret_why)
{
	if (json_repair_measure(text, length, NULL).values_max > values_max)
		return too_many_values(arena, values_max, ret_why);
	struct json_repaired copy = json_repair(arena, text, length, NULL, YYJSON_PADDING_SIZE);
	yyjson_doc *doc = read_in_place(arena, copy.text, copy.length, copy.values_max,
	                                YYJSON_READ_ALLOW_INF_AND_NAN, ret_why);
	if (!doc)
		return ERR_MALFORMED;
	*ret_root = yyjson_doc_get_root(doc);
	return ERR_NONE;
}

static size_t digits_of(double number)
{
	double size = fabs(number);
	return size == 0 || (size >= 1e-6 && size < 1e17) ? 0 : (size_t)fabs(log10(size));
}

size_t json_digits(yyjson_val *root)
{
	size_t digits = 0;
	const yyjson_val *end = unsafe_yyjson_get_next(root);
	for (yyjson_val *value = root; value < end; value++)
		if (yyjson_is_real(value))
			digits += digits_of(yyjson_get_real(value));
	return digits;
}

yyjson_val *json_parse_own(struct arena *arena, const char *text)
{
	yyjson_val *root = NULL;
	require(json_parse_peer(arena, text, strlen(text), SIZE_MAX, &root, NULL) == ERR_NONE);
	return root;
}

yyjson_mut_doc *json_doc_new(struct arena *arena)
{
	return yyjson_mut_doc_new(arena_allocator(arena));
}

#define ESCAPE_SIZE 7 /* "\\u001b" */

/* What add_clean() escapes. */
enum escapes {
	ESCAPES_NONE,
	ESCAPES_JSON,     /* what a JSON string must */
	ESCAPES_TERMINAL, /* and what a terminal would obey */
};

/* The escape sequence for a sequence of `size` bytes; NULL: it needs none. */
static const char *escape_of(const char *sequence, size_t size, enum escapes escapes, char *scratch)
{
	static const char *const SHORT[] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
		['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
	};
	unsigned char c = (unsigned char)*sequence;
	if (c < ARRAY_LEN(SHORT) && SHORT[c])
		return SHORT[c];
	uint32_t code = c;
	if (c >= 0x20 && (escapes == ESCAPES_JSON || !terminal_obeys(sequence, size, &code)))
		return NULL;
	snprintf(scratch, ESCAPE_SIZE, "\\u%04x", (unsigned)code);
	return scratch;
}

/* What most of a text consists of, and is never escaped. */
static bool is_plain(char byte)
{
	return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

/* Append `text` with each byte that is not UTF-8 replaced. */
static void add_clean(struct buf *out, const char *text, size_t length, enum escapes escapes)
{
	char scratch[ESCAPE_SIZE];
	size_t start = 0, i = 0;
	while (i < length) {
		if (is_plain(text[i])) {
			i++;
			continue;
		}
		size_t step = utf8_sequence(text + i, length - i);
		const char *replacement = step == 0 ? UTF8_REPLACEMENT
		                          : escapes ? escape_of(text + i, step, escapes, scratch)
		                                    : NULL;
		if (replacement) {
			buf_add(out, text + start, i - start);
			buf_puts(out, replacement);
			start = i + MAX_OF(step, 1);
		}
		i += MAX_OF(step, 1);
	}
	buf_add(out, text + start, length - start);
}

static void quote(struct buf *out, const char *text, size_t length, enum escapes escapes)
{
	buf_add(out, "\"", 1);
	add_clean(out, text, length, escapes);
	buf_add(out, "\"", 1);
}

void json_quote(struct buf *out, const char *text, size_t length)
{
	quote(out, text, length, ESCAPES_JSON);
}

void json_quote_for_terminal(struct buf *out, const char *text, size_t length)
{
	quote(out, text, length, ESCAPES_TERMINAL);
}

/* NaN and infinity become null. A string that is not UTF-8 makes yyjson fail; json_write_mut() then
 * writes it unchecked and replaces the invalid bytes. Parsed values have no such strings. */
#define WRITE_FLAGS YYJSON_WRITE_INF_AND_NAN_AS_NULL

static char *replace_invalid(struct arena *arena, const char *text, size_t *length)
{
	require(text);
	struct buf out = {.arena = arena};
	add_clean(&out, text, *length, ESCAPES_NONE);
	*length = out.length;
	return out.data;
}

char *json_write(struct arena *arena, yyjson_val *value, size_t *ret_length)
{
	size_t length;
	char *text =
		yyjson_val_write_opts(value, WRITE_FLAGS, arena_allocator(arena), &length, NULL);
	require(text);
	if (ret_length)
		*ret_length = length;
	return text;
}

char *json_write_mut(struct arena *arena, yyjson_mut_val *value, size_t *ret_length)
{
	size_t length;
	const yyjson_alc *alc = arena_allocator(arena);
	char *text = yyjson_mut_val_write_opts(value, WRITE_FLAGS, alc, &length, NULL);
	if (!text) {
		text = yyjson_mut_val_write_opts(value,
		                                 WRITE_FLAGS | YYJSON_WRITE_ALLOW_INVALID_UNICODE,
		                                 alc, &length, NULL);
		text = replace_invalid(arena, text, &length);
	}
	if (ret_length)
		*ret_length = length;
	return text;
}

yyjson_val *json_get(yyjson_val *object, const char *name)
{
	return yyjson_obj_get(object, name);
}

const char *json_get_text(yyjson_val *object, const char *name)
{
	return yyjson_get_str(json_get(object, name));
}

/* From here on a double may stand for several integers. */
#define EXACT_END 9007199254740992.0 /* 2^53 */

bool json_is_whole(yyjson_val *value, int64_t *ret_number)
{
	double number = yyjson_get_real(value);
	if (yyjson_is_real(value)) {
		if (number != floor(number) || fabs(number) >= EXACT_END)
			return false;
		*ret_number = (int64_t)number;
		return true;
	}
	if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX))
		return false;
	*ret_number = yyjson_get_sint(value);
	return true;
}

void json_spell_whole(yyjson_val *value)
{
	int64_t number;
	if (!yyjson_is_real(value) || !json_is_whole(value, &number))
		return;
	if (number < 0)
		yyjson_set_sint(value, number);
	else
		yyjson_set_uint(value, (uint64_t)number); /* as the reader does: yyjson_is_uint() */
}

int64_t json_get_int(yyjson_val *object, const char *name, int64_t fallback)
{
	int64_t number;
	return json_is_whole(json_get(object, name), &number) ? number : fallback;
}

double json_get_float(yyjson_val *object, const char *name, double fallback)
{
	yyjson_val *value = json_get(object, name);
	double number = yyjson_get_num(value); /* 0 if it is none */
	return yyjson_is_num(value) && isfinite(number) ? number : fallback;
}

bool json_get_bool(yyjson_val *object, const char *name, bool fallback)
{
	yyjson_val *value = json_get(object, name);
	return yyjson_is_bool(value) ? yyjson_get_bool(value) : fallback;
}

yyjson_val *json_at(yyjson_val *value, const char *path)
{
	while (path[0] && path[0] != '.' && value) {
		size_t length = strcspn(path, ".");
		value = yyjson_obj_getn(value, path, length);
		path += length + (path[length] == '.');
	}
	return value;
}

const char **json_texts(struct arena *arena, yyjson_val *array, size_t *ret_count)
{
	const char **texts = arena_array(arena, yyjson_arr_size(array) + 1, sizeof(*texts));
	size_t index, max, count = 0;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, max, item)
		if (yyjson_is_str(item))
			texts[count++] = yyjson_get_str(item);
	*ret_count = count;
	return texts;
}

void json_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text)
{
	yyjson_mut_obj_add_val(doc, object, name,
	                       text ? yyjson_mut_str(doc, text) : yyjson_mut_null(doc));
}

void json_add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, double value)
{
	yyjson_mut_obj_add_val(doc, object, name,
	                       isnan(value) ? yyjson_mut_null(doc)
	                                    : yyjson_mut_real(doc, round(value * 1e6) / 1e6));
}

void json_add_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *as, yyjson_val *from,
                     const char *name)
{
	yyjson_val *value = json_get(from, name);
	yyjson_mut_obj_add_val(doc, object, as,
	                       value ? yyjson_val_mut_copy(doc, value) : yyjson_mut_null(doc));
}
