#include "interest/words.h"

#include <ctype.h>
#include <string.h>

bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

bool words_begin(const char *text, const char *end, const char *prefix)
{
	for (; *prefix; prefix++) {
		if (text >= end)
			return false;
		if (*prefix == '\'' && end - text >= 3 && memcmp(text, "\xe2\x80\x99", 3) == 0) {
			text += 3;
			continue;
		}
		if (tolower((unsigned char)*text) != *prefix)
			return false;
		text++;
	}
	return true;
}

bool words_at(const char *text, struct span all, const char *words, const char **ret_after)
{
	bool is_suffix = *words == 'n' && words[1] == '\'';
	if (!words_begin(text, all.end, words))
		return false;
	if (text > all.start && is_word_char(text[-1]) && is_word_char(*words) && !is_suffix)
		return false;
	const char *after = text;
	for (const char *at = words; *at; at++)
		after += *at == '\'' && (unsigned char)*after >= 0x80 ? 3 : 1;
	if (after < all.end && is_word_char(*after) && is_word_char(after[-1]))
		return false;
	*ret_after = after;
	return true;
}

bool words_one_at(const char *text, const char *end, const char *const *words, size_t count)
{
	const char *after;
	for (size_t i = 0; i < count; i++)
		if (words_at(text, (struct span){text, end}, words[i], &after))
			return true;
	return false;
}

const char *words_before(const char *text, const char *start, const char *const *words,
                         size_t count)
{
	while (text > start && isblank((unsigned char)text[-1]))
		text--;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		const char *at = text - length, *after;
		if ((size_t)(text - start) >= length &&
		    words_at(at, (struct span){start, text}, words[i], &after))
			return at;
	}
	return NULL;
}

const char *words_skip_blank(const char *text, const char *end)
{
	while (text < end && !is_word_char(*text))
		text++;
	return text;
}

size_t words_count(struct span span)
{
	size_t count = 0;
	for (const char *at = span.start; at < span.end; at++)
		count += is_word_char(*at) && (at == span.start || !is_word_char(at[-1]));
	return count;
}
