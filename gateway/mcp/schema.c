#include "mcp/schema.h"

#include "base/base.h"
#include "base/utf8.h"
#include "crypto/uuid.h"
#include "json/json.h"

#include <regex.h>
#include <string.h>

#define PATTERNS_MAX   16
#define FAULTS_MAX     20
#define NAME_MAX_BYTES 100 /* of an unknown argument, in its fault */

/* Set by schema_start(), read by every worker: compiling a pattern takes longer than a call. */
static struct pattern {
	char *text;
	regex_t regex;
} patterns[PATTERNS_MAX];
static size_t pattern_count;

static const struct pattern *pattern_find(const char *text)
{
	for (size_t i = 0; i < pattern_count; i++)
		if (strcmp(patterns[i].text, text) == 0)
			return &patterns[i];
	return NULL;
}

static void pattern_add(const char *text)
{
	require(pattern_count < PATTERNS_MAX);
	struct pattern *pattern = &patterns[pattern_count++];
	pattern->text = strdup(text);
	require(pattern->text && regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB) == 0);
}

void schema_start(yyjson_val *schema)
{
	yyjson_val *properties = yyjson_obj_get(schema, "properties"), *name, *property;
	const char *text = json_get_text(schema, "pattern");
	size_t index, count;
	if (text && !pattern_find(text))
		pattern_add(text);
	if (yyjson_obj_get(schema, "items"))
		schema_start(yyjson_obj_get(schema, "items"));
	json_obj_foreach (properties, index, count, name, property)
		schema_start(property);
}

/* --- Keywords --------------------------------------------------------------------------------- */

static bool is_whole(yyjson_val *value)
{
	int64_t number;
	return json_is_whole(value, &number);
}

static bool is_of_type(const char *type, yyjson_val *value)
{
	static const struct {
		const char *name;
		bool (*is)(yyjson_val *value);
	} TYPES[] = {
		{"string", yyjson_is_str},   {"integer", is_whole},    {"number", yyjson_is_num},
		{"boolean", yyjson_is_bool}, {"array", yyjson_is_arr}, {"object", yyjson_is_obj},
	};
	for (size_t i = 0; i < ARRAY_LEN(TYPES); i++)
		if (strcmp(TYPES[i].name, type) == 0)
			return TYPES[i].is(value);
	return false;
}

/* `bound` is a type, or an array of types. */
static bool fits_type(yyjson_val *bound, yyjson_val *value)
{
	size_t index, count;
	yyjson_val *type;
	if (yyjson_is_str(bound))
		return is_of_type(yyjson_get_str(bound), value);
	yyjson_arr_foreach (bound, index, count, type)
		if (is_of_type(yyjson_get_str(type), value))
			return true;
	return false;
}

static bool fits_enum(yyjson_val *bound, yyjson_val *value)
{
	size_t index, count;
	yyjson_val *choice;
	yyjson_arr_foreach (bound, index, count, choice)
		if (yyjson_equals(choice, value))
			return true;
	return false;
}

static bool fits_format(yyjson_val *bound, yyjson_val *value)
{
	struct uuid uuid;
	return !yyjson_equals_str(bound, "uuid") ||
	       uuid_parse(yyjson_get_str(value), yyjson_get_len(value), &uuid);
}

static bool fits_pattern(yyjson_val *bound, yyjson_val *value)
{
	const struct pattern *pattern = pattern_find(yyjson_get_str(bound));
	require(pattern);
	return regexec(&pattern->regex, yyjson_get_str(value), 0, NULL, 0) == 0;
}

/* The number, the code points of a text, or the items of an array. */
static double size_of(yyjson_val *value)
{
	if (yyjson_is_str(value))
		return (double)utf8_count(yyjson_get_str(value), yyjson_get_len(value));
	return yyjson_is_arr(value) ? (double)yyjson_arr_size(value) : yyjson_get_num(value);
}

static bool fits_least(yyjson_val *bound, yyjson_val *value)
{
	return size_of(value) >= yyjson_get_num(bound);
}

static bool fits_most(yyjson_val *bound, yyjson_val *value)
{
	return size_of(value) <= yyjson_get_num(bound);
}

/* In the order in which they are checked; a value of the wrong type has no further fault.
 * `applies` is the only type that the keyword is about, NULL: any. */
static const struct keyword {
	const char *name, *applies;
	bool (*fits)(yyjson_val *bound, yyjson_val *value);
	const char *message; /* %s: the bound as JSON */
} KEYWORDS[] = {
	{"type", NULL, fits_type, "must be of type %s"},
	{"enum", NULL, fits_enum, "must be one of %s"},
	{"format", "string", fits_format, "must be a %s"},
	{"pattern", "string", fits_pattern, "must match %s"},
	{"minLength", "string", fits_least, "must have at least %s characters"},
	{"maxLength", "string", fits_most, "must have at most %s characters"},
	{"minimum", "number", fits_least, "must be at least %s"},
	{"maximum", "number", fits_most, "must be at most %s"},
	{"minItems", "array", fits_least, "must have at least %s items"},
	{"maxItems", "array", fits_most, "must have at most %s items"},
};

/* --- Values ----------------------------------------------------------------------------------- */

/* The faults found so far: lines for the first FAULTS_MAX, and then no more is looked for. */
struct faults {
	struct buf *out;
	size_t count;
};

static bool is_full(const struct faults *faults)
{
	return faults->count > FAULTS_MAX;
}

static void add_fault(struct faults *faults, const char *name, const char *message,
                      const char *bound)
{
	if (faults->count++ == FAULTS_MAX) {
		buf_puts(faults->out, "and others\n");
		return;
	}
	buf_printf(faults->out, "%s: ",
	           name[0] ? utf8_shorten(faults->out->arena, name, NAME_MAX_BYTES) : "arguments");
	buf_printf(faults->out, message, bound);
	buf_puts(faults->out, "\n");
}

static void check_value(struct faults *faults, yyjson_val *schema, yyjson_val *value,
                        const char *name);

static void check_members(struct faults *faults, yyjson_val *schema, yyjson_val *value)
{
	yyjson_val *properties = yyjson_obj_get(schema, "properties"), *key, *member;
	size_t index, count;
	json_obj_foreach (value, index, count, key, member) {
		const char *name = yyjson_get_str(key);
		yyjson_val *known = yyjson_obj_get(properties, name);
		if (is_full(faults))
			return;
		if (known)
			check_value(faults, known, member, name);
		else
			add_fault(faults, name, "is no argument of this tool%s", "");
	}
	yyjson_arr_foreach (yyjson_obj_get(schema, "required"), index, count, key)
		if (!is_full(faults) && !yyjson_obj_get(value, yyjson_get_str(key)))
			add_fault(faults, yyjson_get_str(key), "is required%s", "");
}

static void check_items(struct faults *faults, yyjson_val *schema, yyjson_val *value,
                        const char *name)
{
	yyjson_val *items = yyjson_obj_get(schema, "items"), *item;
	size_t index, count;
	if (!items)
		return;
	yyjson_arr_foreach (value, index, count, item) {
		if (is_full(faults))
			return;
		check_value(faults, items, item,
		            arena_printf(faults->out->arena, "%s[%zu]", name, index));
	}
}

static void check_value(struct faults *faults, yyjson_val *schema, yyjson_val *value,
                        const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(KEYWORDS); i++) {
		const struct keyword *keyword = &KEYWORDS[i];
		yyjson_val *bound = yyjson_obj_get(schema, keyword->name);
		bool applies = !keyword->applies || is_of_type(keyword->applies, value);
		if (bound && applies && !keyword->fits(bound, value)) {
			add_fault(faults, name, keyword->message,
			          json_write(faults->out->arena, bound, NULL));
			return;
		}
	}
	if (yyjson_is_obj(value))
		check_members(faults, schema, value);
	else if (yyjson_is_arr(value))
		check_items(faults, schema, value, name);
}

size_t schema_faults(struct buf *out, yyjson_val *schema, yyjson_val *value, const char *name)
{
	struct faults faults = {.out = out};
	check_value(&faults, schema, value, name);
	return faults.count;
}
