#include "product/ref_name.h"

#include "base/base.h"

#include <ctype.h>
#include <string.h>

bool ref_name_check(const char *text, size_t length, const char **ret_message)
{
	static const char *const REFUSED[] = {"..", "//", "/.", "@{", ".lock/"};
	static const char *const ENDS[] = {"/", ".", ".lock"};
	*ret_message = "must be the name of a branch or tag";
	if (length == 0 || strchr("-/.", text[0]) || strpbrk(text, " ~^:?*[\\\x7f"))
		return false;
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++)
		if (strstr(text, REFUSED[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
		size_t end = strlen(ENDS[i]);
		if (length >= end && strcmp(text + length - end, ENDS[i]) == 0)
			return false;
	}
	return strcmp(text, "@") != 0;
}
