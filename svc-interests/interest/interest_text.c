#include "interest/interest_text.h"

#include "interest/east_asian.h"
#include "interest/exclusion.h"
#include "interest/language.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *const SCHEMES[] = {"https://", "http://", "www.", "arxiv.org/", "arxiv:"};

/* On these hosts the first part of a path names the owner and is left out. */
static const char *const HOSTS_WITH_OWNER[] = {"github.com", "gitlab.com", "huggingface.co"};

/* Generic words of paths, each with a space before and after. */
static const char GENERIC_WORDS[] =
	" abs arxiv article articles blob blog com datasets doc docs download en full forum home "
	"htm html index io main master md models net org paper papers pdf php post posts readme "
	"research spaces src tree view watch wiki www ";

/* The longest generic word with a space on each side and the NUL. */
#define WORD_BUFFER 24

static bool begins_with(const char *text, const char *prefix)
{
	return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* The one of `prefixes` that `text` begins with, or NULL. */
static const char *find_prefix(const char *text, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with(text, prefixes[i]))
			return prefixes[i];
	return NULL;
}

/* Those that an address can begin with: most of a text is not compared with SCHEMES. */
static bool is_first_letter(char c)
{
	return c == 'h' || c == 'H' || c == 'w' || c == 'W' || c == 'a' || c == 'A';
}

static bool is_inside_word(const char *text, const char *at)
{
	return at > text && isalnum((unsigned char)at[-1]);
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_generic_word(const char *word, size_t length)
{
	char framed[WORD_BUFFER];
	if (length > WORD_BUFFER - 3)
		return false;
	framed[0] = ' ';
	for (size_t i = 0; i < length; i++)
		framed[i + 1] = (char)tolower((unsigned char)word[i]);
	framed[length + 1] = ' ';
	framed[length + 2] = '\0';
	return strstr(GENERIC_WORDS, framed) != NULL;
}

/* Append the words of a path of `length` bytes, without numbers and generic words. */
static void append_path(struct buf *out, const char *path, size_t length)
{
	for (size_t at = 0, end; at < length; at = end + 1) {
		for (end = at; end < length && is_word_char(path[end]);)
			end++;
		size_t digits = strspn(path + at, "0123456789v");
		if (end - at < 2 || digits >= end - at || is_generic_word(path + at, end - at))
			continue;
		buf_puts(out, " ");
		buf_add(out, path + at, end - at);
	}
}

/* Where the first of the `chars` is in the text, or its `end`, which NUL is, too. Not by strcspn(),
 * for which AddressSanitizer reads the text to its end. */
static const char *first_of(const char *text, const char *end, const char *chars)
{
	while (text != end && !strchr(chars, *text))
		text++;
	return text;
}

/* Append the words of the address at `text`, which begins with `scheme`. Returns its end. */
static const char *append_address(struct buf *out, const char *text, const char *scheme)
{
	const char *host = text + strlen(scheme);
	const char *end = first_of(host, NULL, " \t\r\n<>\"()[]{}|,");
	if (scheme[strlen(scheme) - 1] == ':') /* an arXiv id */
		return end;
	const char *path_end = first_of(host, end, "?#");
	const char *path = first_of(host, path_end, "/");
	if (path < path_end && find_prefix(host, HOSTS_WITH_OWNER, ARRAY_LEN(HOSTS_WITH_OWNER))) {
		const char *rest = memchr(path + 1, '/', (size_t)(path_end - path - 1));
		path = rest ? rest : path;
	}
	if (path < path_end)
		append_path(out, path, (size_t)(path_end - path));
	buf_puts(out, " ");
	return end;
}

static const char *without_addresses(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	for (const char *at = text; *at;) {
		const char *scheme = is_first_letter(*at) && !is_inside_word(text, at)
		                             ? find_prefix(at, SCHEMES, ARRAY_LEN(SCHEMES))
		                             : NULL;
		if (scheme)
			at = append_address(&out, at, scheme);
		else
			buf_add(&out, at++, 1);
	}
	return out.data;
}

static const char *without_function_words(struct arena *arena, const char *text)
{
	const struct language *language = language_detect(text);
	if (!language)
		return text;
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	while (*text) {
		size_t length = language_word_length(text);
		if (!language_has_function_word(language, text, length))
			buf_add(&out, text, length ? length : 1);
		text += length ? length : 1;
	}
	return out.data;
}

static bool has_word(const char *text)
{
	for (; *text; text++)
		if (is_word_char(*text))
			return true;
	return false;
}

const char *interest_text_clean(struct arena *arena, const char *text)
{
	const char *topic = without_addresses(arena, text);
	topic = exclusions_find(arena, topic).kept;
	topic = without_function_words(arena, topic);
	topic = without_east_asian_function_words(arena, topic);
	return has_word(topic) ? topic : text;
}

const char *const *interest_text_refused(struct arena *arena, const char *text, size_t *ret_count)
{
	struct exclusions found = exclusions_find(arena, without_addresses(arena, text));
	*ret_count = found.count;
	return found.items;
}
