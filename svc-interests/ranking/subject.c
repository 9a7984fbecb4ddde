#include "ranking/subject.h"

#include "ranking/language.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* What begins a web address. */
static const char *const SCHEMES[] = {"https://", "http://", "www.", "arxiv.org/", "arxiv:"};

/* Where the first part of a path is whose page it is. */
static const char *const OWNED_HOSTS[] = {"github.com", "gitlab.com", "huggingface.co"};

/* Words of paths that name a kind of page; separated and surrounded by spaces. */
static const char PAGE_WORDS[] =
	" abs arxiv article articles blob blog com datasets doc docs download en full forum home "
	"htm html index io main master md models net org paper papers pdf php post posts readme "
	"research spaces src tree view watch wiki www ";

/* What says that the rest of the sentence is not wanted. */
static const char *const REFUSALS[] = {
	"we do not want",    "we don't want",  "we don\xe2\x80\x99t want",
	"i do not want",     "i don't want",   "i don\xe2\x80\x99t want",
	"not interested in", "no interest in", "not looking for",
	"excluding ",
};

#define PAGE_WORD_ROOM 24

static bool begins_with(const char *text, const char *mark)
{
	return strncasecmp(text, mark, strlen(mark)) == 0;
}

/* The one of `marks` that `text` begins with; NULL: none. */
static const char *mark_at(const char *text, const char *const *marks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with(text, marks[i]))
			return marks[i];
	return NULL;
}

static bool is_inside_word(const char *text, const char *at)
{
	return at > text && isalnum((unsigned char)at[-1]);
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_page_word(const char *word, size_t length)
{
	char framed[PAGE_WORD_ROOM];
	if (length > PAGE_WORD_ROOM - 3)
		return false;
	framed[0] = ' ';
	for (size_t i = 0; i < length; i++)
		framed[i + 1] = (char)tolower((unsigned char)word[i]);
	framed[length + 1] = ' ';
	framed[length + 2] = '\0';
	return strstr(PAGE_WORDS, framed) != NULL;
}

/* Add the words of a path of `length` bytes; bare numbers are none. */
static void add_path(struct buf *out, const char *path, size_t length)
{
	for (size_t at = 0, end; at < length; at = end + 1) {
		for (end = at; end < length && is_word_char(path[end]);)
			end++;
		size_t digits = strspn(path + at, "0123456789v");
		if (end - at < 2 || digits >= end - at || is_page_word(path + at, end - at))
			continue;
		buf_puts(out, " ");
		buf_add(out, path + at, end - at);
	}
}

/* Add what the address says that begins at `text` with `scheme`; where it ends. */
static const char *add_address(struct buf *out, const char *text, const char *scheme)
{
	const char *host = text + strlen(scheme);
	const char *end = host + strcspn(host, " \t\r\n<>\"()[]{}|,");
	if (scheme[strlen(scheme) - 1] == ':') /* an id */
		return end;
	size_t path_length = strcspn(host, "?#");
	const char *path = host + strcspn(host, "/");
	const char *path_end = MIN_OF(host + path_length, end);
	if (path < path_end && mark_at(host, OWNED_HOSTS, ARRAY_LEN(OWNED_HOSTS))) {
		const char *rest = memchr(path + 1, '/', (size_t)(path_end - path - 1));
		path = rest ? rest : path;
	}
	if (path < path_end)
		add_path(out, path, (size_t)(path_end - path));
	buf_puts(out, " ");
	return end;
}

static const char *without_addresses(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	for (const char *at = text; *at;) {
		const char *scheme =
			is_inside_word(text, at) ? NULL : mark_at(at, SCHEMES, ARRAY_LEN(SCHEMES));
		if (scheme)
			at = add_address(&out, at, scheme);
		else
			buf_add(&out, at++, 1);
	}
	return out.data;
}

/* Where what is refused from `text` on ends. */
static const char *refusal_end(const char *text)
{
	for (; *text; text++) {
		if (strchr(";\n!?", *text) || begins_with(text, " but "))
			return text;
		if (*text == '.' && (text[1] == '\0' || isspace((unsigned char)text[1])))
			return text;
	}
	return text;
}

static const char *without_refusals(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	for (const char *at = text; *at;) {
		if (!is_inside_word(text, at) && mark_at(at, REFUSALS, ARRAY_LEN(REFUSALS)))
			at = refusal_end(at);
		else
			buf_add(&out, at++, 1);
	}
	return out.data;
}

static const char *without_function_words(struct arena *arena, const char *text)
{
	const struct language *language = language_of(text);
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

const char *subject_of(struct arena *arena, const char *text)
{
	const char *subject = without_addresses(arena, text);
	subject = without_refusals(arena, subject);
	subject = without_function_words(arena, subject);
	return has_word(subject) ? subject : text;
}
