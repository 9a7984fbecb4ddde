#include "harvest/xml_repair.h"

#include "base/base.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define REPLACEMENT   "\xEF\xBF\xBD"
#define CDATA_BEGIN   "<![CDATA["
#define CDATA_END     "]]>"
#define REFERENCE_MAX 12 /* bytes of the longest reference that is looked at */

struct repair {
	const char *xml;
	size_t at, length;
	bool is_cdata;
	struct buf out;
};

static bool is_allowed(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0xD800) ||
	       (code >= 0xE000 && code < 0xFFFE) || (code >= 0x10000 && code <= 0x10FFFF);
}

static bool is_ahead(const struct repair *repair, const char *text)
{
	size_t length = strlen(text);
	return repair->length - repair->at >= length &&
	       memcmp(repair->xml + repair->at, text, length) == 0;
}

static void copy(struct repair *repair, size_t length)
{
	buf_add(&repair->out, repair->xml + repair->at, length);
	repair->at += length;
}

static void replace(struct repair *repair, size_t length, const char *by)
{
	buf_puts(&repair->out, by);
	repair->at += length;
}

/* Read the number of a character reference without its "&#" and ";", such as "x3" or "233". False:
 * it is not a number. A number above U+10FFFF reads as a greater one. */
static bool read_number(const char *text, size_t length, uint32_t *ret_code)
{
	uint32_t code = 0, base = text[0] == 'x' ? 16 : 10;
	size_t i = base == 16;
	if (i == length)
		return false;
	for (; i < length; i++) {
		char c = text[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
		                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
		                                        : 99;
		if (digit >= base)
			return false;
		code = MIN_OF(code * base + digit, UINT32_C(0x110000));
	}
	*ret_code = code;
	return true;
}

static bool is_predefined(const char *name, size_t length)
{
	static const char *const NAMES[] = {"amp", "lt", "gt", "quot", "apos"};
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0)
			return true;
	return false;
}

static void repair_reference(struct repair *repair)
{
	const char *text = repair->xml + repair->at;
	size_t left = repair->length - repair->at;
	const char *end = memchr(text, ';', MIN_OF(left, (size_t)REFERENCE_MAX));
	size_t length = end ? (size_t)(end - text) + 1 : 1;
	uint32_t code;
	if (length > 3 && text[1] == '#' && read_number(text + 2, length - 3, &code)) {
		if (is_allowed(code))
			copy(repair, length);
		else
			replace(repair, length, REPLACEMENT);
	} else if (length > 2 && is_predefined(text + 1, length - 2)) {
		copy(repair, length);
	} else {
		replace(repair, 1, "&amp;");
	}
}

/* U+FFFE and U+FFFF, the only characters above U+001F in UTF-8 that XML forbids. */
static bool is_noncharacter(const char *text)
{
	return memcmp(text, "\xEF\xBF\xBE", 3) == 0 || memcmp(text, "\xEF\xBF\xBF", 3) == 0;
}

static void repair_character(struct repair *repair)
{
	const char *text = repair->xml + repair->at;
	size_t size = utf8_sequence(text, repair->length - repair->at);
	bool is_good = size == 1   ? is_allowed((unsigned char)*text)
	               : size == 3 ? !is_noncharacter(text)
	                           : size > 0;
	if (is_good)
		copy(repair, size);
	else
		replace(repair, MAX_OF(size, (size_t)1), REPLACEMENT);
}

struct buf xml_repair(struct arena *arena, const char *xml, size_t length)
{
	struct repair repair = {.xml = xml, .length = length, .out = {.arena = arena}};
	buf_reserve(&repair.out, length + 1);
	while (repair.at < length) {
		char c = xml[repair.at];
		if (c == '<' && !repair.is_cdata)
			repair.is_cdata = is_ahead(&repair, CDATA_BEGIN);
		else if (c == ']' && repair.is_cdata)
			repair.is_cdata = !is_ahead(&repair, CDATA_END);
		if (c == '&' && !repair.is_cdata)
			repair_reference(&repair);
		else
			repair_character(&repair);
	}
	buf_puts(&repair.out, "");
	return repair.out;
}
