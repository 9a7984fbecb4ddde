#include "plain/reader.h"

#include "base/base.h"
#include "base/utf8.h"

#include <string.h>

/* Bytes of the longest group: many braces that never end cost little. */
#define GROUP_MAX 2000

void reader_skip_spaces(struct reader *reader)
{
	while (reader_peek(reader, 0) == ' ')
		reader->at++;
}

bool reader_command(struct reader *reader, const char **ret_name, size_t *ret_length)
{
	size_t length = 0;
	while (reader_is_letter(reader_peek(reader, 1 + length)))
		length++;
	if (length == 0)
		length = reader_peek(reader, 1) != '\0';
	*ret_name = reader->at + 1;
	*ret_length = length;
	reader->at += 1 + length;
	return length > 0;
}

bool reader_name_is_in(const char *name, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return true;
	return false;
}

bool reader_group(struct reader *reader, struct reader *ret_group)
{
	size_t depth = 0;
	const char *limit = reader->at + MIN_OF(reader->end - reader->at, GROUP_MAX);
	for (const char *at = reader->at; at < limit; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0) {
			*ret_group = (struct reader){reader->at + 1, at};
			reader->at = at + 1;
			return true;
		}
	}
	return false;
}

size_t reader_character(struct reader *reader, uint32_t *ret_code)
{
	size_t left = (size_t)(reader->end - reader->at);
	size_t size = utf8_sequence(reader->at, left);
	const unsigned char *bytes = (const unsigned char *)reader->at;
	uint32_t code = size == 0 ? 0xFFFD : size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> size);
	for (size_t i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3F);
	*ret_code = code;
	size = size ? size : 1;
	reader->at += size;
	return size;
}
