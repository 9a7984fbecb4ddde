#include "engine/compounds.h"

#include "engine/text/fold.h"
#include "engine/text/name.h"
#include "engine/text/token.h"
#include "engine/vocabulary.h"

#include <string.h>

/* Letters of the longest word that is split; the work grows with their square. */
#define WORD_MAX_LETTERS 40

/* Words of one query that are looked at. */
#define WORDS_MAX 4

/* State of compounds_split(). */
struct rewriting {
	const struct engine_view *view;
	struct tokenizer *tokenizer; /* of the parts */
	const char *text;
	struct buf out;
	size_t copied; /* bytes of `text` that are in `out` */
	size_t looked_at;
};

/* The best way to split a prefix of a word. */
struct split {
	size_t parts; /* 0: there is none */
	size_t begin; /* of its last part */
	uint32_t df;  /* of its rarest part */
};

/* Documents that contain the main token of a word. */
struct frequency {
	const struct engine_view *view;
	uint32_t df;
};

static void count_token(const struct token *token, void *ctx)
{
	struct frequency *frequency = ctx;
	if (!token->is_extra)
		frequency->df = vocabulary_df(frequency->view, token->text, token->length);
}

/* Documents that contain the word; 0 for a stop word. */
static uint32_t word_df(const struct rewriting *rewriting, const char *word, size_t length)
{
	struct frequency frequency = {.view = rewriting->view};
	tokenizer_run(rewriting->tokenizer, word, length, count_token, &frequency);
	return frequency.df;
}

static bool is_better(const struct split *one, const struct split *than)
{
	if (than->parts == 0 || one->parts != than->parts)
		return than->parts == 0 || one->parts < than->parts;
	return one->df > than->df;
}

/* Set splits[end] for each prefix of the word. */
static void split_word(const struct rewriting *rewriting, const char *word, size_t length,
                       struct split *splits)
{
	memset(splits, 0, (length + 1) * sizeof(*splits));
	for (size_t end = COMPOUND_PART_LETTERS; end <= length; end++) {
		for (size_t begin = 0; begin + COMPOUND_PART_LETTERS <= end; begin++) {
			const struct split *before = &splits[begin];
			if (begin > 0 && (before->parts == 0 || before->parts == COMPOUND_PARTS))
				continue;
			uint32_t df = word_df(rewriting, word + begin, end - begin);
			struct split split = {before->parts + 1, begin,
			                      begin > 0 ? MIN_OF(df, before->df) : df};
			if (df >= COMPOUND_MIN_DF && is_better(&split, &splits[end]))
				splits[end] = split;
		}
	}
}

/* Write the parts with spaces between them. */
static void write_parts(struct buf *out, const char *word, const struct split *splits, size_t end)
{
	size_t begin = splits[end].begin;
	if (begin > 0) {
		write_parts(out, word, splits, begin);
		buf_puts(out, " ");
	}
	buf_add(out, word + begin, end - begin);
}

/* Fold a word to ASCII letters in `out`, which has room for WORD_MAX_LETTERS. Returns how many they
 * are; 0: it has other characters, is too short for two parts or has more than WORD_MAX_LETTERS. */
static size_t fold_letters(const char *text, size_t length, char *out)
{
	size_t letters = 0;
	for (size_t at = 0; at < length;) {
		uint32_t code;
		at += fold_decode(text + at, length - at, &code);
		struct folded folded = fold(code);
		if (folded.kind != FOLD_LETTER || letters + folded.length > WORD_MAX_LETTERS)
			return 0;
		for (size_t i = 0; i < folded.length; i++, letters++) {
			out[letters] = folded.text[i];
			if (out[letters] < 'a' || out[letters] > 'z')
				return 0;
		}
	}
	return letters >= 2 * COMPOUND_PART_LETTERS ? letters : 0;
}

/* Whether an author has the name. */
static bool is_name(const struct rewriting *rewriting, const char *word, size_t length)
{
	struct name_word words[NAME_MAX_WORDS];
	char term[TERM_MAX_BYTES + 1];
	return name_split(word, length, words) == 1 &&
	       vocabulary_df(rewriting->view, term, name_word_term(&words[0], term)) > 0;
}

/* Token callback: split the token's word, if it is unknown. */
static void rewrite_token(const struct token *token, void *ctx)
{
	struct rewriting *rewriting = ctx;
	struct split splits[WORD_MAX_LETTERS + 1];
	char word[WORD_MAX_LETTERS];
	if (token->is_extra || rewriting->looked_at == WORDS_MAX ||
	    token->length < COMPOUND_PART_LETTERS ||
	    vocabulary_df(rewriting->view, token->text, token->length) > 0)
		return;
	size_t length =
		fold_letters(rewriting->text + token->start, token->end - token->start, word);
	if (length == 0 || is_name(rewriting, word, length))
		return;
	rewriting->looked_at++;
	split_word(rewriting, word, length, splits);
	if (splits[length].parts < 2)
		return;
	buf_add(&rewriting->out, rewriting->text + rewriting->copied,
	        token->start - rewriting->copied);
	write_parts(&rewriting->out, word, splits, length);
	rewriting->copied = token->end;
}

/* Token callback. */
static void count_word(const struct token *token, void *ctx)
{
	size_t *words = ctx;
	*words += !token->is_extra;
}

static size_t count_words(struct tokenizer *tokenizer, const char *text, size_t length)
{
	size_t words = 0;
	tokenizer_run(tokenizer, text, length, count_word, &words);
	return words;
}

const char *compounds_split(const struct engine_view *view, const char *text, size_t length,
                            struct arena *arena)
{
	struct rewriting rewriting = {
		.view = view,
		.tokenizer = tokenizer_new(0),
		.text = text,
		.out = {.arena = arena},
	};
	struct tokenizer *tokenizer = tokenizer_new(0);
	if (count_words(tokenizer, text, length) <= COMPOUND_QUERY_WORDS)
		tokenizer_run(tokenizer, text, length, rewrite_token, &rewriting);
	tokenizer_free(tokenizer);
	tokenizer_free(rewriting.tokenizer);
	if (rewriting.copied == 0)
		return text;
	buf_add(&rewriting.out, text + rewriting.copied, length - rewriting.copied);
	return rewriting.out.data;
}
