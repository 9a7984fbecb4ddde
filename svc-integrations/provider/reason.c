#include "provider/reason.h"

#include "base/utf8.h"

#include <string.h>

#define REASON_MAX 300
#define MASK       "***"
#define SECRET_MIN 8 /* bytes; a shorter one protects nothing, and its text occurs in other words */

/* The length of the secret that `text` begins with; 0: none. */
static size_t secret_at(const char *text, const char *const *secrets)
{
	size_t longest = 0;
	for (; *secrets; secrets++) {
		size_t length = strlen(*secrets);
		if (length >= SECRET_MIN && length > longest &&
		    strncmp(text, *secrets, length) == 0)
			longest = length;
	}
	return longest;
}

const char *reason_clean(struct arena *arena, const char *text, const char *const *secrets)
{
	if (!text || !text[0])
		return NULL;
	struct buf out = {.arena = arena};
	size_t left = strlen(text);
	while (left > 0 && out.length < REASON_MAX) {
		size_t secret = secret_at(text, secrets);
		size_t length = secret ? secret : utf8_sequence(text, left);
		if (secret)
			buf_puts(&out, MASK);
		else if (length == 0 || (unsigned char)text[0] < 0x20 || text[0] == 0x7F)
			buf_puts(&out, " ");
		else if (out.length + length <= REASON_MAX)
			buf_add(&out, text, length);
		else
			break;
		text += length ? length : 1;
		left -= length ? length : 1;
	}
	return out.data;
}
