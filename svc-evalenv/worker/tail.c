#include "worker/tail.h"

#include "base/utf8.h"

#include <string.h>

#define SEQUENCE_MAX    4
#define IS_CONTINUED(c) (((unsigned char)(c)&0xC0) == 0x80)

void tail_add(struct tail *tail, const char *data, size_t length)
{
	if (length > TAIL_SIZE) {
		tail->length += length - TAIL_SIZE;
		data += length - TAIL_SIZE;
		length = TAIL_SIZE;
	}
	size_t at = tail->length % TAIL_SIZE, first = MIN_OF(length, TAIL_SIZE - at);
	memcpy(tail->bytes + at, data, first);
	memcpy(tail->bytes, data + first, length - first);
	tail->length += length;
}

/* How many bytes a sequence has that begins with `lead`. */
static size_t sequence_length(char lead)
{
	unsigned char c = (unsigned char)lead;
	return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}

/* The length of `text` without a sequence at its end that is not complete. */
static size_t complete_length(const char *text, size_t length)
{
	for (size_t back = 1; back < SEQUENCE_MAX && back <= length; back++) {
		char c = text[length - back];
		if (!IS_CONTINUED(c))
			return sequence_length(c) > back ? length - back : length;
	}
	return length;
}

const char *tail_take(struct arena *arena, struct tail *tail, bool is_last)
{
	struct buf out = {.arena = arena};
	uint64_t kept_from = tail->length > TAIL_SIZE ? tail->length - TAIL_SIZE : 0;
	uint64_t from = MAX_OF(tail->taken, kept_from);
	size_t length = (size_t)(tail->length - from), at = from % TAIL_SIZE;
	size_t first = MIN_OF(length, TAIL_SIZE - at);
	char *text = arena_alloc(arena, length + 1);
	memcpy(text, tail->bytes + at, first);
	memcpy(text + first, tail->bytes, length - first);
	if (!is_last)
		length = complete_length(text, length);
	if (length == 0)
		return NULL;
	if (from > tail->taken)
		buf_printf(&out, "[%llu bytes are left out]\n",
		           (unsigned long long)(from - tail->taken));
	utf8_repair(&out, text, length);
	tail->taken = from + length;
	return out.data;
}
