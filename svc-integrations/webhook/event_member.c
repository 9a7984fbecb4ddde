#include "webhook/event_member.h"

#include "base/timefmt.h"
#include "base/url.h"
#include "json/json.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX      32
#define BRANCH_MAX    255
#define FILE_NAME_MAX 255
#define NUMBER_MAX    ((int64_t)1 << 53) /* JavaScript reads numbers up to it without loss */
#define COMMIT_LEN    40                 /* digits of a SHA-1 */

static yyjson_mut_val *read_number(yyjson_mut_doc *doc, yyjson_val *value)
{
	int64_t number;
	bool is_number = json_is_whole(value, &number) && number > 0 && number <= NUMBER_MAX;
	return is_number ? yyjson_mut_uint(doc, (uint64_t)number) : NULL;
}

bool event_word_is_valid(const char *text, size_t length, size_t most)
{
	if (length == 0 || length > most)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
		    text[i] != '_')
			return false;
	return true;
}

static yyjson_mut_val *read_word(yyjson_mut_doc *doc, yyjson_val *value)
{
	const char *text = yyjson_get_str(value);
	return text && event_word_is_valid(text, yyjson_get_len(value), WORD_MAX)
	               ? yyjson_mut_str(doc, text)
	               : NULL;
}

static yyjson_mut_val *read_link(yyjson_mut_doc *doc, yyjson_val *value)
{
	const char *why, *text = yyjson_get_str(value);
	size_t length = yyjson_get_len(value);
	bool is_link = text && length <= EVENT_LINK_MAX && url_is_link(text, length, &why);
	return is_link ? yyjson_mut_str(doc, text) : NULL;
}

static yyjson_mut_val *read_flag(yyjson_mut_doc *doc, yyjson_val *value)
{
	return yyjson_is_bool(value) ? yyjson_mut_bool(doc, yyjson_get_bool(value)) : NULL;
}

static yyjson_mut_val *read_branch(yyjson_mut_doc *doc, yyjson_val *value)
{
	const char *text = yyjson_get_str(value);
	bool is_branch = text && text[0] && yyjson_get_len(value) <= BRANCH_MAX;
	return is_branch ? yyjson_mut_str(doc, text) : NULL;
}

/* The file name of a path; what follows an `@` is a commit. */
static yyjson_mut_val *read_file_name(yyjson_mut_doc *doc, yyjson_val *value)
{
	const char *path = yyjson_get_str(value);
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	size_t length = name ? strcspn(name, "@") : 0;
	bool is_name = length > 0 && length <= FILE_NAME_MAX;
	return is_name ? yyjson_mut_strncpy(doc, name, length) : NULL;
}

/* RFC 3339, or seconds since 1970. */
static yyjson_mut_val *read_time(yyjson_mut_doc *doc, yyjson_val *value)
{
	char text[TIME_TEXT_LEN + 1];
	int64_t seconds, time_ms;
	if (json_is_whole(value, &seconds) && seconds >= 0 && seconds < NUMBER_MAX / 1000)
		time_ms = seconds * 1000;
	else if (!yyjson_is_str(value) ||
	         !time_parse(yyjson_get_str(value), yyjson_get_len(value), &time_ms))
		return NULL;
	time_format(time_ms, text);
	return yyjson_mut_strcpy(doc, text);
}

static yyjson_mut_val *read_commit(yyjson_mut_doc *doc, yyjson_val *value)
{
	const char *text = yyjson_get_str(value);
	bool is_commit = text && yyjson_get_len(value) == COMMIT_LEN &&
	                 strspn(text, "0123456789abcdef") == COMMIT_LEN;
	return is_commit ? yyjson_mut_str(doc, text) : NULL;
}

static const struct {
	const char *name;
	yyjson_mut_val *(*read)(yyjson_mut_doc *doc, yyjson_val *value);
} MEMBERS[EVENT_MEMBERS] = {
	[MEMBER_NUMBER] = {"number", read_number},
	[MEMBER_URL] = {"url", read_link},
	[MEMBER_STATE] = {"state", read_word},
	[MEMBER_MERGED] = {"merged", read_flag},
	[MEMBER_BRANCH] = {"branch", read_branch},
	[MEMBER_RUN_ID] = {"run_id", read_number},
	[MEMBER_WORKFLOW] = {"workflow", read_file_name},
	[MEMBER_CONCLUSION] = {"conclusion", read_word},
	[MEMBER_OCCURRED_AT] = {"occurred_at", read_time},
	[MEMBER_COMMIT] = {"commit", read_commit},
};

const char *event_member_name(enum event_member member)
{
	return MEMBERS[member].name;
}

yyjson_mut_val *event_member_read(yyjson_mut_doc *doc, enum event_member member, yyjson_val *value)
{
	return MEMBERS[member].read(doc, value);
}
