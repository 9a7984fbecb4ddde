#include "http/query.h"

#include "base/crypto.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

/* Decode the bytes of a name or value into the arena; NULL: its percent-encoding is invalid. */
static char *bytes_decode(struct arena *arena, const char *text, size_t length, size_t *ret_length)
{
	char *out = arena_alloc(arena, length + 1);
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		char byte = text[i];
		if (byte == '+') {
			byte = ' ';
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
static char *component_decode(struct arena *arena, const char *text, size_t length)
{
	size_t count;
	char *out = bytes_decode(arena, text, length, &count);
	return out && !memchr(out, '\0', count) && utf8_is_valid(out, count) ? out : NULL;
}

const char *query_get_bytes(struct arena *arena, const char *query, size_t length, const char *name,
                            size_t *ret_length)
{
	size_t name_length = strlen(name);
	for (const char *end = query + length; query < end;) {
		const char *next = memchr(query, '&', (size_t)(end - query));
		const char *stop = next ? next : end;
		if ((size_t)(stop - query) > name_length && query[name_length] == '=' &&
		    memcmp(query, name, name_length) == 0) {
			query += name_length + 1;
			return bytes_decode(arena, query, (size_t)(stop - query), ret_length);
		}
		query = next ? next + 1 : end;
	}
	return NULL;
}

const char *query_get(struct arena *arena, const char *query, size_t length, const char *name,
                      size_t *ret_count)
{
	const char *found = NULL;
	size_t count = 0;
	const char *end = query ? query + length : NULL;
	while (query && query < end) {
		const char *next = memchr(query, '&', (size_t)(end - query));
		const char *stop = next ? next : end;
		const char *equals = memchr(query, '=', (size_t)(stop - query));
		const char *name_end = equals ? equals : stop;
		const char *key = component_decode(arena, query, (size_t)(name_end - query));
		if (key && strcmp(key, name) == 0 && count++ == 0)
			found = equals ? component_decode(arena, equals + 1,
			                                  (size_t)(stop - equals - 1))
			               : "";
		query = next ? next + 1 : end;
	}
	if (ret_count)
		*ret_count = count;
	return found;
}

bool query_next(struct arena *arena, const char **at, struct query_param *ret_param)
{
	while (*at && **at) {
		const char *text = *at;
		size_t length = strcspn(text, "&");
		const char *equals = memchr(text, '=', length);
		size_t name_length = equals ? (size_t)(equals - text) : length;
		*at = text + length + (text[length] == '&');
		ret_param->name = component_decode(arena, text, name_length);
		ret_param->value =
			equals ? component_decode(arena, equals + 1, length - name_length - 1) : "";
		if (length > 0 && ret_param->name && ret_param->value)
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
	for (const char *at = query, *end = query + length; query && at < end;) {
		size_t left = (size_t)(end - at);
		const char *next = memchr(at, '&', left);
		size_t piece = next ? (size_t)(next - at) : left;
		const char *equals = memchr(at, '=', piece);
		size_t name_length = equals ? (size_t)(equals - at) : piece;
		if (piece > 0)
			params[count++] = (struct query_param){
				.name = component_decode(arena, at, name_length),
				.value = equals ? component_decode(arena, equals + 1,
			                                           piece - name_length - 1)
			                        : "",
			};
		at += piece + 1;
	}
	*ret_params = params;
	return count;
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
