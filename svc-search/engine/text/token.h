/** Text to index terms.
 *
 * A *term* is what is looked up: folded (fold.h), without stop words, stemmed by Snowball's English
 * stemmer (Porter2). A *token* is one occurrence of a term in a text. *Main* tokens stand for the
 * words one after another. *Extra* tokens are other ways to write a main token, so that either way
 * finds the other:
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
 *     G\"odel, Gödel        godel, godel
 *     β-VAE, $\beta$-VAE    beta vae               betava
 *
 * Every byte sequence is taken; what is not UTF-8 separates words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the longest term; longer words are cut. */
#define TERM_MAX_BYTES 64

struct token {
	const char *text; /* the term, NUL-terminated; valid until the callback returns */
	size_t length;    /* bytes of `text`, 1 to TERM_MAX_BYTES */
	size_t start;     /* where its word begins in the source, in bytes */
	size_t end;       /* and where it ends */
	bool is_extra;    /* another way to write the word; see above */
};

typedef void token_cb(const struct token *token, void *ctx);

struct tokenizer;

/** Make a tokenizer; not safe for use from two threads at once. `cache_slots` is how many stems it
 * remembers: 0 for a short text such as a query, some thousands for a corpus. */
struct tokenizer *tokenizer_new(size_t cache_slots);

/** NULL is fine. */
void tokenizer_free(struct tokenizer *tokenizer);

/** Call `cb` for each token of `text`, in order of where the words stand. */
void tokenizer_run(struct tokenizer *tokenizer, const char *text, size_t length, token_cb *cb,
                   void *ctx);
