#include "json/json_repair.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define ESCAPE_LENGTH   6 /* of `\ud83d` */

struct repair {
	const char *at, *end; /* what is left to read */
	size_t depth;
	const struct json_filter *filter; /* NULL: all stays */
	const char *name;         /* of the last member, at its quote; NULL: there was none */
	bool is_value;            /* what comes next is the value of that */
	struct json_repaired out; /* `text` NULL: only measured */
};

static void emit(struct repair *repair, const char *text, size_t length)
{
	if (repair->out.text)
		memcpy(repair->out.text + repair->out.length, text, length);
	repair->out.length += length;
}

/* Copy the next bytes. */
static void copy(struct repair *repair, size_t length)
{
	emit(repair, repair->at, length);
	repair->at += length;
}

/* Write `text` for the next bytes. */
static void replace(struct repair *repair, size_t length, const char *text)
{
	emit(repair, text, strlen(text));
	repair->at += length;
}

/* The code unit of the escape sequence `\uXXXX` at `at`; -1: there is none. */
static int32_t unit_at(const char *at, const char *end)
{
	if (end - at < ESCAPE_LENGTH || at[0] != '\\' || at[1] != 'u')
		return -1;
	int32_t unit = 0;
	for (int i = 2; i < ESCAPE_LENGTH; i++) {
		char c = at[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
		            : c >= 'a' && c <= 'f' ? c - 'a' + 10
		            : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                                   : -1;
		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static bool is_high(int32_t unit)
{
	return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(int32_t unit)
{
	return unit >= 0xDC00 && unit <= 0xDFFF;
}

static void repair_escape(struct repair *repair)
{
	int32_t unit = unit_at(repair->at, repair->end);
	if (unit < 0)
		copy(repair, (size_t)MIN_OF(repair->end - repair->at, 2));
	else if (is_high(unit) && is_low(unit_at(repair->at + ESCAPE_LENGTH, repair->end)))
		copy(repair, (size_t)2 * ESCAPE_LENGTH);
	else if (unit == 0 || is_high(unit) || is_low(unit))
		replace(repair, ESCAPE_LENGTH, UTF8_REPLACEMENT);
	else
		copy(repair, ESCAPE_LENGTH);
}

static void repair_control(struct repair *repair)
{
	static const char *const ESCAPES[' '] = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r"};
	const char *escape = ESCAPES[(unsigned char)*repair->at];
	replace(repair, 1, escape ? escape : UTF8_REPLACEMENT);
}

static void repair_sequence(struct repair *repair)
{
	size_t length = utf8_sequence(repair->at, (size_t)(repair->end - repair->at));
	if (length > 0)
		copy(repair, length);
	else
		replace(repair, 1, UTF8_REPLACEMENT);
}

/* ASCII that a string may have as it is. */
static size_t plain_length(const char *at, const char *end)
{
	const char *start = at;
	while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
	       *at != '\\')
		at++;
	return (size_t)(at - start);
}

/* The position after the string at `at`. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

/* Whether the last member has one of these names. */
static bool is_named(const struct repair *repair, const char *const *names)
{
	const char *name = repair->name + 1;
	for (; *names; names++) {
		size_t length = strlen(*names);
		if ((size_t)(repair->end - name) > length && memcmp(name, *names, length) == 0 &&
		    name[length] == '"')
			return true;
	}
	return false;
}

/* Of the string that comes next. 0: it may have any length. */
static size_t text_max(const struct repair *repair)
{
	const struct json_filter *filter = repair->filter;
	if (!filter)
		return 0;
	bool is_long = repair->is_value && repair->name && filter->long_texts &&
	               is_named(repair, filter->long_texts);
	return is_long ? filter->long_text_max : filter->text_max;
}

static bool is_too_long(const struct repair *repair)
{
	size_t max = text_max(repair);
	size_t left = (size_t)(repair->end - repair->at);
	return max > 0 && left > max &&
	       (size_t)(skip_string(repair->at, repair->end) - repair->at) > max + strlen("\"\"");
}

static void repair_string(struct repair *repair)
{
	if (!repair->is_value)
		repair->name = repair->at;
	if (is_too_long(repair)) {
		const char *after = skip_string(repair->at, repair->end);
		replace(repair, (size_t)(after - repair->at), "\"\"");
		return;
	}
	copy(repair, 1);
	while (repair->at < repair->end) {
		copy(repair, plain_length(repair->at, repair->end));
		if (repair->at == repair->end)
			return;
		unsigned char c = (unsigned char)*repair->at;
		if (c == '"') {
			copy(repair, 1);
			return;
		}
		if (c == '\\')
			repair_escape(repair);
		else if (c < 0x20)
			repair_control(repair);
		else
			repair_sequence(repair);
	}
}

/* The position after the array or object at `at`. */
static const char *skip_nested(const char *at, const char *end)
{
	size_t depth = 0;
	while (at < end) {
		char c = *at;
		at = c == '"' ? skip_string(at, end) : at + 1;
		if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && --depth == 0)
			break;
	}
	return at;
}

static void repair_bracket(struct repair *repair)
{
	bool is_opening = *repair->at == '[' || *repair->at == '{';
	if (is_opening && repair->depth == JSON_MAX_DEPTH) {
		const char *after = skip_nested(repair->at, repair->end);
		replace(repair, (size_t)(after - repair->at), "null");
		return;
	}
	if (is_opening)
		repair->depth++;
	else if (repair->depth > 0)
		repair->depth--;
	copy(repair, 1);
}

/* Whether the filter lets the value of the last member stay. */
static bool is_kept(const struct repair *repair)
{
	const char *const *members = repair->filter ? repair->filter->members : NULL;
	return !members || repair->depth != 1 || !repair->name || is_named(repair, members);
}

/* Write null for the value that follows a colon. */
static void leave_out(struct repair *repair)
{
	const char *at = repair->at;
	while (at < repair->end && strchr(" \t\r\n", *at) && *at)
		at++;
	if (at < repair->end && *at == '"')
		at = skip_string(at, repair->end);
	else if (at < repair->end && (*at == '[' || *at == '{'))
		at = skip_nested(at, repair->end);
	else
		while (at < repair->end && !strchr(",]}", *at))
			at++;
	replace(repair, (size_t)(at - repair->at), "null");
}

static void repair_colon(struct repair *repair)
{
	copy(repair, 1);
	if (!is_kept(repair))
		leave_out(repair);
}

/* Each value is the first one or follows a bracket, a comma or a colon. */
static struct json_repaired run(const char *text, size_t length, const struct json_filter *filter,
                                char *out)
{
	struct repair repair = {
		.at = text,
		.end = text + length,
		.filter = filter,
		.out = {.text = out, .values_max = 1},
	};
	size_t mark = strlen(BYTE_ORDER_MARK);
	if (length >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0)
		repair.at += mark;
	while (repair.at < repair.end) {
		char c = *repair.at;
		repair.out.values_max += c == ',' || c == ':' || c == '[' || c == '{';
		if (c == '"')
			repair_string(&repair);
		else if (c == '[' || c == '{' || c == ']' || c == '}')
			repair_bracket(&repair);
		else if (c == ':')
			repair_colon(&repair);
		else
			copy(&repair, 1);
		repair.is_value = c == ':' || (repair.is_value && strchr(" \t\r\n", c) && c);
	}
	return repair.out;
}

struct json_repaired json_repair_measure(const char *text, size_t length,
                                         const struct json_filter *filter)
{
	return run(text ? text : "", length, filter, NULL);
}

struct json_repaired json_repair(struct arena *arena, const char *text, size_t length,
                                 const struct json_filter *filter, size_t padding)
{
	struct json_repaired size = json_repair_measure(text, length, filter);
	return run(text ? text : "", length, filter, arena_alloc(arena, size.length + padding));
}
