#include "json/json_canonical.h"

#include "base/base.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX  ((int64_t)1 << 53)
#define DIGITS_MAX 17 /* that tell every double from its neighbours */
#define PLAIN_MAX  21 /* ECMA-262, Number::toString: digits before the point, without an exponent */
#define ZEROS_MAX  6  /* and zeros behind it */

/* --- Numbers ---------------------------------------------------------------------------------- */

/* A positive number as `digits`, where `point` is the place of the point in them: 12.5 is `125`
 * with 2, and 0.001 is `1` with -2. */
struct decimal {
	char digits[DIGITS_MAX + 1];
	int point;
};

/* The nearest that has so many digits. */
static struct decimal decimal_nearest(double value, int count)
{
	struct decimal d = {0};
	char text[DIGITS_MAX + 16]; /* 1.25e+02 */
	snprintf(text, sizeof(text), "%.*e", count - 1, value);
	const char *exponent = strchr(text, 'e');
	size_t length = 0;
	for (const char *c = text; c < exponent; c++)
		if (*c != '.')
			d.digits[length++] = *c;
	d.point = (int)strtol(exponent + 1, NULL, 10) + 1;
	return d;
}

/* The next one up that has as many digits. */
static struct decimal decimal_next(struct decimal d)
{
	size_t i = strlen(d.digits);
	while (i > 0 && d.digits[i - 1] == '9')
		d.digits[--i] = '0';
	if (i > 0) {
		d.digits[i - 1]++;
	} else {
		d.digits[0] = '1';
		d.point++;
	}
	return d;
}

static bool is_read_as(const struct decimal *d, double value)
{
	char text[DIGITS_MAX + 16];
	snprintf(text, sizeof(text), "0.%se%d", d->digits, d->point);
	return strtod(text, NULL) == value;
}

/* The shortest that is read as the same number, of several the nearest. Below a power of two the
 * numbers are twice as dense as above it: there the nearest may already belong to the neighbour
 * below, while the next one up, which is further away, is still the number's own. */
static struct decimal decimal_shortest(double value)
{
	struct decimal d = {0};
	for (int count = 1; count <= DIGITS_MAX; count++) {
		d = decimal_nearest(value, count);
		if (is_read_as(&d, value))
			break;
		struct decimal next = decimal_next(d);
		if (is_read_as(&next, value))
			return next;
	}
	return d;
}

static void add_zeros(struct buf *out, int count)
{
	for (int i = 0; i < count; i++)
		buf_add(out, "0", 1);
}

/* ECMA-262, 14th edition, section 6.1.6.1.20, from step 5. */
static void add_decimal(struct buf *out, const struct decimal *d)
{
	const char *digits = d->digits;
	int count = (int)strlen(digits), point = d->point;
	if (point > PLAIN_MAX || point <= -ZEROS_MAX) {
		buf_add(out, digits, 1);
		if (count > 1)
			buf_printf(out, ".%s", digits + 1);
		buf_printf(out, "e%+d", point - 1);
	} else if (point <= 0) {
		buf_puts(out, "0.");
		add_zeros(out, -point);
		buf_puts(out, digits);
	} else {
		int whole = MIN_OF(count, point);
		buf_add(out, digits, (size_t)whole);
		add_zeros(out, point - whole);
		if (count > whole)
			buf_printf(out, ".%s", digits + whole);
	}
}

static void add_number(struct buf *out, yyjson_val *number)
{
	int64_t whole;
	double value = yyjson_get_num(number);
	if (json_is_whole(number, &whole) && whole > -EXACT_MAX && whole < EXACT_MAX) {
		buf_add_int(out, whole);
		return;
	}
	if (value < 0)
		buf_add(out, "-", 1);
	struct decimal shortest = decimal_shortest(fabs(value));
	add_decimal(out, &shortest);
}

/* --- Texts ------------------------------------------------------------------------------------ */

/* RFC 8785 section 3.2.2.2 */
static void add_text(struct buf *out, yyjson_val *text)
{
	static const char SHORT[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	const unsigned char *c = (const unsigned char *)yyjson_get_str(text);
	const unsigned char *end = c + yyjson_get_len(text);
	buf_add(out, "\"", 1);
	for (; c < end; c++) {
		if (*c == '"' || *c == '\\')
			buf_printf(out, "\\%c", *c);
		else if (*c >= 0x20)
			buf_add(out, c, 1);
		else if (SHORT[*c])
			buf_printf(out, "\\%c", SHORT[*c]);
		else
			buf_printf(out, "\\u%04x", *c);
	}
	buf_add(out, "\"", 1);
}

/* The rank of a byte of UTF-8 in the order of UTF-16, in which characters beyond the basic plane,
 * from F0 on, are surrogates and come before U+E000. */
static int rank(unsigned char byte)
{
	return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

/* Section 3.2.3: by UTF-16 code units. */
static int compare_names(const void *a, const void *b)
{
	yyjson_val *left = *(yyjson_val *const *)a, *right = *(yyjson_val *const *)b;
	const unsigned char *l = (const unsigned char *)yyjson_get_str(left);
	const unsigned char *r = (const unsigned char *)yyjson_get_str(right);
	while (*l && *l == *r)
		l++, r++; /* no name has a NUL */
	return rank(*l) - rank(*r);
}

/* --- Values ----------------------------------------------------------------------------------- */

static void add_value(struct arena *arena, struct buf *out, yyjson_val *value);

static void add_object(struct arena *arena, struct buf *out, yyjson_val *object)
{
	size_t index, count;
	yyjson_val *name, *value;
	yyjson_val **names = arena_array(arena, yyjson_obj_size(object), sizeof(*names));
	json_obj_foreach (object, index, count, name, value)
		names[index] = name;
	qsort(names, count, sizeof(*names), compare_names);
	buf_add(out, "{", 1);
	for (index = 0; index < count; index++) {
		if (index)
			buf_add(out, ",", 1);
		add_text(out, names[index]);
		buf_add(out, ":", 1);
		add_value(arena, out, names[index] + 1);
	}
	buf_add(out, "}", 1);
}

static void add_array(struct arena *arena, struct buf *out, yyjson_val *array)
{
	size_t index, count;
	yyjson_val *item;
	buf_add(out, "[", 1);
	yyjson_arr_foreach (array, index, count, item) {
		if (index)
			buf_add(out, ",", 1);
		add_value(arena, out, item);
	}
	buf_add(out, "]", 1);
}

static void add_value(struct arena *arena, struct buf *out, yyjson_val *value)
{
	if (yyjson_is_obj(value))
		add_object(arena, out, value);
	else if (yyjson_is_arr(value))
		add_array(arena, out, value);
	else if (yyjson_is_str(value))
		add_text(out, value);
	else if (yyjson_is_num(value))
		add_number(out, value);
	else
		buf_puts(out, yyjson_is_null(value)    ? "null"
		              : yyjson_get_bool(value) ? "true"
		                                       : "false");
}

char *json_canonical(struct arena *arena, yyjson_val *value, size_t *ret_length)
{
	struct buf out = {.arena = arena};
	add_value(arena, &out, value);
	if (ret_length)
		*ret_length = out.length;
	return out.data;
}
