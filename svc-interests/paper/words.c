#include "paper/words.h"

#include "base/url.h"

#include <libstemmer.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD_MAX_BYTES = 64, /* longer runs are skipped */
	WORD_MIN_BYTES = 2,
};

struct word_splitter {
	struct sb_stemmer *stemmer;
	char raw[WORD_MAX_BYTES + 1];  /* the word in lower case */
	char stem[WORD_MAX_BYTES * 2]; /* Porter2 can make a word longer by a letter */
};

/* English function words, words that every abstract has ("paper", "show"), and filler verbs
 * ("need", "want"), which must not appear as reasons of a recommendation. Sorted, for bsearch(). */
static const char *const stop_words[] = {
	"about",   "above",   "after",   "again",  "against", "all",     "also",  "although",
	"am",      "among",   "an",      "and",    "any",     "are",     "as",    "at",
	"be",      "because", "been",    "before", "being",   "below",   "best",  "better",
	"between", "both",    "but",     "by",     "can",     "cannot",  "could", "did",
	"do",      "does",    "doing",   "down",   "due",     "during",  "each",  "either",
	"et",      "etc",     "few",     "for",    "from",    "further", "good",  "had",
	"has",     "have",    "having",  "he",     "her",     "here",    "his",   "how",
	"however", "if",      "in",      "into",   "is",      "it",      "its",   "itself",
	"just",    "less",    "like",    "many",   "may",     "might",   "more",  "most",
	"much",    "must",    "need",    "needed", "needs",   "neither", "no",    "nor",
	"not",     "of",      "off",     "on",     "once",    "only",    "or",    "other",
	"our",     "out",     "over",    "own",    "paper",   "per",     "same",  "several",
	"she",     "should",  "show",    "since",  "so",      "some",    "such",  "than",
	"that",    "the",     "their",   "them",   "then",    "there",   "these", "they",
	"this",    "those",   "through", "thus",   "to",      "too",     "under", "until",
	"up",      "upon",    "us",      "use",    "used",    "using",   "very",  "via",
	"want",    "wanted",  "wants",   "was",    "we",      "well",    "were",  "what",
	"when",    "where",   "whether", "which",  "while",   "who",     "why",   "will",
	"with",    "within",  "without", "would",  "you",     "your",
};

static int stop_word_compare(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

static bool is_stop_word(const char *word)
{
	return bsearch(word, stop_words, ARRAY_LEN(stop_words), sizeof(stop_words[0]),
	               stop_word_compare);
}

static void stemmer_free(void *stemmer)
{
	sb_stemmer_delete(stemmer);
}

struct word_splitter *word_splitter_new(struct arena *arena)
{
	struct word_splitter *splitter = arena_new_of(arena, struct word_splitter);
	splitter->stemmer = sb_stemmer_new("english", "UTF_8");
	require(splitter->stemmer);
	arena_on_free(arena, stemmer_free, splitter->stemmer);
	return splitter;
}

/* Whether a code point above ASCII separates words: spaces, quotes, dashes, symbols. */
static bool is_wide_separator(uint32_t point)
{
	return (point >= 0x80 && point <= 0xbf) || point == 0xd7 || point == 0xf7 ||
	       (point >= 0x2000 && point <= 0x2bff) || (point >= 0x3000 && point <= 0x303f) ||
	       (point >= 0xe000 && point <= 0xf8ff) || (point >= 0xff00 && point <= 0xff0f);
}

static bool is_ascii_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length in bytes of the word character at `text`; 0: it is no word character. */
static size_t word_char_length(const unsigned char *text)
{
	if (text[0] < 0x80)
		return is_ascii_word(text[0]) ? 1 : 0;
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc2 ? 2 : 0;
	if (length == 0 || text[0] > 0xf4)
		return 0;
	uint32_t point = text[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	return is_wide_separator(point) ? 0 : length;
}

static bool is_web_address(const char *text)
{
	return url_scheme_length(text) || strncmp(text, "www.", 4) == 0;
}

static bool is_number(const char *word)
{
	return word[strspn(word, "0123456789")] == '\0';
}

/* Copy the word of `length` bytes, in lower case, to `raw`. False: the word is left out. */
static bool word_take(struct word_splitter *splitter, const char *text, size_t length)
{
	if (length < WORD_MIN_BYTES || length > WORD_MAX_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		splitter->raw[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i];
	splitter->raw[length] = '\0';
	return !is_number(splitter->raw) && !is_stop_word(splitter->raw);
}

/* Call `cb` for the word in `raw`; `text` is the original. */
static void word_emit(struct word_splitter *splitter, const char *text, size_t length, bool follows,
                      word_cb *cb, void *context)
{
	const sb_symbol *stem =
		sb_stemmer_stem(splitter->stemmer, (const sb_symbol *)splitter->raw, (int)length);
	require(stem);
	size_t stem_length = (size_t)sb_stemmer_length(splitter->stemmer);
	require(stem_length < sizeof(splitter->stem));
	memcpy(splitter->stem, stem, stem_length);
	splitter->stem[stem_length] = '\0';
	struct word word = {splitter->stem, stem_length, text, length, follows};
	cb(context, &word);
}

/* Length in bytes of a possessive 's ("bird's eye") at `text`; 0: there is none. */
static size_t possessive_length(const char *text)
{
	size_t mark = *text == '\'' ? 1 : strncmp(text, "\xe2\x80\x99", 3) == 0 ? 3 : 0;
	if (!mark || text[mark] != 's' || word_char_length((const unsigned char *)text + mark + 1))
		return 0;
	return mark + 1;
}

void words_each(struct word_splitter *splitter, const char *text, word_cb *cb, void *context)
{
	bool follows = false;
	while (text && *text != '\0') {
		if (is_web_address(text)) {
			text += strcspn(text, " \t\r\n");
			follows = false;
			continue;
		}
		size_t length = 0;
		for (size_t step; (step = word_char_length((const unsigned char *)text + length));)
			length += step;
		if (length == 0) {
			follows = follows && (*text == ' ' || *text == '-' || *text == '\n');
			text++;
			continue;
		}
		bool kept = word_take(splitter, text, length);
		if (kept)
			word_emit(splitter, text, length, follows, cb, context);
		follows = kept;
		text += length;
		text += possessive_length(text);
	}
}
