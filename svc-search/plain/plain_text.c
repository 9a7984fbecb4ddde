#include "plain/plain_text.h"

#include "base/base.h"
#include "plain/formula.h"
#include "plain/normal_form.h"
#include "plain/reader.h"
#include "plain/symbols.h"

#include <ctype.h>
#include <libxml/HTMLparser.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX     20   /* groups in groups; deeper ones stay as they are */
#define FORMULA_MAX   2000 /* bytes of the longest formula */
#define REFERENCE_MAX 12   /* bytes of the longest reference of HTML */

struct plain {
	struct reader reader;
	struct buf out;
	int depth;
	bool is_quoted; /* behind "``" */
};

static void say(struct plain *plain);
static bool is_special(char c);

static void add(struct plain *plain, const char *begin, const char *end)
{
	buf_add(&plain->out, begin, (size_t)(end - begin));
}

static char last_byte(const struct plain *plain)
{
	return plain->out.length ? plain->out.data[plain->out.length - 1] : ' ';
}

/* Say a part of the text by itself. */
static struct buf say_apart(const struct plain *plain, struct reader part)
{
	struct plain inner = {.reader = part, .depth = plain->depth + 1};
	inner.out.arena = plain->out.arena;
	buf_puts(&inner.out, "");
	if (inner.depth > DEPTH_MAX)
		add(&inner, part.at, part.end);
	else
		say(&inner);
	return inner.out;
}

/* Read the group of an argument; false: there is none. */
static bool read_argument(struct plain *plain, struct reader *ret_group)
{
	return reader_peek(&plain->reader, 0) == '{' && reader_group(&plain->reader, ret_group);
}

/* --- Commands --------------------------------------------------------------------------------- */

/* Read the letter of an accent: a character, or \i and \j, which have no dot of their own. */
static bool read_accented(struct reader *reader, struct buf *out)
{
	const char *name;
	size_t length;
	uint32_t code;
	char c = reader_peek(reader, 0);
	if (c == '\\') {
		if (!reader_command(reader, &name, &length))
			return false;
		const char *letter = symbol_letter(name, length);
		if (length == 1 && (*name == 'i' || *name == 'j'))
			buf_add(out, name, 1);
		else if (letter)
			buf_puts(out, letter);
		else
			return false;
		reader_skip_spaces(reader);
		return true;
	}
	if (!reader_is_letter(c) && (unsigned char)c < 0x80)
		return false;
	const char *begin = reader->at;
	size_t size = reader_character(reader, &code);
	buf_add(out, begin, size);
	return true;
}

/* Say an accent: `\'e`, `\'{e}`, `\v z`. False: there is no letter; the reader is then anywhere. */
static bool say_accent(struct plain *plain, char sign, const char *mark)
{
	struct reader group;
	reader_skip_spaces(&plain->reader);
	if (!read_argument(plain, &group)) {
		if (!read_accented(&plain->reader, &plain->out))
			return false;
		buf_puts(&plain->out, mark);
		return true;
	}
	reader_skip_spaces(&group);
	if (reader_is_over(&group) && strchr("~^", sign)) {
		buf_add(&plain->out, &sign, 1);
		return true;
	}
	if (!read_accented(&group, &plain->out))
		return false;
	buf_puts(&plain->out, mark);
	struct buf rest = say_apart(plain, group);
	buf_add(&plain->out, rest.data, rest.length);
	return true;
}

static bool say_sign(struct plain *plain, char sign)
{
	if (strchr("&%$#_{}", sign))
		buf_add(&plain->out, &sign, 1);
	else if (strchr(" ,;:\\", sign))
		buf_puts(&plain->out, " ");
	else
		return strchr("!-/@", sign);
	return true;
}

/* Say a command that prints its argument: `\emph{x}`, `\href{address}{x}`. */
static bool say_format(struct plain *plain, const char *name, size_t length)
{
	static const char *const FORMATS[] = {
		"emph",      "textit", "textbf",     "textsc",     "texttt", "textrm", "textsf",
		"textsl",    "textup", "textmd",     "textnormal", "text",   "mbox",   "hbox",
		"mathrm",    "mathbf", "mathit",     "mathsf",     "mathtt", "uline",  "underline",
		"uppercase", "url",    "ensuremath", "mathcal",    NULL,
	};
	static const char *const SCRIPTS[] = {"textsuperscript", "textsubscript", NULL};
	struct reader group;
	bool is_link = length == 4 && memcmp(name, "href", 4) == 0;
	bool is_script = reader_name_is_in(name, length, SCRIPTS);
	if (!is_link && !is_script && !reader_name_is_in(name, length, FORMATS))
		return false;
	if (is_link && !read_argument(plain, &group))
		return false;
	if (!read_argument(plain, &group))
		return false;
	struct buf said = say_apart(plain, group);
	struct buf script = {.arena = plain->out.arena};
	buf_puts(&script, "");
	if (is_script && formula_say_script(&script, said.data, said.length, name[6] == 'p'))
		said = script;
	buf_add(&plain->out, said.data, said.length);
	return true;
}

/* Say a command of letters. False: it is unknown. */
static bool say_name(struct plain *plain, const char *name, size_t length)
{
	static const char *const SWITCHES[] = {"it",       "bf",      "em",     "rm",      "tt",
	                                       "sc",       "sl",      "sf",     "small",   "large",
	                                       "bfseries", "itshape", "xspace", "protect", NULL};
	struct reader *reader = &plain->reader;
	const char *text = symbol_letter(name, length);
	if (text) {
		buf_puts(&plain->out, text);
		if (reader_peek(reader, 0) == '{' && reader_peek(reader, 1) == '}')
			reader->at += 2;
		else
			reader_skip_spaces(reader);
		return true;
	}
	if (length == 1 && (text = symbol_text_accent(name, length)))
		return say_accent(plain, *name, text);
	if (reader_name_is_in(name, length, SWITCHES)) {
		reader_skip_spaces(reader);
		return true;
	}
	text = symbol_find(name, length);
	if (!text && (length == 3 || length == 5) && memcmp(name + length - 3, "TeX", 3) == 0)
		text = length == 3 ? "TeX" : memcmp(name, "La", 2) == 0 ? "LaTeX" : NULL;
	if (!text)
		return say_format(plain, name, length);
	buf_puts(&plain->out, text);
	if (reader_peek(reader, 0) == '{' && reader_peek(reader, 1) == '}')
		reader->at += 2;
	return true;
}

/* Copy the command at `begin`, which is unknown, with its arguments. */
static void copy_command(struct plain *plain, const char *begin)
{
	const char *name;
	size_t length;
	struct reader group;
	plain->reader.at = begin;
	reader_command(&plain->reader, &name, &length);
	while (length && reader_is_letter(*name) && read_argument(plain, &group))
		continue;
	add(plain, begin, plain->reader.at);
}

static bool say_formula(struct plain *plain, const char *begin, const char *close);

static void say_command(struct plain *plain)
{
	const char *begin = plain->reader.at, *name, *mark;
	size_t length, before = plain->out.length;
	if (!reader_command(&plain->reader, &name, &length)) {
		add(plain, begin, plain->reader.at);
		return;
	}
	bool is_said;
	if (reader_is_letter(*name))
		is_said = say_name(plain, name, length);
	else if (*name == '(' || *name == '[')
		is_said = say_formula(plain, begin, *name == '(' ? "\\)" : "\\]");
	else if ((mark = symbol_text_accent(name, length)))
		is_said = say_accent(plain, *name, mark);
	else
		is_said = say_sign(plain, *name);
	if (is_said)
		return;
	plain->out.length = before;
	copy_command(plain, begin);
}

/* --- Formulas --------------------------------------------------------------------------------- */

static bool has_any(struct reader text, const char *signs)
{
	for (; !reader_is_over(&text); text.at++)
		if (strchr(signs, *text.at))
			return true;
	return false;
}

/* Whether the text between dollar signs is a formula, and not between two prices: it does not begin
 * or end with a space, unless it has a command, and no digit follows (the rules of Pandoc); nor is
 * it a number and words. */
static bool is_formula(struct reader inner, char next)
{
	if (reader_is_over(&inner) || (next >= '0' && next <= '9'))
		return false;
	bool is_padded = *inner.at == ' ' || inner.end[-1] == ' ';
	bool is_number = *inner.at >= '0' && *inner.at <= '9';
	if (is_number && has_any(inner, " ") && !has_any(inner, "\\^_=<>+*/"))
		return false;
	return !is_padded || has_any(inner, "\\");
}

/* Say the formula from the reader up to `close`; it begins at `begin`. False: there is no end, or
 * it cannot be said. */
static bool say_formula(struct plain *plain, const char *begin, const char *close)
{
	struct reader *reader = &plain->reader;
	size_t room = MIN_OF((size_t)(reader->end - reader->at), (size_t)FORMULA_MAX);
	size_t close_length = strlen(close);
	const char *end = reader->at, *limit = reader->at + room;
	while (end + close_length <= limit && memcmp(end, close, close_length) != 0)
		end += *end == '\\' && end + 1 < limit ? 2 : 1;
	if (end + close_length > limit)
		return false;
	struct reader inner = {reader->at, end};
	struct reader after = {end + close_length, reader->end};
	struct buf said = {.arena = plain->out.arena};
	if (*close == '$' && !is_formula(inner, reader_peek(&after, 0)))
		return false;
	buf_puts(&said, "");
	if (formula_say(&said, inner) && said.length)
		buf_add(&plain->out, said.data, said.length);
	else
		add(plain, begin, after.at);
	reader->at = after.at;
	return true;
}

static void say_dollar(struct plain *plain)
{
	const char *begin = plain->reader.at;
	bool is_display = reader_peek(&plain->reader, 1) == '$';
	plain->reader.at += is_display ? 2 : 1;
	if (say_formula(plain, begin, is_display ? "$$" : "$"))
		return;
	add(plain, begin, plain->reader.at);
}

/* --- Signs ------------------------------------------------------------------------------------ */

static bool is_word_byte(char c)
{
	return reader_is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Whether braces only protect capitals, as in {BERT} or {B}ayesian; {n} and {a, b} are sets. */
static bool is_protected(const struct plain *plain, struct reader group)
{
	bool has_capital = false;
	for (const char *at = group.at; at < group.end; at++) {
		if (!is_word_byte(*at) && *at != '-' && *at != ' ')
			return false;
		has_capital |= (*at >= 'A' && *at <= 'Z') || (unsigned char)*at >= 0x80;
	}
	return has_capital && (group.end - group.at > 1 || is_word_byte(last_byte(plain)) ||
	                       is_word_byte(reader_peek(&plain->reader, 0)));
}

static void say_group(struct plain *plain)
{
	struct reader group;
	if (!reader_group(&plain->reader, &group)) {
		buf_add(&plain->out, plain->reader.at++, 1);
		return;
	}
	struct buf said = say_apart(plain, group);
	bool is_command = reader_peek(&group, 0) == '\\' && !strchr(said.data, '\\') &&
	                  !strchr("{}", reader_peek(&group, 1));
	bool is_bare = is_command || is_protected(plain, group);
	buf_printf(&plain->out, is_bare ? "%s" : "{%s}", said.data);
}

/* A tie is a space between words: `Fig.~2`; not in an address or before a number: "~100". */
static void say_tie(struct plain *plain)
{
	char before = last_byte(plain), after = reader_peek(&plain->reader, 1);
	bool is_tie = before != ' ' && before != '/' && before != '(' && after != ' ' && after;
	buf_puts(&plain->out, is_tie ? " " : "~");
	plain->reader.at++;
}

/* Hyphens that are dashes: between words or spaces, not of an option such as `--help`. */
static void say_hyphens(struct plain *plain)
{
	size_t count = 1;
	while (reader_peek(&plain->reader, count) == '-')
		count++;
	char before = last_byte(plain), after = reader_peek(&plain->reader, count);
	bool is_dash = (count == 2 || count == 3) && (before == ' ') == (after == ' ' || !after);
	if (is_dash)
		buf_puts(&plain->out, count == 2 ? "–" : "—");
	else
		add(plain, plain->reader.at, plain->reader.at + count);
	plain->reader.at += count;
}

static void say_quote(struct plain *plain)
{
	char sign = *plain->reader.at;
	bool is_double = reader_peek(&plain->reader, 1) == sign;
	if (sign == '`' && is_double) {
		buf_puts(&plain->out, "“");
		plain->is_quoted = true;
	} else if (is_double && plain->is_quoted) {
		buf_puts(&plain->out, "”");
		plain->is_quoted = false;
	} else {
		buf_add(&plain->out, &sign, 1);
		is_double = false;
	}
	plain->reader.at += is_double ? 2 : 1;
}

/* The character of a reference's content: "amp", "#233", "#xE9"; 0: there is none. */
static uint32_t referenced(const char *name)
{
	char *end;
	if (*name != '#') {
		const htmlEntityDesc *entity = htmlEntityLookup((const xmlChar *)name);
		return entity ? entity->value : 0;
	}
	bool is_hex = name[1] == 'x' || name[1] == 'X';
	const char *digits = name + (is_hex ? 2 : 1);
	if (!isxdigit((unsigned char)*digits))
		return 0;
	unsigned long code = strtoul(digits, &end, is_hex ? 16 : 10);
	if (*end || code < 0x20 || (code >= 0x7F && code < 0xA0) || code > 0x10FFFF ||
	    (code >= 0xD800 && code < 0xE000))
		return 0;
	return (uint32_t)code;
}

static void say_reference(struct plain *plain)
{
	struct reader *reader = &plain->reader;
	size_t room = MIN_OF((size_t)(reader->end - reader->at), (size_t)REFERENCE_MAX);
	const char *end = memchr(reader->at, ';', room);
	uint32_t code = 0;
	if (end) {
		char name[REFERENCE_MAX];
		size_t length = (size_t)(end - reader->at) - 1;
		memcpy(name, reader->at + 1, length);
		name[length] = '\0';
		code = referenced(name);
	}
	if (code == 0xA0)
		code = ' ';
	if (code)
		formula_add_character(&plain->out, code);
	else
		buf_puts(&plain->out, "&");
	reader->at = code ? end + 1 : reader->at + 1;
}

static bool is_address(const struct plain *plain)
{
	static const char *const BEGINS[] = {"http://", "https://", "www."};
	size_t left = (size_t)(plain->reader.end - plain->reader.at);
	for (size_t i = 0; i < ARRAY_LEN(BEGINS); i++) {
		size_t length = strlen(BEGINS[i]);
		if (left > length && memcmp(plain->reader.at, BEGINS[i], length) == 0)
			return !is_word_byte(last_byte(plain));
	}
	return false;
}

/* Copy an address, in which LaTeX escapes signs: `\_`, `\~{}`. */
static void say_address(struct plain *plain)
{
	struct reader *reader = &plain->reader;
	while (!reader_is_over(reader) && !strchr(" {}<>\"", *reader->at)) {
		bool is_escaped = *reader->at == '\\' && reader_peek(reader, 1) &&
		                  strchr("_%#&~$", reader_peek(reader, 1));
		reader->at += is_escaped;
		bool is_tilde = is_escaped && *reader->at == '~' && reader_peek(reader, 1) == '{' &&
		                reader_peek(reader, 2) == '}';
		buf_add(&plain->out, reader->at, 1);
		reader->at += is_tilde ? 3 : 1;
	}
}

/* Copy up to the next byte that may begin something else than itself. */
static void say_run(struct plain *plain)
{
	struct reader *reader = &plain->reader;
	const char *begin = reader->at++;
	while (!reader_is_over(reader) && !is_special(*reader->at))
		reader->at++;
	add(plain, begin, reader->at);
}

static void say_word(struct plain *plain)
{
	if (is_address(plain))
		say_address(plain);
	else
		say_run(plain);
}

/* By the byte with which it begins. NULL: the byte stands for itself. */
static void (*const SAY[UCHAR_MAX + 1])(struct plain *plain) = {
	['\\'] = say_command, ['$'] = say_dollar,  ['{'] = say_group, ['&'] = say_reference,
	['~'] = say_tie,      ['-'] = say_hyphens, ['`'] = say_quote, ['\''] = say_quote,
	['h'] = say_word,     ['w'] = say_word,
};

static bool is_special(char c)
{
	return SAY[(unsigned char)c];
}

static void say(struct plain *plain)
{
	while (!reader_is_over(&plain->reader)) {
		char c = *plain->reader.at;
		if (is_special(c))
			SAY[(unsigned char)c](plain);
		else
			say_run(plain);
	}
}

/* --- Whole texts ------------------------------------------------------------------------------ */

static bool has_markup(const char *text)
{
	return strpbrk(text, "\\${&~`") || strstr(text, "--");
}

static const char *convert(struct arena *arena, const char *text)
{
	size_t length = strlen(text);
	if (!has_markup(text))
		return normal_form(arena, text, length);
	struct plain plain = {.reader = {text, text + length}, .out = {.arena = arena}};
	buf_puts(&plain.out, "");
	say(&plain);
	return normal_form(arena, plain.out.data, plain.out.length);
}

const char *plain_text(struct arena *arena, const char *source)
{
	const char *text = convert(arena, source);
	if (text == source)
		return source;
	char *out = arena_alloc(arena, strlen(text) + 1);
	size_t length = 0;
	for (; *text; text++)
		if (*text != ' ' || (length && out[length - 1] != ' '))
			out[length++] = *text;
	if (length && out[length - 1] == ' ')
		length--;
	out[length] = '\0';
	return length && strcmp(out, source) != 0 ? out : source;
}
