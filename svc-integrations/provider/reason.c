#include "provider/reason.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define REASON_MAX 300
#define MASK       "***"
#define SECRET_MIN \
	8 /* bytes; the text of a shorter one occurs in other words, and is masked as a word */

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The length of the secret at `text`, which follows the character `before`; 0: none. */
static size_t secret_at(const char *text, char before, const char *const *secrets)
{
	size_t longest = 0;
	for (; *secrets; secrets++) {
		size_t length = strlen(*secrets);
		if (length <= longest || strncmp(text, *secrets, length) != 0)
			continue;
		bool is_word = !is_of_word(before) && !is_of_word(text[length]);
		if (length >= SECRET_MIN || is_word)
			longest = length;
	}
	return longest;
}

const char *reason_clean(struct arena *arena, const char *text, const char *const *secrets)
{
	if (!text || !text[0])
		return NULL;
	struct buf out = {.arena = arena};
	const char *start = text;
	size_t left = strlen(text);
	while (left > 0 && out.length < REASON_MAX) {
		size_t secret = secret_at(text, text > start ? text[-1] : ' ', secrets);
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
