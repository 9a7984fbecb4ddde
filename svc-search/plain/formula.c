#include "plain/formula.h"

#include "base/base.h"
#include "plain/symbols.h"

#include <string.h>

/* Groups in groups; a formula with more is not said. */
#define DEPTH_MAX 20

struct formula {
	struct buf *out;
	int depth;
};

static bool say(struct formula *formula, struct reader reader);

void formula_add_character(struct buf *out, uint32_t code)
{
	char bytes[4];
	static const unsigned char LEAD[] = {0, 0, 0xC0, 0xE0, 0xF0};
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = size; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3F));
	bytes[0] = (char)(LEAD[size] | code);
	buf_add(out, bytes, size);
}

bool formula_say_script(struct buf *out, const char *text, size_t length, bool is_super)
{
	struct reader reader = {text, text + length};
	while (!reader_is_over(&reader)) {
		uint32_t code;
		reader_character(&reader, &code);
		if (code == ' ')
			continue;
		code = is_super ? symbol_superscript(code) : symbol_subscript(code);
		if (code == 0)
			return false;
		formula_add_character(out, code);
	}
	return length > 0;
}

/* Say the argument at the reader, a group, a command or a character, apart from the rest. */
static bool say_argument(struct formula *formula, struct reader *reader, struct buf *ret_said)
{
	struct formula inner = {ret_said, formula->depth + 1};
	struct reader argument;
	uint32_t code;
	*ret_said = (struct buf){.arena = formula->out->arena};
	reader_skip_spaces(reader);
	if (reader_is_over(reader))
		return false;
	const char *begin = reader->at;
	const char *name;
	size_t length;
	if (*begin == '{') {
		if (!reader_group(reader, &argument))
			return false;
	} else if (*begin == '\\') {
		if (!reader_command(reader, &name, &length))
			return false;
		argument = (struct reader){begin, reader->at};
	} else {
		reader_character(reader, &code);
		argument = (struct reader){begin, reader->at};
	}
	buf_puts(ret_said, "");
	return say(&inner, argument);
}

static size_t count_characters(const struct buf *text)
{
	size_t count = 0;
	for (size_t i = 0; i < text->length; i++)
		count += ((unsigned char)text->data[i] & 0xC0) != 0x80;
	return count;
}

static bool say_script(struct formula *formula, struct reader *reader, bool is_super)
{
	/* Signs that stand above the line by themselves. */
	static const char *const RAISED[][2] = {
		{"∘", "°"}, {"*", "*"}, {"∗", "*"}, {"⋆", "⋆"}, {"′", "′"}, {"†", "†"}, {"⊤", "ᵀ"},
	};
	struct buf said;
	reader->at++;
	if (!say_argument(formula, reader, &said))
		return false;
	for (size_t i = 0; is_super && i < ARRAY_LEN(RAISED); i++) {
		if (strcmp(said.data, RAISED[i][0]) == 0) {
			buf_puts(formula->out, RAISED[i][1]);
			return true;
		}
	}
	return formula_say_script(formula->out, said.data, said.length, is_super);
}

static bool say_root(struct formula *formula, struct reader *reader)
{
	struct buf said;
	if (reader_peek(reader, 0) == '[' || !say_argument(formula, reader, &said))
		return false;
	buf_puts(formula->out, "√");
	bool is_single = count_characters(&said) == 1;
	buf_printf(formula->out, is_single ? "%s" : "(%s)", said.data);
	return said.length > 0;
}

static void add_operand(struct formula *formula, const struct buf *said)
{
	bool is_plain = !strpbrk(said->data, " +-=/,");
	buf_printf(formula->out, is_plain ? "%s" : "(%s)", said->data);
}

static bool say_fraction(struct formula *formula, struct reader *reader)
{
	struct buf upper, lower;
	if (!say_argument(formula, reader, &upper) || !say_argument(formula, reader, &lower) ||
	    !upper.length || !lower.length)
		return false;
	add_operand(formula, &upper);
	buf_puts(formula->out, "/");
	add_operand(formula, &lower);
	return true;
}

/* Say the argument in another alphabet; a character that it does not have, as it is. */
static bool say_alphabet(struct formula *formula, struct reader *reader,
                         uint32_t (*of_alphabet)(uint32_t code))
{
	struct buf said;
	if (!say_argument(formula, reader, &said))
		return false;
	struct reader letters = {said.data, said.data + said.length};
	while (!reader_is_over(&letters)) {
		uint32_t code;
		reader_character(&letters, &code);
		uint32_t other = of_alphabet(code);
		formula_add_character(formula->out, other ? other : code);
	}
	return true;
}

static bool say_double(struct formula *formula, struct reader *reader)
{
	return say_alphabet(formula, reader, symbol_double_struck);
}

static uint32_t same(uint32_t code)
{
	return code;
}

/* Other alphabets are not told apart: \mathcal{O}. */
static bool say_letters(struct formula *formula, struct reader *reader)
{
	return say_alphabet(formula, reader, same);
}

static bool say_space(struct formula *formula, struct reader *reader)
{
	(void)reader;
	buf_puts(formula->out, " ");
	return true;
}

static bool say_nothing(struct formula *formula, struct reader *reader)
{
	(void)formula;
	reader_skip_spaces(reader);
	return true;
}

static bool say_accent(struct formula *formula, struct reader *reader, const char *mark)
{
	struct buf said;
	if (!say_argument(formula, reader, &said) || count_characters(&said) != 1)
		return false;
	buf_printf(formula->out, "%s%s", said.data, mark);
	return true;
}

/* A function's name is a word of its own: `n\log n` is "n log n". */
static void add_function(struct formula *formula, const char *name, size_t length)
{
	const struct buf *out = formula->out;
	char last = out->length ? out->data[out->length - 1] : ' ';
	if (!strchr(" ([{/,-+=", last))
		buf_puts(formula->out, " ");
	buf_add(formula->out, name, length);
}

/* A command whose name is a sign. */
static bool say_sign(struct formula *formula, char sign)
{
	if (strchr("{}%&#_$", sign))
		buf_add(formula->out, &sign, 1);
	else if (strchr(" ,;:>", sign))
		buf_puts(formula->out, " ");
	else if (sign == '|')
		buf_puts(formula->out, "‖");
	else
		return sign == '!' || sign == '/';
	return true;
}

static const char *const ALPHABETS[] = {
	"mathcal", "mathscr",      "mathfrak",   "mathbf",     "mathrm", "mathit",
	"mathsf",  "mathtt",       "mathnormal", "boldsymbol", "bm",     "text",
	"textrm",  "textbf",       "textit",     "texttt",     "textsf", "textnormal",
	"mbox",    "operatorname", "ensuremath", "emph",       "hbox",   NULL,
};
static const char *const DOUBLE[] = {"mathbb", "mathds", "Bbb", "mathbbm", NULL};
static const char *const SILENT[] = {
	"left", "right", "big",  "Big",          "bigg",      "Bigg",   "bigl",
	"bigr", "Bigl",  "Bigr", "displaystyle", "textstyle", "limits", "nolimits",
	"rm",   "bf",    "it",   "cal",          "xspace",    NULL,
};
static const char *const SPACES[] = {"quad", "qquad", NULL};
static const char *const FRACTIONS[] = {"frac", "dfrac", "tfrac", "nicefrac", "sfrac", NULL};
static const char *const ROOTS[] = {"sqrt", NULL};

static const struct {
	const char *const *names;
	bool (*say)(struct formula *formula, struct reader *reader);
} COMMANDS[] = {
	{FRACTIONS, say_fraction}, {ROOTS, say_root},   {ALPHABETS, say_letters},
	{DOUBLE, say_double},      {SPACES, say_space}, {SILENT, say_nothing},
};

static bool say_command(struct formula *formula, struct reader *reader)
{
	const char *name, *text;
	size_t length;
	if (!reader_command(reader, &name, &length))
		return false;
	if (!reader_is_letter(*name))
		return say_sign(formula, *name);
	if ((text = symbol_math_accent(name, length)))
		return say_accent(formula, reader, text);
	for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++)
		if (reader_name_is_in(name, length, COMMANDS[i].names))
			return COMMANDS[i].say(formula, reader);
	if (symbol_is_function(name, length)) {
		add_function(formula, name, length);
		return true;
	}
	text = symbol_find(name, length);
	if (text)
		buf_puts(formula->out, text);
	return text;
}

static bool say_group(struct formula *formula, struct reader *reader)
{
	struct reader group;
	struct formula inner = {formula->out, formula->depth + 1};
	return reader_group(reader, &group) && say(&inner, group);
}

static bool say_next(struct formula *formula, struct reader *reader)
{
	uint32_t code;
	switch (*reader->at) {
	case '\\':
		return say_command(formula, reader);
	case '{':
		return say_group(formula, reader);
	case '^':
	case '_':
		return say_script(formula, reader, *reader->at == '^');
	case '\'':
		buf_puts(formula->out, "′");
		reader->at++;
		return true;
	case '~':
		buf_puts(formula->out, " ");
		reader->at++;
		return true;
	case '}':
	case '&':
	case '%':
	case '#':
	case '$':
		return false;
	default:
		reader_character(reader, &code);
		formula_add_character(formula->out, code);
		return true;
	}
}

static bool say(struct formula *formula, struct reader reader)
{
	bool is_said = formula->depth <= DEPTH_MAX;
	while (is_said && !reader_is_over(&reader))
		is_said = say_next(formula, &reader);
	return is_said;
}

bool formula_say(struct buf *out, struct reader formula)
{
	return say(&(struct formula){.out = out}, formula);
}
