#include "http/query.h"

#include "base/utf8.h"
#include "crypto/crypto.h"

#include <ctype.h>
#include <string.h>

/* Decode the bytes of a name or value into the arena; NULL: its percent-encoding is invalid. */
static char *bytes_decode(struct arena *arena, const char *text, size_t length, char plus,
                          size_t *ret_length)
{
	char *out = arena_alloc(arena, length + 1);
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		char byte = text[i];
		if (byte == '+') {
			byte = plus;
		} else if (byte == '%') {
			if (length - i < 3 || !hex_decode(text + i + 1, 2, &byte, 1))
				return NULL;
			i += 2;
		}
		out[count++] = byte;
	}
	*ret_length = count;
	return out;
}

/* As bytes_decode(); NULL also: it has a NUL or is not UTF-8. */
static char *text_decode(struct arena *arena, const char *text, size_t length, char plus)
{
	size_t count;
	char *out = bytes_decode(arena, text, length, plus, &count);
	return out && !memchr(out, '\0', count) && utf8_is_valid(out, count) ? out : NULL;
}

static char *component_decode(struct arena *arena, const char *text, size_t length)
{
	return text_decode(arena, text, length, ' ');
}

/* A parameter as it stands in the query. */
struct piece {
	const char *name, *value; /* value NULL: there is no `=` */
	size_t name_length, value_length;
};

/* Read the next piece that is not empty from *at, and advance it. False: there is none. */
static bool next_piece(const char **at, const char *end, struct piece *ret_piece)
{
	while (*at && *at < end && **at == '&')
		(*at)++;
	if (!*at || *at == end)
		return false;
	const char *start = *at;
	const char *next = memchr(start, '&', (size_t)(end - start));
	const char *stop = next ? next : end;
	const char *equals = memchr(start, '=', (size_t)(stop - start));
	const char *name_end = equals ? equals : stop;
	*ret_piece = (struct piece){
		.name = start,
		.name_length = (size_t)(name_end - start),
		.value = equals ? equals + 1 : NULL,
		.value_length = equals ? (size_t)(stop - equals - 1) : 0,
	};
	*at = stop;
	return true;
}

static struct query_param decode(struct arena *arena, const struct piece *piece)
{
	return (struct query_param){
		.name = component_decode(arena, piece->name, piece->name_length),
		.value = piece->value ? component_decode(arena, piece->value, piece->value_length)
	                              : "",
	};
}

const char *query_get_bytes(struct arena *arena, const char *query, size_t length, const char *name,
                            size_t *ret_length)
{
	struct piece piece;
	for (const char *end = query + length; next_piece(&query, end, &piece);)
		if (piece.value && piece.name_length == strlen(name) &&
		    memcmp(piece.name, name, piece.name_length) == 0)
			return bytes_decode(arena, piece.value, piece.value_length, ' ',
			                    ret_length);
	return NULL;
}

const char *query_get(struct arena *arena, const char *query, size_t length, const char *name,
                      size_t *ret_count)
{
	const char *found = NULL;
	size_t count = 0;
	struct piece piece;
	for (const char *end = query ? query + length : NULL; next_piece(&query, end, &piece);) {
		struct query_param param = decode(arena, &piece);
		if (param.name && strcmp(param.name, name) == 0 && count++ == 0)
			found = param.value;
	}
	if (ret_count)
		*ret_count = count;
	return found;
}

bool query_next(struct arena *arena, const char **at, struct query_param *ret_param)
{
	struct piece piece;
	for (const char *end = *at ? *at + strlen(*at) : NULL; next_piece(at, end, &piece);) {
		*ret_param = decode(arena, &piece);
		if (ret_param->name && ret_param->value)
			return true;
	}
	return false;
}

size_t query_params(struct arena *arena, const char *query, size_t length,
                    struct query_param **ret_params)
{
	size_t count = 0, most = 1;
	for (size_t i = 0; i < length; i++)
		most += query[i] == '&';
	struct query_param *params = arena_array(arena, most, sizeof(*params));
	struct piece piece;
	for (const char *end = query ? query + length : NULL; next_piece(&query, end, &piece);)
		params[count++] = decode(arena, &piece);
	*ret_params = params;
	return count;
}

const char *query_decode(struct arena *arena, const char *text, size_t length)
{
	return text_decode(arena, text, length, '+');
}

char *query_encode(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	buf_add(&out, "", 0);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (isalnum(*at) || strchr("-._~", *at))
			buf_add(&out, at, 1);
		else
			buf_printf(&out, "%%%02X", *at);
	}
	return out.data;
}

void form_add(struct buf *out, const char *name, const char *value)
{
	if (out->length > 0 && !strchr("?&", out->data[out->length - 1]))
		buf_puts(out, "&");
	buf_printf(out, "%s=%s", name, query_encode(out->arena, value));
}
