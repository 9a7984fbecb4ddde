#include "engine/text/chunk.h"

#include "base/base.h"
#include "engine/text/fold.h"
#include "engine/text/latex.h"

#include <string.h>

/* Digits after the slash of an old identifier such as hep-th/9901001. */
#define OLD_ID_DIGITS 7

/* Result of reading one character or command. */
enum step {
	STEP_CONTINUE, /* the chunk goes on */
	STEP_END,      /* the chunk ends here if it has any unit */
};

/* What a byte does to a chunk, by itself. */
enum byte_class {
	BYTE_OTHER, /* depends on what is around it */
	BYTE_SMALL,
	BYTE_CAPITAL,
	BYTE_DIGIT,
	BYTE_END, /* ends a chunk */
	/* can be inside a word or compound; ignored at the end and at the start of a chunk */
	BYTE_INNER,
};

static const uint8_t classes[256] = {
	[0 ... ' '] = BYTE_END,     ['!'] = BYTE_END,
	['"'] = BYTE_END,           ['%'] = BYTE_END,
	['&'] = BYTE_END,           ['\''] = BYTE_INNER,
	['('] = BYTE_END,           [')'] = BYTE_END,
	[','] = BYTE_INNER,         ['-'] = BYTE_INNER,
	['.'] = BYTE_INNER,         ['0' ... '9'] = BYTE_DIGIT,
	[':' ... '@'] = BYTE_END,   ['A' ... 'Z'] = BYTE_CAPITAL,
	['['] = BYTE_END,           [']'] = BYTE_END,
	['^'] = BYTE_END,           ['`'] = BYTE_END,
	['a' ... 'z'] = BYTE_SMALL, ['|'] = BYTE_END,
	['~'] = BYTE_END,           [0x7F] = BYTE_END,
};

static const struct unit *last_unit(const struct chunk *chunk)
{
	return chunk->count > 0 ? &chunk->units[chunk->count - 1] : NULL;
}

static bool ends_in_word(const struct chunk *chunk)
{
	return chunk->count > 0 && last_unit(chunk)->kind <= UNIT_DIGIT;
}

/* Whether the chunk ends in a word of a single letter. */
static bool ends_in_letter(const struct chunk *chunk)
{
	return ends_in_word(chunk) && last_unit(chunk)->kind == UNIT_LETTER &&
	       (chunk->count == 1 || chunk->units[chunk->count - 2].kind > UNIT_DIGIT);
}

static void add_unit(struct chunk *chunk, struct unit unit, const char *text, size_t length)
{
	unit.length = (uint8_t)length;
	memcpy(unit.text, text, length);
	chunk->units[chunk->count++] = unit;
}

/* Whether the byte at `offset` from the next one is `c`. */
static bool is_ahead(const struct chunk_reader *reader, size_t offset, char c)
{
	return reader->at + offset < reader->length && reader->text[reader->at + offset] == c;
}

/* Whether the next byte, a slash, is part of an old arXiv identifier: no digits before it in the
 * chunk and seven digits after it. */
static bool is_id_slash(const struct chunk_reader *reader, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->count; i++)
		if (chunk->units[i].kind == UNIT_DIGIT)
			return false;
	for (size_t i = 1; i <= OLD_ID_DIGITS; i++) {
		char c = reader->at + i < reader->length ? reader->text[reader->at + i] : ' ';
		if (c < '0' || c > '9')
			return false;
	}
	return true;
}

/* Read a sign that can end a name: "++" after a word, "#" or "*" after a single letter. Ends the
 * chunk. */
static enum step read_suffix(struct chunk_reader *reader, struct chunk *chunk, char sign)
{
	struct unit unit = {.kind = UNIT_SUFFIX, .start = reader->at, .end = reader->at + 1};
	bool is_plus = sign == '+' && is_ahead(reader, 1, '+') && ends_in_word(chunk);
	bool is_name = sign != '+' && ends_in_letter(chunk) && !reader->is_in_math;
	reader->at++;
	if (is_plus) {
		reader->at++;
		unit.end++;
		add_unit(chunk, unit, "++", 2);
	} else if (is_name) {
		add_unit(chunk, unit, &sign, 1);
	}
	return STEP_END;
}

/* Read a sign that can be inside a word or compound. */
static enum step read_inner_sign(struct chunk_reader *reader, struct chunk *chunk,
                                 enum unit_kind kind)
{
	struct unit unit = {.kind = kind, .start = reader->at, .end = reader->at + 1};
	char sign = reader->text[reader->at];
	bool is_inside = ends_in_word(chunk);
	if (sign == '-' && is_ahead(reader, 1, '-'))
		is_inside = false;
	if (sign == '_' && reader->is_in_math)
		is_inside = false;
	if (sign == '/' && !is_id_slash(reader, chunk))
		is_inside = false;
	reader->at++;
	if (!is_inside)
		return STEP_END;
	add_unit(chunk, unit, &sign, 1);
	return STEP_CONTINUE;
}

static enum step read_sign(struct chunk_reader *reader, struct chunk *chunk)
{
	char sign = reader->text[reader->at];
	switch (sign) {
	case '-':
	case '_':
		return read_inner_sign(reader, chunk, UNIT_JOINER);
	case '\'':
		return read_inner_sign(reader, chunk, UNIT_APOSTROPHE);
	case '.':
		return read_inner_sign(reader, chunk, UNIT_POINT);
	case ',':
		return read_inner_sign(reader, chunk, UNIT_COMMA);
	case '/':
		return read_inner_sign(reader, chunk, UNIT_SLASH);
	case '+':
	case '#':
	case '*':
		return read_suffix(reader, chunk, sign);
	case '$':
		reader->is_in_math = !reader->is_in_math;
		reader->at++;
		return STEP_CONTINUE;
	case '{':
	case '}':
		reader->at++;
		return sign == '}' && is_ahead(reader, 0, '{') ? STEP_END : STEP_CONTINUE;
	default:
		reader->at++;
		return STEP_END;
	}
}

/* Add the letters that a LaTeX command stands for; the source range of each is the command. */
static void add_letters(struct chunk *chunk, const struct latex *latex, size_t start)
{
	for (size_t i = 0; i < latex->text_length && chunk->count < CHUNK_UNITS; i++) {
		struct folded folded = fold((unsigned char)latex->text[i]);
		struct unit unit = {.kind = UNIT_LETTER,
		                    .start = start,
		                    .end = start + latex->length};
		unit.is_upper = folded.is_upper;
		add_unit(chunk, unit, folded.text, folded.length);
	}
}

static enum step read_command(struct chunk_reader *reader, struct chunk *chunk)
{
	size_t start = reader->at;
	struct latex latex = latex_parse(reader->text + start, reader->length - start);
	struct unit joiner = {.kind = UNIT_JOINER, .start = start, .end = start + latex.length};
	if (latex.kind == LATEX_WORD && chunk->count > 0)
		return STEP_END;
	reader->at += MIN_OF(latex.length, reader->length - start);
	switch (latex.kind) {
	case LATEX_ACCENT:
		return STEP_CONTINUE;
	case LATEX_LETTER:
	case LATEX_WORD:
		add_letters(chunk, &latex, start);
		return STEP_CONTINUE;
	case LATEX_UNDERSCORE:
		if (!ends_in_word(chunk))
			return STEP_END;
		add_unit(chunk, joiner, "_", 1);
		return STEP_CONTINUE;
	case LATEX_BREAK:
	default:
		return STEP_END;
	}
}

static void add_folded(struct chunk *chunk, const struct folded *folded, size_t start, size_t end)
{
	struct unit unit = {.start = start, .end = end, .is_upper = folded->is_upper};
	unit.kind = folded->kind == FOLD_DIGIT ? UNIT_DIGIT : UNIT_LETTER;
	unit.spelled = folded->spelled;
	chunk->has_spelled |= folded->spelled != 0;
	add_unit(chunk, unit, folded->text, folded->length);
}

/* Read a hyphen or apostrophe outside ASCII, `size` bytes long; `sign` is its ASCII form. */
static enum step read_unicode_sign(struct chunk_reader *reader, struct chunk *chunk, char sign,
                                   size_t size)
{
	struct unit unit = {.start = reader->at, .end = reader->at + size};
	reader->at += size;
	if (!ends_in_word(chunk))
		return STEP_END;
	unit.kind = sign == '-' ? UNIT_JOINER : UNIT_APOSTROPHE;
	add_unit(chunk, unit, &sign, 1);
	return STEP_CONTINUE;
}

/* Read an ASCII letter or digit. */
static enum step read_ascii(struct chunk_reader *reader, struct chunk *chunk, enum byte_class class)
{
	struct unit *unit = &chunk->units[chunk->count++];
	char byte = reader->text[reader->at];
	unit->kind = class == BYTE_DIGIT ? UNIT_DIGIT : UNIT_LETTER;
	unit->is_upper = class == BYTE_CAPITAL;
	unit->length = 1;
	unit->spelled = '\0';
	unit->text[0] = (char)(class == BYTE_CAPITAL ? byte | 0x20 : byte);
	unit->start = reader->at++;
	unit->end = reader->at;
	return STEP_CONTINUE;
}

static enum step read_step(struct chunk_reader *reader, struct chunk *chunk)
{
	enum byte_class class = classes[(unsigned char)reader->text[reader->at]];
	if (class >= BYTE_SMALL && class <= BYTE_DIGIT)
		return read_ascii(reader, chunk, class);
	if (reader->text[reader->at] == '\\')
		return read_command(reader, chunk);
	if ((unsigned char)reader->text[reader->at] < 0x80)
		return read_sign(reader, chunk);
	uint32_t code;
	size_t size = fold_decode(reader->text + reader->at, reader->length - reader->at, &code);
	struct folded folded = fold(code);
	switch (folded.kind) {
	case FOLD_SIGN:
		return read_unicode_sign(reader, chunk, folded.text[0], size);
	case FOLD_IDEOGRAPH:
		if (chunk->count > 0)
			return STEP_END;
		add_folded(chunk, &folded, reader->at, reader->at + size);
		reader->at += size;
		return STEP_END;
	case FOLD_LETTER:
	case FOLD_DIGIT:
		add_folded(chunk, &folded, reader->at, reader->at + size);
		reader->at += size;
		return STEP_CONTINUE;
	case FOLD_IGNORE:
		reader->at += size;
		return STEP_CONTINUE;
	case FOLD_BREAK:
	default:
		reader->at += size;
		return STEP_END;
	}
}

static bool is_word_at(const struct chunk *chunk, size_t i)
{
	return i < chunk->count && chunk->units[i].kind <= UNIT_DIGIT;
}

/* Drop possessive "'s" and remove signs at the end of the chunk. */
static void trim(struct chunk *chunk)
{
	for (size_t i = 0; i + 1 < chunk->count; i++) {
		struct unit *units = &chunk->units[i];
		if (units[0].kind != UNIT_APOSTROPHE || units[1].text[0] != 's' ||
		    is_word_at(chunk, i + 2))
			continue;
		units[0].kind = UNIT_DROPPED;
		units[1].kind = UNIT_DROPPED;
	}
	while (chunk->count > 0 && last_unit(chunk)->kind >= UNIT_JOINER)
		chunk->count--;
}

static enum byte_class class_at(const struct chunk_reader *reader, size_t at)
{
	return at < reader->length ? classes[(unsigned char)reader->text[at]] : BYTE_END;
}

/* Where the letters end that can be a plain word, which begins at `at`. */
static size_t letters_end(const struct chunk_reader *reader, size_t at)
{
	size_t end = at + 1;
	enum byte_class rest = BYTE_SMALL;
	if (class_at(reader, at) == BYTE_CAPITAL && class_at(reader, end) == BYTE_CAPITAL)
		rest = BYTE_CAPITAL;
	while (class_at(reader, end) == rest)
		end++;
	return end;
}

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* How many bytes from the first on in memory are small ASCII letters. */
static size_t count_small(uint64_t bytes)
{
	uint64_t low = bytes & EACH_BYTE(0x7F);
	uint64_t from_a = low + EACH_BYTE(0x80 - 'a');
	uint64_t above_z = low + EACH_BYTE(0x7F - 'z');
	uint64_t others = (~from_a | above_z | bytes) & EACH_BYTE(0x80);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	others = __builtin_bswap64(others);
#endif
	return others == 0 ? sizeof(bytes) : (size_t)__builtin_ctzll(others) / 8;
}

/* The first `count` (less than 8) bytes in memory. */
static uint64_t first_bytes(uint64_t bytes, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return bytes & ~(UINT64_MAX >> count * 8);
#else
	return bytes & ~(UINT64_MAX << count * 8);
#endif
}

/* Read the letters of a word of small letters but for the first. WORD_KEY_BYTES are readable.
 * Returns how many there are; WORD_KEY_BYTES: there can be more. */
static size_t read_small(const char *text, struct word_key *key)
{
	memcpy(key, text, sizeof(*key));
	*(char *)key->parts = (char)(text[0] | 0x20);
	for (size_t i = 0; i < WORD_KEY_PARTS; i++) {
		size_t count = count_small(key->parts[i]);
		if (count == sizeof(uint64_t))
			continue;
		key->parts[i] = first_bytes(key->parts[i], count);
		for (size_t rest = i + 1; rest < WORD_KEY_PARTS; rest++)
			key->parts[rest] = 0;
		return i * sizeof(uint64_t) + count;
	}
	return WORD_KEY_BYTES;
}

/* Read the letters of the word at the next byte, as read_small() or one at a time. */
static size_t read_letters(const struct chunk_reader *reader, struct word_key *key)
{
	size_t start = reader->at;
	const char *text = reader->text + start;
	if (reader->length - start > WORD_KEY_BYTES) {
		size_t length = read_small(text, key);
		if (length > 1 && length < WORD_KEY_BYTES)
			return length;
	}
	size_t length = letters_end(reader, start) - start;
	*key = (struct word_key){{0}};
	for (size_t i = 0; i < MIN_OF(length, WORD_KEY_BYTES); i++)
		((char *)key->parts)[i] = (char)(text[i] | 0x20);
	return length;
}

bool chunk_next_plain(struct chunk_reader *reader, struct plain_word *word)
{
	enum byte_class class;
	while (reader->at < reader->length &&
	       ((class = class_at(reader, reader->at)) == BYTE_END || class == BYTE_INNER))
		reader->at++;
	class = class_at(reader, reader->at);
	if (class != BYTE_SMALL && class != BYTE_CAPITAL)
		return false;
	word->start = reader->at;
	word->length = read_letters(reader, &word->key);
	size_t end = word->start + word->length;
	size_t after = class_at(reader, end) == BYTE_INNER ? end + 1 : end;
	if (class_at(reader, after) != BYTE_END || word->length > WORD_KEY_BYTES)
		return false;
	reader->at = after;
	return true;
}

bool chunk_next(struct chunk_reader *reader, struct chunk *chunk)
{
	chunk->count = 0;
	chunk->has_spelled = false;
	while (reader->at < reader->length) {
		enum step step = read_step(reader, chunk);
		if (step == STEP_CONTINUE && chunk->count < CHUNK_UNITS)
			continue;
		trim(chunk);
		if (chunk->count > 0)
			return true;
	}
	trim(chunk);
	return chunk->count > 0;
}

static bool is_digit_at(const struct chunk *chunk, size_t i)
{
	return i < chunk->count && chunk->units[i].kind == UNIT_DIGIT;
}

/* Whether the sign at unit `i` is part of the word around it. */
static bool is_inner(const struct chunk *chunk, size_t i)
{
	bool is_between_digits = i > 0 && is_digit_at(chunk, i - 1) && is_digit_at(chunk, i + 1);
	switch (chunk->units[i].kind) {
	case UNIT_APOSTROPHE:
		return is_word_at(chunk, i + 1);
	case UNIT_POINT:
		return is_between_digits;
	case UNIT_COMMA:
		return is_between_digits && is_digit_at(chunk, i + 2) &&
		       is_digit_at(chunk, i + 3) && !is_digit_at(chunk, i + 4);
	default:
		return false;
	}
}

size_t chunk_word_end(const struct chunk *chunk, size_t begin)
{
	size_t end = begin + 1;
	while (end < chunk->count && (is_word_at(chunk, end) || is_inner(chunk, end)))
		end++;
	return end < chunk->count && chunk->units[end].kind == UNIT_SUFFIX ? end + 1 : end;
}

static size_t count_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* Whether `text` is empty or a version such as "v2". */
static bool is_version(const char *text)
{
	size_t digits = text[0] == 'v' ? count_digits(text + 1) : 0;
	return text[0] == '\0' || (digits > 0 && text[1 + digits] == '\0');
}

/* The length of the arXiv identifier `text` without its version; 0 if it is no identifier. */
static size_t arxiv_id_length(const char *text)
{
	size_t head = count_digits(text);
	size_t tail;
	if (head == 4 && text[4] == '.') {
		tail = count_digits(text + 5);
		return (tail == 4 || tail == 5) && is_version(text + 5 + tail) ? 5 + tail : 0;
	}
	head = strspn(text, "abcdefghijklmnopqrstuvwxyz-.");
	if (head == 0 || text[head] != '/')
		return 0;
	tail = count_digits(text + head + 1);
	return tail == OLD_ID_DIGITS && is_version(text + head + 1 + tail) ? head + 1 + tail : 0;
}

/* Remove the subject class from an old identifier: math.gt/0309136 becomes math/0309136. Returns
 * the new length. */
static size_t drop_subject_class(char *id, size_t length)
{
	char *slash = memchr(id, '/', length);
	char *point = slash ? memchr(id, '.', (size_t)(slash - id)) : NULL;
	if (!point)
		return length;
	memmove(point, slash, length - (size_t)(slash - id));
	return length - (size_t)(slash - point);
}

const char *chunk_arxiv_id(struct chunk *chunk, size_t *ret_length)
{
	size_t length = 0;
	if (chunk->count < 9 || chunk->count >= sizeof(chunk->id))
		return NULL;
	for (size_t i = 0; i < chunk->count; i++) {
		if (chunk->units[i].length != 1)
			return NULL;
		chunk->id[length++] = chunk->units[i].text[0];
	}
	chunk->id[length] = '\0';
	*ret_length = arxiv_id_length(chunk->id);
	*ret_length = drop_subject_class(chunk->id, *ret_length);
	return *ret_length > 0 ? chunk->id : NULL;
}

const char *chunk_greek_name(const struct unit *unit)
{
	static const char *const names[] = {
		"alpha",   "beta", "gamma", "delta",  "epsilon", "zeta", "eta",
		"theta",   "iota", "kappa", "lambda", "mu",      "nu",   "xi",
		"omicron", "pi",   "rho",   "sigma",  "sigma",   "tau",  "upsilon",
		"phi",     "chi",  "psi",   "omega",
	};
	if (unit->length != 2)
		return NULL;
	uint32_t code;
	fold_decode(unit->text, unit->length, &code);
	return code >= 0x3B1 && code < 0x3B1 + ARRAY_LEN(names) ? names[code - 0x3B1] : NULL;
}
