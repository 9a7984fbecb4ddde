#include "account/email_address.h"

#include "base/utf8.h"

#include <string.h>

bool email_address_check(const char *text, size_t length, const char **ret_message)
{
	const char *at = memchr(text, '@', length);
	bool is_valid = at && at > text && at + 1 < text + length && length <= EMAIL_MAX &&
	                !memchr(at + 1, '@', (size_t)(text + length - at) - 1) &&
	                utf8_is_valid(text, length);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= 0x20 || text[i] == 0x7f)
			is_valid = false;
	if (!is_valid)
		*ret_message = "must be an address, as in name@example.org";
	return is_valid;
}
