#include "oidc/return_to.h"

#include "base/base.h"

#include <string.h>

static const char CONSOLE[] = "/console/";

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f || text[i] == '\\')
			return false;
	return true;
}

/* Whether a segment of the path is `.` or `..`, which browsers resolve. */
static bool has_dot_segment(const char *text)
{
	for (const char *at = strchr(text, '/'); at; at = strchr(at + 1, '/')) {
		size_t dots = strspn(at + 1, ".");
		if ((dots == 1 || dots == 2) && strchr("/?#", at[1 + dots]))
			return true;
	}
	return false;
}

bool return_to_check(const char *text, size_t length, const char **ret_message)
{
	static const char *const REFUSED[] = {"//", "%2e", "%2E", "%5c", "%5C"};
	bool is_valid = strncmp(text, CONSOLE, sizeof(CONSOLE) - 1) == 0 &&
	                is_plain(text, length) && !has_dot_segment(text);
	for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++)
		if (strstr(text, REFUSED[i]))
			is_valid = false;
	if (!is_valid)
		*ret_message = "must be a path that begins with /console/, without // and \\";
	return is_valid;
}
