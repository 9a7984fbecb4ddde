#include "client/mail_header.h"

#include "base/base.h"
#include "base/utf8.h"
#include "crypto/crypto.h"

#include <string.h>

#define PLAIN_MAX   900 /* RFC 5322 section 2.1.1 allows lines of 998 */
#define WORD_BYTES  39  /* in base64 52 characters; with `Subject: =?UTF-8?B?` and `?=` below 76 */
#define LOCAL_MAX   64  /* RFC 5321 section 4.5.3.1 */
#define LABEL_MAX   63
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define LOCAL_CHARS LETTERS ".!#$%&'*+/=?^_`{|}~-"

static bool is_control(char character)
{
	return (unsigned char)character < ' ' || character == 0x7f;
}

static bool is_plain(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at >= 0x7f)
			return false;
	return strlen(text) <= PLAIN_MAX && !strstr(text, "=?");
}

static void add_encoded(struct buf *out, const char *text)
{
	bool is_first = true;
	for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
		size = left > WORD_BYTES ? utf8_cut(text, left, WORD_BYTES) : left;
		buf_printf(out, "%s=?UTF-8?B?%s?=", is_first ? " " : "\r\n ",
		           base64_encode(out->arena, text, size));
		is_first = false;
	}
}

const char *mail_header_write(struct arena *arena, const char *name, const char *value)
{
	struct buf out = {.arena = arena};
	char *line = arena_strdup(arena, value);
	for (char *at = line; *at; at++)
		*at = is_control(*at) ? ' ' : *at;
	buf_printf(&out, "%s:", name);
	if (is_plain(line))
		buf_printf(&out, " %s", line);
	else
		add_encoded(&out, line);
	return out.data;
}

/* Whether the text is a name of the DNS: labels of letters, digits and hyphens. */
static bool is_domain(const char *text, size_t length)
{
	size_t label = 0;
	for (size_t i = 0; i < length; i++) {
		bool is_end = i + 1 == length || text[i + 1] == '.';
		bool is_hyphen = text[i] == '-';
		if (text[i] == '.') {
			if (label == 0)
				return false;
			label = 0;
			continue;
		}
		if (!strchr(LETTERS "-", text[i]) || ++label > LABEL_MAX ||
		    (is_hyphen && (label == 1 || is_end)))
			return false;
	}
	return label > 0;
}

bool mail_address_check(const char *text, size_t length, const char **ret_message)
{
	const char *at = memchr(text, '@', length);
	size_t local = at ? (size_t)(at - text) : 0;
	*ret_message = "must be an e-mail address, such as ada@example.org";
	return at && length <= MAIL_ADDRESS_MAX && local > 0 && local <= LOCAL_MAX &&
	       strspn(text, LOCAL_CHARS) == local && is_domain(at + 1, length - local - 1);
}
