/** Reads LaTeX piece by piece. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is left of a text. */
struct reader {
	const char *at, *end;
};

static inline bool reader_is_over(const struct reader *reader)
{
	return reader->at >= reader->end;
}

/** The next byte, or the one at an offset; 0 behind the end. */
static inline char reader_peek(const struct reader *reader, size_t offset)
{
	return offset < (size_t)(reader->end - reader->at) ? reader->at[offset] : '\0';
}

static inline bool reader_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void reader_skip_spaces(struct reader *reader);

/** At a backslash: read it and the name of the command, letters or a single sign, which is
 * borrowed. False: nothing follows. */
bool reader_command(struct reader *reader, const char **ret_name, size_t *ret_length);

/** Whether the name of a command is one of the names, which NULL ends. */
bool reader_name_is_in(const char *name, size_t length, const char *const *names);

/** At a brace: read the group, without its braces. False: it does not end, or is very
 * long. */
bool reader_group(struct reader *reader, struct reader *ret_group);

/** Read the next character of UTF-8, which may be invalid: then one byte. Returns its bytes. */
size_t reader_character(struct reader *reader, uint32_t *ret_code);
