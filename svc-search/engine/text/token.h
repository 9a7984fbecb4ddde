/** svc-search/engine/text/: converts text to index terms. Does not depend on the other engine
 * folders.
 *
 *     token.h         tokenizer_run(): splits a text into tokens
 *     parsed_query.h  query_parse(): the distinct terms of a query
 *     highlight.h     highlight_fragment(): the part of a text that matches a query, marked
 *     chunk.h, fold.h, latex.h   the steps below the tokenizer: words, characters, LaTeX commands
 *     word_key.h      short words as integers
 *     intern.h        numbers for strings
 *     mem.h, cancel.h, file.h, parallel.h    memory, cancellation, files and threads for the whole
 *                                            engine
 *
 * A *term* is the form of a word that the index stores and looks up: folded (fold.h) and stemmed by
 * Snowball's English stemmer (Porter2). Stop words give no term. A *token* is one occurrence of a
 * term in a text. *Main* tokens are the words of the text, one after another. *Extra* tokens are
 * alternative spellings of a main token, so that a query in one spelling finds a text in the other:
 *
 *     text                  main                   extra
 *     state-of-the-art      state art              stateoftheart
 *     GPT-4                 gpt 4                  gpt4
 *     ResNet50              resnet50               res net50 resnet 50
 *     LoRA, OpenAI          lora, openai           lo ra, open ai
 *     LLMs, GANs            llm, gan
 *     c++, C#, A*           c++, c#, a*
 *     f1-score, snake_case  f1 score, snake case   f1score, snakecas
 *     3.5, 10,000           3.5, 10000
 *     2103.00020v2          2103.00020
 *     hep-th/9901001        hep-th/9901001
 *     math.GT/0309136       math/0309136
 *     $\mathcal{O}(n\log n)$  o n log n
 *     G\"odel, Gödel        godel, godel           goedel (of ö; so ü ue, ä ae, ø oe, å aa)
 *     β-VAE, $\beta$-VAE    beta vae               betava
 *
 * Accepts every byte sequence; bytes that are not UTF-8 separate words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the longest term; longer words are cut. */
#define TERM_MAX_BYTES 64

struct token {
	const char *text; /* the term, NUL-terminated; valid until the callback returns */
	size_t length;    /* bytes of `text`, 1 to TERM_MAX_BYTES */
	size_t start;     /* where its word begins in the source, in bytes */
	size_t end;       /* where its word ends in the source, in bytes */
	bool is_extra;    /* an alternative spelling; see above */
	/* For the callback, which may keep a number for the term here; 0 at first, after
	 * tokenizer_clear_memos(), and whenever the term has left the cache. NULL: the term is not
	 * cached. */
	uint32_t *memo;
};

typedef void token_cb(const struct token *token, void *ctx);

struct tokenizer;

/** Make a tokenizer. One thread may use it at a time. `cache_slots` is the number of stems that it
 * caches: 0 for a short text such as a query, some thousands for a corpus. */
struct tokenizer *tokenizer_new(size_t cache_slots);

/** Accepts NULL. */
void tokenizer_free(struct tokenizer *tokenizer);

/** Set all memos to 0. */
void tokenizer_clear_memos(struct tokenizer *tokenizer);

/** Call `cb` for each token of `text`. Main tokens come in the order of the text; extra tokens
 * follow the main tokens that they respell. */
void tokenizer_run(struct tokenizer *tokenizer, const char *text, size_t length, token_cb *cb,
                   void *ctx);

/** The same, and stop words give terms, too: for a text that has no other words, such as the title
 * "To Be or Not to Be". */
void tokenizer_run_stop_words(struct tokenizer *tokenizer, const char *text, size_t length,
                              token_cb *cb, void *ctx);
