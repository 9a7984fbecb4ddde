#include "engine/text/latex.h"

#include "base/base.h"

#include <stdbool.h>
#include <string.h>

/* Commands that format text and carry no meaning; the most used ones first. */
static const char *const formatting[] = {
	"mathcal",
	"mathbb",
	"mathrm",
	"mathbf",
	"text",
	"textit",
	"textbf",
	"emph",
	"textsc",
	"texttt",
	"mathsf",
	"mathit",
	"mathfrak",
	"mathscr",
	"bm",
	"boldsymbol",
	"left",
	"right",
	"frac",
	"dfrac",
	"tfrac",
	"sqrt",
	"hat",
	"widehat",
	"tilde",
	"widetilde",
	"bar",
	"overline",
	"vec",
	"dot",
	"ddot",
	"operatorname",
	"big",
	"Big",
	"bigg",
	"Bigg",
	"bigl",
	"bigr",
	"quad",
	"qquad",
	"cite",
	"citep",
	"citet",
	"ref",
	"label",
	"footnote",
	"href",
	"url",
	"times",
	"cdot",
	"ldots",
	"cdots",
	"dots",
	"le",
	"ge",
	"leq",
	"geq",
	"neq",
	"in",
	"sim",
	"approx",
	"rightarrow",
	"to",
	"mathop",
	"textrm",
	"textsf",
	"underline",
	"limits",
	"displaystyle",
	"ensuremath",
	"textsuperscript",
	"textsubscript",
	"it",
	"bf",
	"em",
	"rm",
	"tt",
	"sc",
	"xspace",
	"langle",
	"rangle",
	"lfloor",
	"rfloor",
	"lceil",
	"rceil",
	"mid",
	"begin",
	"end",
	"mbox",
	"small",
	"large",
	"newline",
	"linebreak",
	"item",
	"noindent",
};

struct letter {
	const char *name;
	const char *text;
};

static const struct letter special[] = {
	{"o", "o"},   {"O", "O"},   {"l", "l"},   {"L", "L"},   {"i", "i"},   {"j", "j"},
	{"ss", "ss"}, {"ae", "ae"}, {"AE", "AE"}, {"oe", "oe"}, {"OE", "OE"}, {"aa", "a"},
	{"AA", "A"},  {"dj", "d"},  {"DJ", "D"},  {"th", "th"}, {"dh", "d"},
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && memcmp(name, text, length) == 0;
}

static bool is_formatting(const char *text, size_t length)
{
	for (size_t i = 0; i < ARRAY_LEN(formatting); i++)
		if (is_name(formatting[i], text, length))
			return true;
	return false;
}

/* Whether the command is an accent that is named by a letter, such as `\c{c}`. Only the form with a
 * brace is recognised. */
static bool is_letter_accent(const char *text, size_t name_length, size_t length)
{
	return name_length == 1 && strchr("cvuHkrdbt", text[0]) && length > 1 && text[1] == '{';
}

/* The end of the command whose name ends at `at`, including one space or empty group after it. */
static size_t command_end(const char *text, size_t at, size_t length)
{
	if (at + 1 < length && text[at] == '{' && text[at + 1] == '}')
		return at + 2;
	return at < length && text[at] == ' ' ? at + 1 : at;
}

static struct latex parse_sign(char sign)
{
	struct latex result = {.kind = LATEX_BREAK, .length = 2};
	if (strchr("'`^\"~=.", sign))
		result.kind = LATEX_ACCENT;
	else if (sign == '_')
		result.kind = LATEX_UNDERSCORE;
	return result;
}

struct latex latex_parse(const char *text, size_t length)
{
	struct latex result = {.kind = LATEX_BREAK, .length = 1};
	size_t name = 0;
	if (length < 2 || text[1] == '\0' || (unsigned char)text[1] >= 0x80)
		return result;
	if (!is_letter(text[1]))
		return parse_sign(text[1]);
	while (1 + name < length && is_letter(text[1 + name]))
		name++;
	result.length = 1 + name;
	if (is_letter_accent(text + 1, name, length - 1)) {
		result.kind = LATEX_ACCENT;
		return result;
	}
	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		if (!is_name(special[i].name, text + 1, name))
			continue;
		result.kind = LATEX_LETTER;
		result.text = special[i].text;
		result.text_length = strlen(result.text);
		result.length = command_end(text, result.length, length);
		return result;
	}
	if (is_formatting(text + 1, name))
		return result;
	result.kind = LATEX_WORD;
	result.text = text + 1;
	result.text_length = name;
	return result;
}
