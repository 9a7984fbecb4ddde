#include "engine/text/token.h"

#include "base/arena.h"
#include "base/base.h"
#include "engine/text/chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The tokens of a text, separated by spaces; extra tokens begin with a plus. */
struct token_list {
	struct buf buf;
	const char *source;
	size_t last_start;
};

static void add_token(const struct token *token, void *ctx)
{
	struct token_list *list = ctx;
	assert_true(token->length > 0 && token->length <= TERM_MAX_BYTES);
	assert_int_equal(strlen(token->text), token->length);
	assert_true(token->start < token->end);
	assert_true(token->end <= strlen(list->source));
	if (!token->is_extra) {
		assert_true(token->start >= list->last_start);
		list->last_start = token->start;
	}
	buf_printf(&list->buf, "%s%s%s", list->buf.length > 0 ? " " : "",
	           token->is_extra ? "+" : "", token->text);
}

static const char *tokens_of(struct arena *arena, struct tokenizer *tokenizer, const char *text)
{
	struct token_list list = {.buf = {.arena = arena}, .source = text};
	tokenizer_run(tokenizer, text, strlen(text), add_token, &list);
	return list.buf.length > 0 ? list.buf.data : "";
}

static const struct {
	const char *text;
	const char *tokens;
} cases[] = {
	/* words */
	{"", ""},
	{"   \t\n", ""},
	{"Learning to rank documents", "learn rank document"},
	{"the of and to be or not", ""},
	{"user's users' don't O'Brien", "user user dont obrien"},
	{"user\xE2\x80\x99s", "user"},
	/* compounds */
	{"state-of-the-art", "state art +stateoftheart"},
	{"state\xE2\x80\x90of", "state +stateof"},
	{"GPT-4", "gpt 4 +gpt4"},
	{"f1-score", "f1 score +f1score"},
	{"snake_case", "snake case +snakecas"},
	{"a--b c---d", "b c d"},
	{"-x- _y_", "x y"},
	{"one-two-three-four-five-six", "one two three four five six"},
	/* capitals and digits inside */
	{"ResNet50", "resnet50 +res +net50 +resnet +50"},
	{"OpenAI LoRA", "openai +open +ai lora +lo +ra"},
	{"LSTMCell GANs", "lstmcell +lstm +cell gan"},
	{"LLMs llms CNNs boss", "llm llm cnn boss"},
	{"gpt4 f1", "gpt4 +gpt f1"},
	/* numbers and names with signs */
	{"3.5 10,000 1,2 1.2.3", "3.5 10000 1 2 1.2.3"},
	{"llama-3.1 Llama3.1", "llama 3.1 +llama3.1 llama3.1 +llama +3.1"},
	{"c++ C# A* search", "c++ c# a* search"},
	{"node.js end.Start", "node js end start"},
	{"AT&T R&D", "t r d"},
	/* identifiers */
	{"2103.00020 2103.00020v2, arXiv:2103.00020.",
         "2103.00020 2103.00020 arxiv +ar +xiv 2103.00020"},
	{"https://arxiv.org/abs/2103.00020v12", "http arxiv org ab 2103.00020"},
	{"hep-th/9901001 math.GT/0309136v1", "hep-th/9901001 math/0309136"},
	{"12345.67890 2103.000201", "12345.67890 2103.000201"},
	{"input/output", "input output"},
	/* LaTeX */
	{"$\\mathcal{O}(n\\log n)$", "o n log n"},
	{"G\\\"odel G\\\"{o}del {G}\\\"{o}del", "godel godel godel"},
	{"Erd\\H{o}s \\O{}rsted na\\\"{\\i}ve P\\'olya", "erdo orst naiv polya"},
	{"$k$-means $x_i$ x_i", "k mean +kmean x x +xi"},
	{"$\\alpha\\beta$-VAE", "alpha beta vae +betava"},
	{"50\\% \\emph{great} \\textbf{bold}text", "50 great boldtext"},
	{"\\frac{a}{b}c", "bc"},
	{"\\", ""},
	{"x\\", "x"},
	/* characters */
	{"G\xC3\xB6"
         "del G\xC3\x96"
         "DEL Go\xCC\x88"
         "del",
         "godel +goedel godel +goedel godel"},
	{"\xCE\xB2-VAE \xCE\xB2", "beta vae +betava beta"},
	{"\xEF\xAC\x81ne \xEF\xBC\xA6\xEF\xBC\xB5", "fine fu"},
	{"\xF0\x9D\x92\x9C\xF0\x9D\x92\x9E x\xC2\xB2", "ac x2"},
	{"\xE5\x8C\x97\xE4\xBA\xAC", "\xE5\x8C\x97 \xE4\xBA\xAC"},
	{"soft\xC2\xADhyphen zero\xE2\x80\x8Bwidth", "softhyphen zerowidth"},
	/* not UTF-8 */
	{"caf\xE9 au\xFFlait \xC3", "caf au lait"},
	{"\xC0\xAF\xED\xA0\x80\xF5", ""},
	{"nul\x01 bell\x07 del\x7F", "nul bell del"},
};

static void texts_give_the_listed_tokens(void **state attr_unused)
{
	struct tokenizer *plain = tokenizer_new(0);
	struct tokenizer *cached = tokenizer_new(7);
	struct arena *arena = arena_new();
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
			assert_string_equal(tokens_of(arena, plain, cases[i].text),
			                    cases[i].tokens);
			assert_string_equal(tokens_of(arena, cached, cases[i].text),
			                    cases[i].tokens);
		}
	}
	arena_free(arena);
	tokenizer_free(plain);
	tokenizer_free(cached);
	tokenizer_free(NULL);
}

static void add_word(const struct token *token, void *ctx)
{
	struct token_list *list = ctx;
	buf_printf(&list->buf, "%s[%.*s]", token->is_extra ? "+" : "",
	           (int)(token->end - token->start), list->source + token->start);
}

static void offsets_cover_the_source_word(void **state attr_unused)
{
	static const char text[] = "the Na\\\"{\\i}ve-Bayes, (c++) $\\alpha$ user's G\xC3\xB6"
				   "del";
	struct tokenizer *tokenizer = tokenizer_new(0);
	struct arena *arena = arena_new();
	struct token_list list = {.buf = {.arena = arena}, .source = text};
	tokenizer_run(tokenizer, text, strlen(text), add_word, &list);
	assert_string_equal(
		list.buf.data,
		"[Na\\\"{\\i}ve][Bayes]+[Na\\\"{\\i}ve-Bayes][c++][\\alpha][user][G\xC3\xB6"
		"del]+[G\xC3\xB6"
		"del]");
	arena_free(arena);
	tokenizer_free(tokenizer);
}

static void long_words_are_cut_between_characters(void **state attr_unused)
{
	struct tokenizer *tokenizer = tokenizer_new(16);
	struct arena *arena = arena_new();
	char *text = arena_alloc(arena, 100001);
	memset(text, 'a', 100000);
	const char *tokens = tokens_of(arena, tokenizer, text);
	assert_int_equal(strcspn(tokens, " "), TERM_MAX_BYTES);
	for (size_t i = 0; i + 2 <= 100000; i += 2)
		memcpy(text + i, "\xD0\xB6", 2);
	tokens = tokens_of(arena, tokenizer, text);
	assert_true(strcspn(tokens, " ") % 2 == 0);
	assert_true(strlen(tokens) > 0);
	arena_free(arena);
	tokenizer_free(tokenizer);
}

static void random_bytes_give_valid_tokens(void **state attr_unused)
{
	struct tokenizer *tokenizer = tokenizer_new(64);
	struct arena *arena = arena_new();
	static const char alphabet[] = "aZ9-_.,/'+#*$\\{}^~ \xC3\xA9\xCE\xB2\xE5\x8C\xF0\x9D\xFF";
	uint32_t random = 1;
	for (int round = 0; round < 20000; round++) {
		size_t length = 0;
		char text[41];
		while (length < sizeof(text) - 1) {
			random = random * 1664525u + 1013904223u;
			text[length++] = alphabet[(random >> 16) % (sizeof(alphabet) - 1)];
		}
		text[length] = '\0';
		tokens_of(arena, tokenizer, text);
	}
	arena_free(arena);
	tokenizer_free(tokenizer);
}

/* The units of the next chunk and where it begins, read with or without plain words. */
static bool next_chunk(struct chunk_reader *reader, bool has_plain_words, char *ret_text,
                       size_t *ret_start)
{
	static struct chunk chunk;
	struct plain_word word;
	size_t length = 0;
	if (has_plain_words && chunk_next_plain(reader, &word)) {
		memcpy(ret_text, &word.key, word.length);
		ret_text[word.length] = '\0';
		*ret_start = word.start;
		return true;
	}
	if (!chunk_next(reader, &chunk))
		return false;
	for (size_t i = 0; i < chunk.count; i++) {
		memcpy(ret_text + length, chunk.units[i].text, chunk.units[i].length);
		length += chunk.units[i].length;
	}
	ret_text[length] = '\0';
	*ret_start = chunk.units[0].start;
	return true;
}

static void plain_words_are_chunks(void **state attr_unused)
{
	/* The second one makes words of more than WORD_KEY_BYTES, too. */
	static const char *const alphabets[] = {
		"abcdefghijABC  ,.-'+#/$\\_(;1\xC3\xA9",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzA ,-\xC3\xA9",
	};
	uint32_t random = 2;
	for (int round = 0; round < 20000; round++) {
		char text[81];
		const char *alphabet = alphabets[round % 2];
		for (size_t i = 0; i < sizeof(text); i++) {
			random = random * 1664525u + 1013904223u;
			text[i] = alphabet[(random >> 16) % strlen(alphabet)];
		}
		struct chunk_reader plain = {.text = text, .length = sizeof(text)};
		struct chunk_reader full = plain;
		char word[2][4 * CHUNK_UNITS + 1];
		size_t start[2];
		while (next_chunk(&full, false, word[0], &start[0])) {
			assert_true(next_chunk(&plain, true, word[1], &start[1]));
			assert_string_equal(word[0], word[1]);
			assert_int_equal(start[0], start[1]);
		}
		assert_false(next_chunk(&plain, true, word[1], &start[1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_give_the_listed_tokens),
		cmocka_unit_test(offsets_cover_the_source_word),
		cmocka_unit_test(long_words_are_cut_between_characters),
		cmocka_unit_test(random_bytes_give_valid_tokens),
		cmocka_unit_test(plain_words_are_chunks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
