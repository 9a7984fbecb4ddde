#include "engine/text/fold.h"

#include "base/base.h"

#include <string.h>

/* Folded forms of U+00C0 to U+024F and U+1E00 to U+1EFF: the base letters of Unicode's
 * compatibility decomposition (UnicodeData.txt), or the usual Latin spelling for letters without a
 * decomposition. An empty string is a break. */
static const char latin_low[][3] = {
	"a",  "a",  "a",  "a", "a", "a",  "ae", "c",  "e",  "e",  "e",  "e",  "i",  "i",  "i",
	"i",  "d",  "n",  "o", "o", "o",  "o",  "o",  "",   "o",  "u",  "u",  "u",  "u",  "y",
	"th", "ss", "a",  "a", "a", "a",  "a",  "a",  "ae", "c",  "e",  "e",  "e",  "e",  "i",
	"i",  "i",  "i",  "d", "n", "o",  "o",  "o",  "o",  "o",  "",   "o",  "u",  "u",  "u",
	"u",  "y",  "th", "y", "a", "a",  "a",  "a",  "a",  "a",  "c",  "c",  "c",  "c",  "c",
	"c",  "c",  "c",  "d", "d", "d",  "d",  "e",  "e",  "e",  "e",  "e",  "e",  "e",  "e",
	"e",  "e",  "g",  "g", "g", "g",  "g",  "g",  "g",  "g",  "h",  "h",  "h",  "h",  "i",
	"i",  "i",  "i",  "i", "i", "i",  "i",  "i",  "i",  "ij", "ij", "j",  "j",  "k",  "k",
	"k",  "l",  "l",  "l", "l", "l",  "l",  "l",  "l",  "l",  "l",  "n",  "n",  "n",  "n",
	"n",  "n",  "n",  "n", "n", "o",  "o",  "o",  "o",  "o",  "o",  "oe", "oe", "r",  "r",
	"r",  "r",  "r",  "r", "s", "s",  "s",  "s",  "s",  "s",  "s",  "s",  "t",  "t",  "t",
	"t",  "t",  "t",  "u", "u", "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",
	"w",  "w",  "y",  "y", "y", "z",  "z",  "z",  "z",  "z",  "z",  "s",  "",   "",   "",
	"",   "",   "",   "",  "",  "",   "",   "",   "",   "",   "",   "",   "e",  "",   "",
	"f",  "",   "",   "",  "",  "",   "",   "",   "",   "",   "",   "",   "",   "",   "o",
	"o",  "",   "",   "",  "",  "",   "",   "",   "",   "",   "",   "",   "",   "",   "u",
	"u",  "",   "",   "",  "",  "",   "",   "",   "",   "",   "",   "",   "",   "",   "",
	"",   "",   "",   "",  "",  "dz", "dz", "dz", "lj", "lj", "lj", "nj", "nj", "nj", "a",
	"a",  "i",  "i",  "o", "o", "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",
	"",   "a",  "a",  "a", "a", "",   "",   "",   "",   "g",  "g",  "k",  "k",  "o",  "o",
	"o",  "o",  "",   "",  "j", "dz", "dz", "dz", "g",  "g",  "",   "",   "n",  "n",  "a",
	"a",  "",   "",   "",  "",  "a",  "a",  "a",  "a",  "e",  "e",  "e",  "e",  "i",  "i",
	"i",  "i",  "o",  "o", "o", "o",  "r",  "r",  "r",  "r",  "u",  "u",  "u",  "u",  "s",
	"s",  "t",  "t",  "",  "",  "h",  "h",  "",   "",   "",   "",   "",   "",   "a",  "a",
	"e",  "e",  "o",  "o", "o", "o",  "o",  "o",  "o",  "o",  "y",  "y",  "",   "",   "",
	"",   "",   "",   "",  "",  "",   "",   "",   "",   "",   "",   "",   "",   "",   "",
	"",   "",   "",   "",  "",  "",   "",   "",   "",   "",
};

static const char latin_additional[][3] = {
	"a", "a", "b", "b", "b", "b", "b", "b", "c", "c", "d", "d", "d", "d", "d",  "d", "d", "d",
	"d", "d", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "f", "f", "g",  "g", "h", "h",
	"h", "h", "h", "h", "h", "h", "h", "h", "i", "i", "i", "i", "k", "k", "k",  "k", "k", "k",
	"l", "l", "l", "l", "l", "l", "l", "l", "m", "m", "m", "m", "m", "m", "n",  "n", "n", "n",
	"n", "n", "n", "n", "o", "o", "o", "o", "o", "o", "o", "o", "p", "p", "p",  "p", "r", "r",
	"r", "r", "r", "r", "r", "r", "s", "s", "s", "s", "s", "s", "s", "s", "s",  "s", "t", "t",
	"t", "t", "t", "t", "t", "t", "u", "u", "u", "u", "u", "u", "u", "u", "u",  "u", "v", "v",
	"v", "v", "w", "w", "w", "w", "w", "w", "w", "w", "w", "w", "x", "x", "x",  "x", "y", "y",
	"z", "z", "z", "z", "z", "z", "h", "t", "w", "y", "a", "s", "",  "",  "ss", "",  "a", "a",
	"a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a",  "a", "a", "a",
	"a", "a", "a", "a", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e",  "e", "e", "e",
	"e", "e", "i", "i", "i", "i", "o", "o", "o", "o", "o", "o", "o", "o", "o",  "o", "o", "o",
	"o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "u", "u", "u",  "u", "u", "u",
	"u", "u", "u", "u", "u", "u", "u", "u", "y", "y", "y", "y", "y", "y", "y",  "y", "",  "",
	"",  "",  "",  "",
};

/* Code points from `first` to `last` fold to `base` plus their distance from `first`. */
struct shift {
	uint32_t first;
	uint32_t last;
	uint32_t base;
};

static const struct shift shifts[] = {
	{0x391, 0x3A9, 0x3B1},
	{0x410, 0x42F, 0x430},
	{0x400, 0x40F, 0x450},
	{0x3AC, 0x3AC, 0x3B1},
	{0x3AD, 0x3AD, 0x3B5},
	{0x3AE, 0x3AE, 0x3B7},
	{0x3AF, 0x3AF, 0x3B9},
	{0x3C2, 0x3C2, 0x3C3},
	{0x3CC, 0x3CC, 0x3BF},
	{0x3CD, 0x3CD, 0x3C5},
	{0x3CE, 0x3CE, 0x3C9},
	{0xB2, 0xB3, '2'},
	{0xB9, 0xB9, '1'},
	{0xB5, 0xB5, 0x3BC},
	{0x2070, 0x2070, '0'},
	{0x2074, 0x2079, '4'},
	{0x2080, 0x2089, '0'},
	{0xFF10, 0xFF19, '0'},
	{0xFF21, 0xFF3A, 'a'},
	{0xFF41, 0xFF5A, 'a'},
	{0x210B, 0x210B, 'h'},
	{0x2113, 0x2113, 'l'},
	{0x2102, 0x2102, 'c'},
	{0x2115, 0x2115, 'n'},
	{0x2119, 0x211A, 'p'},
	{0x211D, 0x211D, 'r'},
	{0x2124, 0x2124, 'z'},
	{0x2112, 0x2112, 'l'},
	{0x2131, 0x2131, 'f'},
	{0x1D7CE, 0x1D7D7, '0'},
	{0x1D7D8, 0x1D7E1, '0'},
	{0x210D, 0x210D, 'h'},
	/* letters as superscripts and subscripts */
	{0x2B0, 0x2B0, 'h'},
	{0x2B2, 0x2B2, 'j'},
	{0x2B3, 0x2B3, 'r'},
	{0x2B7, 0x2B7, 'w'},
	{0x2B8, 0x2B8, 'y'},
	{0x2E1, 0x2E1, 'l'},
	{0x2E2, 0x2E2, 's'},
	{0x2E3, 0x2E3, 'x'},
	{0x1D2C, 0x1D2C, 'a'},
	{0x1D2E, 0x1D2E, 'b'},
	{0x1D30, 0x1D30, 'd'},
	{0x1D31, 0x1D31, 'e'},
	{0x1D33, 0x1D33, 'g'},
	{0x1D34, 0x1D34, 'h'},
	{0x1D35, 0x1D35, 'i'},
	{0x1D36, 0x1D36, 'j'},
	{0x1D37, 0x1D37, 'k'},
	{0x1D38, 0x1D38, 'l'},
	{0x1D39, 0x1D39, 'm'},
	{0x1D3A, 0x1D3A, 'n'},
	{0x1D3C, 0x1D3C, 'o'},
	{0x1D3E, 0x1D3E, 'p'},
	{0x1D3F, 0x1D3F, 'r'},
	{0x1D40, 0x1D40, 't'},
	{0x1D41, 0x1D41, 'u'},
	{0x1D42, 0x1D42, 'w'},
	{0x1D43, 0x1D43, 'a'},
	{0x1D47, 0x1D47, 'b'},
	{0x1D48, 0x1D48, 'd'},
	{0x1D49, 0x1D49, 'e'},
	{0x1D4D, 0x1D4D, 'g'},
	{0x1D4F, 0x1D4F, 'k'},
	{0x1D50, 0x1D50, 'm'},
	{0x1D52, 0x1D52, 'o'},
	{0x1D56, 0x1D56, 'p'},
	{0x1D57, 0x1D57, 't'},
	{0x1D58, 0x1D58, 'u'},
	{0x1D5B, 0x1D5B, 'v'},
	{0x1D62, 0x1D62, 'i'},
	{0x1D63, 0x1D63, 'r'},
	{0x1D64, 0x1D64, 'u'},
	{0x1D65, 0x1D65, 'v'},
	{0x1D9C, 0x1D9C, 'c'},
	{0x1DA0, 0x1DA0, 'f'},
	{0x1DBB, 0x1DBB, 'z'},
	{0x2071, 0x2071, 'i'},
	{0x207F, 0x207F, 'n'},
	{0x2090, 0x2090, 'a'},
	{0x2091, 0x2091, 'e'},
	{0x2092, 0x2092, 'o'},
	{0x2093, 0x2093, 'x'},
	{0x2095, 0x2095, 'h'},
	{0x2096, 0x2096, 'k'},
	{0x2097, 0x2097, 'l'},
	{0x2098, 0x2098, 'm'},
	{0x2099, 0x2099, 'n'},
	{0x209A, 0x209A, 'p'},
	{0x209B, 0x209B, 's'},
	{0x209C, 0x209C, 't'},
	{0x2C7C, 0x2C7C, 'j'},
	{0x2C7D, 0x2C7D, 'v'},
};

/* Code points that fold to an ASCII sign. */
static const struct shift signs[] = {
	{0x2010, 0x2010, '-'},  {0x2011, 0x2011, '-'}, {0x2018, 0x2018, '\''},
	{0x2019, 0x2019, '\''}, {0x2BC, 0x2BC, '\''},  {0xFF0D, 0xFF0D, '-'},
	{0x2043, 0x2043, '-'},
};

struct range {
	uint32_t first;
	uint32_t last;
};

static const struct range ignored[] = {
	{0xAD, 0xAD},     {0x300, 0x36F},   {0x1AB0, 0x1AFF}, {0x200B, 0x200F},
	{0x2060, 0x2064}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
};

static const struct range ideographs[] = {
	{0x2E80, 0x2FDF}, {0x3040, 0x9FFF}, {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF},
};

static const struct range letters[] = {
	{0x250, 0x2AF},     {0x370, 0x373},   {0x376, 0x377},   {0x37B, 0x37D},   {0x37F, 0x386},
	{0x388, 0x3F5},     {0x3F7, 0x481},   {0x48A, 0x559},   {0x560, 0x588},   {0x5D0, 0x5F2},
	{0x620, 0x66F},     {0x671, 0x6D3},   {0x6EE, 0x6FF},   {0x710, 0x963},   {0x966, 0x1DFF},
	{0x1F00, 0x1FFF},   {0x2C00, 0x2DFF}, {0xA000, 0xABFF}, {0xFB50, 0xFDFF}, {0xFE70, 0xFEFC},
	{0x10000, 0x1CFFF},
};

static const char *const ligatures[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};

size_t fold_decode(const char *text, size_t length, uint32_t *ret_code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *in = (const unsigned char *)text;
	size_t size = in[0] < 0x80 ? 1 : in[0] < 0xC2 ? 0 : in[0] < 0xE0 ? 2 : in[0] < 0xF0 ? 3 : 4;
	*ret_code = 0xFFFD;
	if (size == 0 || size > length || in[0] > 0xF4)
		return 1;
	uint32_t code = size == 1 ? in[0] : in[0] & (0x7Fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((in[i] & 0xC0) != 0x80)
			return 1;
		code = code << 6 | (in[i] & 0x3F);
	}
	if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
		return 1;
	*ret_code = code;
	return size;
}

size_t fold_encode(uint32_t code, char *out)
{
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
	for (size_t i = size; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3F));
	out[0] = (char)(lead[size] | code);
	return size;
}

static bool in_ranges(const struct range *ranges, size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Whether a code point outside ASCII is a capital. In some blocks all are, in others capitals and
 * small letters alternate. */
static bool is_capital(uint32_t code)
{
	static const struct range all[] = {{0xC0, 0xDE}, {0x391, 0x3A9}, {0x400, 0x42F}};
	static const struct range even[] = {{0x100, 0x137}, {0x14A, 0x177}, {0x1E00, 0x1EFF}};
	static const struct range odd[] = {{0x139, 0x148}, {0x179, 0x17E}};
	return in_ranges(all, ARRAY_LEN(all), code) ||
	       (code % 2 == 0 && in_ranges(even, ARRAY_LEN(even), code)) ||
	       (code % 2 == 1 && in_ranges(odd, ARRAY_LEN(odd), code));
}

static struct folded folded_code(enum fold_kind kind, uint32_t code)
{
	struct folded result = {.kind = kind};
	result.length = (uint8_t)fold_encode(code, result.text);
	return result;
}

static struct folded fold_ascii(uint32_t code)
{
	struct folded result = {.kind = FOLD_SIGN, .length = 1, .text = {(char)code}};
	if (code >= 'a' && code <= 'z') {
		result.kind = FOLD_LETTER;
	} else if (code >= 'A' && code <= 'Z') {
		result.kind = FOLD_LETTER;
		result.is_upper = true;
		result.text[0] = (char)(code | 0x20);
	} else if (code >= '0' && code <= '9') {
		result.kind = FOLD_DIGIT;
	} else if (code <= ' ' || code == 0x7F) {
		result.kind = FOLD_BREAK;
		result.length = 0;
	}
	return result;
}

/* Fold the mathematical alphabets, U+1D400 to U+1D6A3: thirteen times 26 capitals and 26 small
 * letters. */
static bool fold_mathematical(uint32_t code, struct folded *ret_folded)
{
	if (code < 0x1D400 || code > 0x1D6A3)
		return false;
	*ret_folded = folded_code(FOLD_LETTER, 'a' + (code - 0x1D400) % 26);
	return true;
}

static bool fold_shift(uint32_t code, struct folded *ret_folded)
{
	for (size_t i = 0; i < ARRAY_LEN(shifts); i++) {
		uint32_t to = shifts[i].base + (code - shifts[i].first);
		if (code < shifts[i].first || code > shifts[i].last)
			continue;
		*ret_folded = folded_code(to < 'a' ? FOLD_DIGIT : FOLD_LETTER, to);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (code != signs[i].first)
			continue;
		*ret_folded = folded_code(FOLD_SIGN, signs[i].base);
		return true;
	}
	return false;
}

static bool fold_latin(uint32_t code, struct folded *ret_folded)
{
	const char *text = code >= 0xC0 && code < 0x250      ? latin_low[code - 0xC0]
	                   : code >= 0x1E00 && code < 0x1F00 ? latin_additional[code - 0x1E00]
	                   : code >= 0xFB00 && code < 0xFB07 ? ligatures[code - 0xFB00]
	                                                     : NULL;
	if (!text)
		return false;
	*ret_folded = (struct folded){.kind = *text ? FOLD_LETTER : FOLD_BREAK,
	                              .length = (uint8_t)strlen(text)};
	memcpy(ret_folded->text, text, ret_folded->length);
	return true;
}

/* The letter that follows the base letter where the letter is spelled out: `oe` for ö and ø, `aa`
 * for å; 0: it is not. */
static char spelled_letter(uint32_t code)
{
	switch (code) {
	case 0xC4: /* Ä */
	case 0xE4:
	case 0xD6: /* Ö */
	case 0xF6:
	case 0xDC: /* Ü */
	case 0xFC:
	case 0xD8: /* Ø */
	case 0xF8:
		return 'e';
	case 0xC5: /* Å */
	case 0xE5:
		return 'a';
	default:
		return '\0';
	}
}

struct folded fold(uint32_t code)
{
	if (code < 0x80)
		return fold_ascii(code);
	struct folded result;
	if (fold_latin(code, &result) || fold_shift(code, &result) ||
	    fold_mathematical(code, &result)) {
		result.is_upper = result.kind == FOLD_LETTER && is_capital(code);
		result.spelled = spelled_letter(code);
		return result;
	}
	if (in_ranges(ignored, ARRAY_LEN(ignored), code))
		return (struct folded){.kind = FOLD_IGNORE};
	if (in_ranges(ideographs, ARRAY_LEN(ideographs), code))
		return folded_code(FOLD_IDEOGRAPH, code);
	if (in_ranges(letters, ARRAY_LEN(letters), code))
		return folded_code(FOLD_LETTER, code);
	return (struct folded){.kind = FOLD_BREAK};
}
