#include "plain/symbols.h"

#include "base/base.h"

#include <string.h>

struct symbol {
	const char *name;
	const char *text; /* UTF-8 */
};

static const struct symbol symbols[] = {
	{"alpha", "α"},
	{"beta", "β"},
	{"gamma", "γ"},
	{"delta", "δ"},
	{"epsilon", "ε"},
	{"varepsilon", "ε"},
	{"zeta", "ζ"},
	{"eta", "η"},
	{"theta", "θ"},
	{"vartheta", "ϑ"},
	{"iota", "ι"},
	{"kappa", "κ"},
	{"lambda", "λ"},
	{"mu", "μ"},
	{"nu", "ν"},
	{"xi", "ξ"},
	{"omicron", "ο"},
	{"pi", "π"},
	{"varpi", "ϖ"},
	{"rho", "ρ"},
	{"varrho", "ϱ"},
	{"sigma", "σ"},
	{"varsigma", "ς"},
	{"tau", "τ"},
	{"upsilon", "υ"},
	{"phi", "φ"},
	{"varphi", "φ"},
	{"chi", "χ"},
	{"psi", "ψ"},
	{"omega", "ω"},
	{"Gamma", "Γ"},
	{"Delta", "Δ"},
	{"Theta", "Θ"},
	{"Lambda", "Λ"},
	{"Xi", "Ξ"},
	{"Pi", "Π"},
	{"Sigma", "Σ"},
	{"Upsilon", "Υ"},
	{"Phi", "Φ"},
	{"Psi", "Ψ"},
	{"Omega", "Ω"},
	{"infty", "∞"},
	{"leq", "≤"},
	{"le", "≤"},
	{"geq", "≥"},
	{"ge", "≥"},
	{"neq", "≠"},
	{"ne", "≠"},
	{"approx", "≈"},
	{"sim", "∼"},
	{"simeq", "≃"},
	{"cong", "≅"},
	{"equiv", "≡"},
	{"propto", "∝"},
	{"ll", "≪"},
	{"gg", "≫"},
	{"lesssim", "≲"},
	{"gtrsim", "≳"},
	{"leqslant", "⩽"},
	{"geqslant", "⩾"},
	{"prec", "≺"},
	{"succ", "≻"},
	{"preceq", "⪯"},
	{"succeq", "⪰"},
	{"pm", "±"},
	{"mp", "∓"},
	{"times", "×"},
	{"cdot", "·"},
	{"div", "÷"},
	{"ast", "∗"},
	{"star", "⋆"},
	{"circ", "∘"},
	{"bullet", "•"},
	{"oplus", "⊕"},
	{"ominus", "⊖"},
	{"otimes", "⊗"},
	{"odot", "⊙"},
	{"cup", "∪"},
	{"cap", "∩"},
	{"setminus", "∖"},
	{"in", "∈"},
	{"notin", "∉"},
	{"ni", "∋"},
	{"subset", "⊂"},
	{"supset", "⊃"},
	{"subseteq", "⊆"},
	{"supseteq", "⊇"},
	{"emptyset", "∅"},
	{"varnothing", "∅"},
	{"forall", "∀"},
	{"exists", "∃"},
	{"neg", "¬"},
	{"lnot", "¬"},
	{"land", "∧"},
	{"wedge", "∧"},
	{"lor", "∨"},
	{"vee", "∨"},
	{"to", "→"},
	{"rightarrow", "→"},
	{"leftarrow", "←"},
	{"leftrightarrow", "↔"},
	{"Rightarrow", "⇒"},
	{"Leftarrow", "⇐"},
	{"Leftrightarrow", "⇔"},
	{"iff", "⇔"},
	{"implies", "⇒"},
	{"longrightarrow", "⟶"},
	{"mapsto", "↦"},
	{"hookrightarrow", "↪"},
	{"uparrow", "↑"},
	{"downarrow", "↓"},
	{"rightleftharpoons", "⇌"},
	{"partial", "∂"},
	{"nabla", "∇"},
	{"ell", "ℓ"},
	{"hbar", "ℏ"},
	{"Re", "ℜ"},
	{"Im", "ℑ"},
	{"aleph", "ℵ"},
	{"wp", "℘"},
	{"angle", "∠"},
	{"perp", "⊥"},
	{"parallel", "∥"},
	{"mid", "|"},
	{"vert", "|"},
	{"Vert", "‖"},
	{"lvert", "|"},
	{"rvert", "|"},
	{"lVert", "‖"},
	{"rVert", "‖"},
	{"langle", "⟨"},
	{"rangle", "⟩"},
	{"lfloor", "⌊"},
	{"rfloor", "⌋"},
	{"lceil", "⌈"},
	{"rceil", "⌉"},
	{"lbrace", "{"},
	{"rbrace", "}"},
	{"lbrack", "["},
	{"rbrack", "]"},
	{"ldots", "…"},
	{"dots", "…"},
	{"cdots", "⋯"},
	{"dotsc", "…"},
	{"dotsb", "⋯"},
	{"prime", "′"},
	{"dagger", "†"},
	{"dag", "†"},
	{"ddagger", "‡"},
	{"ddag", "‡"},
	{"top", "⊤"},
	{"bot", "⊥"},
	{"models", "⊨"},
	{"vdash", "⊢"},
	{"square", "□"},
	{"Box", "□"},
	{"blacksquare", "■"},
	{"triangle", "△"},
	{"diamond", "⋄"},
	{"checkmark", "✓"},
	{"degree", "°"},
	{"textdegree", "°"},
	{"S", "§"},
	{"P", "¶"},
	{"copyright", "©"},
	{"textcopyright", "©"},
	{"textregistered", "®"},
	{"texttrademark", "™"},
	{"pounds", "£"},
	{"textsterling", "£"},
	{"euro", "€"},
	{"texteuro", "€"},
	{"textendash", "–"},
	{"textemdash", "—"},
	{"textquoteleft", "‘"},
	{"textquoteright", "’"},
	{"textquotedblleft", "“"},
	{"textquotedblright", "”"},
	{"textbackslash", "\\"},
	{"textasciitilde", "~"},
	{"textasciicircum", "^"},
	{"textunderscore", "_"},
	{"textbar", "|"},
	{"textless", "<"},
	{"textgreater", ">"},
	{"textbullet", "•"},
	{"textellipsis", "…"},
	{"slash", "/"},
	{"colon", ":"},
	{"sun", "☉"},
	{"sum", "∑"},
	{"prod", "∏"},
	{"int", "∫"},
};

static const struct symbol letters[] = {
	{"o", "ø"},  {"O", "Ø"},  {"l", "ł"},  {"L", "Ł"},  {"i", "ı"},  {"j", "ȷ"},
	{"ss", "ß"}, {"SS", "ẞ"}, {"ae", "æ"}, {"AE", "Æ"}, {"oe", "œ"}, {"OE", "Œ"},
	{"aa", "å"}, {"AA", "Å"}, {"dj", "đ"}, {"DJ", "Đ"}, {"dh", "ð"}, {"DH", "Ð"},
	{"th", "þ"}, {"TH", "Þ"}, {"ng", "ŋ"}, {"NG", "Ŋ"},
};

static const struct symbol text_accents[] = {
	{"'", "\xCC\x81"}, {"`", "\xCC\x80"}, {"^", "\xCC\x82"}, {"\"", "\xCC\x88"},
	{"~", "\xCC\x83"}, {"=", "\xCC\x84"}, {".", "\xCC\x87"}, {"c", "\xCC\xA7"},
	{"v", "\xCC\x8C"}, {"u", "\xCC\x86"}, {"H", "\xCC\x8B"}, {"k", "\xCC\xA8"},
	{"r", "\xCC\x8A"}, {"d", "\xCC\xA3"}, {"b", "\xCC\xB1"},
};

static const struct symbol math_accents[] = {
	{"hat", "\xCC\x82"},       {"widehat", "\xCC\x82"},  {"tilde", "\xCC\x83"},
	{"widetilde", "\xCC\x83"}, {"bar", "\xCC\x84"},      {"overline", "\xCC\x84"},
	{"vec", "\xE2\x83\x97"},   {"dot", "\xCC\x87"},      {"ddot", "\xCC\x88"},
	{"check", "\xCC\x8C"},     {"breve", "\xCC\x86"},    {"acute", "\xCC\x81"},
	{"grave", "\xCC\x80"},     {"mathring", "\xCC\x8A"},
};

static const char *const functions[] = {
	"log", "ln",     "lg",     "exp",    "sin",    "cos",    "tan",  "cot",  "sec",
	"csc", "arcsin", "arccos", "arctan", "sinh",   "cosh",   "tanh", "max",  "min",
	"sup", "inf",    "lim",    "limsup", "liminf", "det",    "dim",  "ker",  "deg",
	"gcd", "arg",    "Pr",     "hom",    "argmax", "argmin", "mod",  "rank", "tr",
};

struct script {
	uint8_t from; /* ASCII */
	uint16_t to;
};

static const struct script superscripts[] = {
	{'0', 0x2070}, {'1', 0xB9},   {'2', 0xB2},   {'3', 0xB3},   {'4', 0x2074}, {'5', 0x2075},
	{'6', 0x2076}, {'7', 0x2077}, {'8', 0x2078}, {'9', 0x2079}, {'+', 0x207A}, {'-', 0x207B},
	{'=', 0x207C}, {'(', 0x207D}, {')', 0x207E}, {'a', 0x1D43}, {'b', 0x1D47}, {'c', 0x1D9C},
	{'d', 0x1D48}, {'e', 0x1D49}, {'f', 0x1DA0}, {'g', 0x1D4D}, {'h', 0x2B0},  {'i', 0x2071},
	{'j', 0x2B2},  {'k', 0x1D4F}, {'l', 0x2E1},  {'m', 0x1D50}, {'n', 0x207F}, {'o', 0x1D52},
	{'p', 0x1D56}, {'r', 0x2B3},  {'s', 0x2E2},  {'t', 0x1D57}, {'u', 0x1D58}, {'v', 0x1D5B},
	{'w', 0x2B7},  {'x', 0x2E3},  {'y', 0x2B8},  {'z', 0x1DBB}, {'A', 0x1D2C}, {'B', 0x1D2E},
	{'D', 0x1D30}, {'E', 0x1D31}, {'G', 0x1D33}, {'H', 0x1D34}, {'I', 0x1D35}, {'J', 0x1D36},
	{'K', 0x1D37}, {'L', 0x1D38}, {'M', 0x1D39}, {'N', 0x1D3A}, {'O', 0x1D3C}, {'P', 0x1D3E},
	{'R', 0x1D3F}, {'T', 0x1D40}, {'U', 0x1D41}, {'V', 0x2C7D}, {'W', 0x1D42},
};

static const struct script subscripts[] = {
	{'0', 0x2080}, {'1', 0x2081}, {'2', 0x2082}, {'3', 0x2083}, {'4', 0x2084}, {'5', 0x2085},
	{'6', 0x2086}, {'7', 0x2087}, {'8', 0x2088}, {'9', 0x2089}, {'+', 0x208A}, {'-', 0x208B},
	{'=', 0x208C}, {'(', 0x208D}, {')', 0x208E}, {'a', 0x2090}, {'e', 0x2091}, {'h', 0x2095},
	{'i', 0x1D62}, {'j', 0x2C7C}, {'k', 0x2096}, {'l', 0x2097}, {'m', 0x2098}, {'n', 0x2099},
	{'o', 0x2092}, {'p', 0x209A}, {'r', 0x1D63}, {'s', 0x209B}, {'t', 0x209C}, {'u', 0x1D64},
	{'v', 0x1D65}, {'x', 0x2093},
};

static const char *find(const struct symbol *rows, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
			return rows[i].text;
	return NULL;
}

const char *symbol_find(const char *name, size_t length)
{
	return find(symbols, ARRAY_LEN(symbols), name, length);
}

const char *symbol_letter(const char *name, size_t length)
{
	return find(letters, ARRAY_LEN(letters), name, length);
}

const char *symbol_text_accent(const char *name, size_t length)
{
	return find(text_accents, ARRAY_LEN(text_accents), name, length);
}

const char *symbol_math_accent(const char *name, size_t length)
{
	return find(math_accents, ARRAY_LEN(math_accents), name, length);
}

bool symbol_is_function(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (strlen(functions[i]) == length && memcmp(functions[i], name, length) == 0)
			return true;
	return false;
}

static uint32_t find_script(const struct script *rows, size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].from == code)
			return rows[i].to;
	return 0;
}

uint32_t symbol_superscript(uint32_t code)
{
	return find_script(superscripts, ARRAY_LEN(superscripts), code);
}

uint32_t symbol_subscript(uint32_t code)
{
	return find_script(subscripts, ARRAY_LEN(subscripts), code);
}

/* U+1D538 and later, but for the letters that Unicode had before (Letterlike Symbols). */
uint32_t symbol_double_struck(uint32_t code)
{
	static const struct script earlier[] = {
		{'C', 0x2102}, {'H', 0x210D}, {'N', 0x2115}, {'P', 0x2119},
		{'Q', 0x211A}, {'R', 0x211D}, {'Z', 0x2124},
	};
	uint32_t known = find_script(earlier, ARRAY_LEN(earlier), code);
	if (known)
		return known;
	if (code >= 'A' && code <= 'Z')
		return 0x1D538 + (code - 'A');
	if (code >= 'a' && code <= 'z')
		return 0x1D552 + (code - 'a');
	return code >= '0' && code <= '9' ? 0x1D7D8 + (code - '0') : 0;
}
