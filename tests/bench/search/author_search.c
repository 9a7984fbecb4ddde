/* How well papers are found by a name of an author, on arxiv-cs in `../shared/data` (or the given
 * folder):
 *
 *     build/tests/bench/author_search [data folder]
 *
 * Every PAPER_STEP-th paper gives a query of each kind. A word of the title is one that is in few
 * titles, or any one that is no stop word. hit@1 counts the paper itself; *fit@1* any paper that
 * has an author with this name, and the word in its title, because several can. */
#include "engine/engine.h"
#include "engine/text/intern.h"
#include "engine/text/name.h"
#include "engine/text/token.h"
#include "search/judged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAPER_STEP 20
#define DEPTH      10

/* Bytes of the shortest word of a title that a query takes. */
#define WORD_MIN_BYTES 3

enum who { WHO_FAMILY, WHO_INITIAL, WHO_FULL };
enum word { WORD_RAREST, WORD_ANY, WORD_NONE };

static const struct kind {
	const char *name;
	enum who who;
	enum word word;
} kinds[] = {
	{"family name, rarest title word", WHO_FAMILY, WORD_RAREST},
	{"family name, any title word", WHO_FAMILY, WORD_ANY},
	{"family name, initial, any title word", WHO_INITIAL, WORD_ANY},
	{"full name, any title word", WHO_FULL, WORD_ANY},
	{"full name", WHO_FULL, WORD_NONE},
	{"family name, initial", WHO_INITIAL, WORD_NONE},
};

/* The words of a title. */
struct title {
	struct arena *arena;
	const char *text;
	struct {
		const char *word;
		const char *term;
	} words[64];
	size_t count;
};

static void add_word(const struct token *token, void *ctx)
{
	struct title *title = ctx;
	if (token->is_extra || token->end - token->start < WORD_MIN_BYTES ||
	    title->count == ARRAY_LEN(title->words))
		return;
	title->words[title->count].word =
		arena_strndup(title->arena, title->text + token->start, token->end - token->start);
	title->words[title->count++].term = arena_strndup(title->arena, token->text, token->length);
}

struct bench {
	struct judged *judged;
	struct tokenizer *tokenizer;
	struct intern terms;
	uint32_t *df; /* titles with the term, by its number */
	size_t capacity;
	struct engine *engine;
};

static struct title read_title(const struct bench *bench, struct arena *arena, const char *text)
{
	struct title title = {.arena = arena, .text = text};
	tokenizer_run(bench->tokenizer, text, strlen(text), add_word, &title);
	return title;
}

static bool title_has(const struct title *title, size_t count, const char *term)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(title->words[i].term, term) == 0)
			return true;
	return false;
}

static void count_titles(struct bench *bench)
{
	for (size_t i = 0; i < bench->judged->document_count; i++) {
		struct arena *arena = arena_new();
		struct title title = read_title(bench, arena, bench->judged->documents[i].title);
		for (size_t at = 0; at < title.count; at++) {
			const char *term = title.words[at].term;
			uint32_t number = intern_add(&bench->terms, term, strlen(term));
			if (number >= bench->capacity) {
				size_t capacity = bench->capacity * 2 + 1024;
				bench->df = realloc(bench->df, capacity * sizeof(*bench->df));
				require(bench->df);
				memset(bench->df + bench->capacity, 0,
				       (capacity - bench->capacity) * sizeof(*bench->df));
				bench->capacity = capacity;
			}
			bench->df[number] += !title_has(&title, at, term);
		}
		arena_free(arena);
	}
}

static uint32_t titles_with(const struct bench *bench, const char *term)
{
	return bench->df[intern_find(&bench->terms, term, strlen(term))];
}

/* The number of the word that a query takes; `seed` chooses any one. */
static size_t choose_word(const struct bench *bench, const struct title *title, enum word kind,
                          size_t seed)
{
	size_t best = (seed * 2654435761u >> 7) % title->count;
	for (size_t i = 0; i < title->count && kind == WORD_RAREST; i++)
		if (titles_with(bench, title->words[i].term) <
		    titles_with(bench, title->words[best].term))
			best = i;
	return best;
}

/* The name as the query gives it: "He", "He, K." or "Kaiming He". */
static const char *name_of(struct arena *arena, const char *full, enum who who)
{
	struct name_word words[NAME_MAX_WORDS];
	size_t count = name_split(full, strlen(full), words);
	const struct name_word *family = &words[count - 1];
	const char *text = arena_strndup(arena, full + family->start, family->end - family->start);
	if (who == WHO_INITIAL)
		return arena_printf(arena, "%s, %c.", text, words[0].text[0] - 'a' + 'A');
	return who == WHO_FULL ? full : text;
}

/* Whether the paper has an author of whom the query could speak, and the word in its title. */
static bool fits(const struct bench *bench, struct arena *arena, const char *id, const char *name,
                 enum who who, const char *term)
{
	const struct judged *judged = bench->judged;
	for (size_t i = 0; i < judged->document_count; i++) {
		const struct document *document = &judged->documents[i];
		if (strcmp(document->id, id) != 0)
			continue;
		struct title title = read_title(bench, arena, document->title);
		bool has_author = false;
		for (size_t at = 0; at < document->author_count; at++)
			has_author |=
				strcasecmp(name_of(arena, document->authors[at], who), name) == 0;
		return has_author && (!term || title_has(&title, title.count, term));
	}
	return false;
}

/* Whether the paper can give queries: its first author has a given name in ASCII. */
static bool is_usable(const struct document *document, const struct title *title)
{
	struct name_word words[NAME_MAX_WORDS];
	if (document->author_count == 0 || title->count == 0)
		return false;
	const char *name = document->authors[0];
	size_t count = name_split(name, strlen(name), words);
	return count > 1 && words[0].text[0] >= 'a' && words[0].text[0] <= 'z' &&
	       !name_is_initial(&words[0]) && !strchr(name, ',');
}

static void measure(const struct bench *bench, const struct engine_view *view,
                    const struct kind *kind)
{
	size_t queries = 0;
	size_t hits[2] = {0};
	size_t fitting = 0;
	for (size_t i = 0; i < bench->judged->document_count; i += PAPER_STEP) {
		const struct document *document = &bench->judged->documents[i];
		struct arena *arena = arena_new();
		struct title title = read_title(bench, arena, document->title);
		if (is_usable(document, &title)) {
			size_t word = choose_word(bench, &title, kind->word, i);
			bool has_word = kind->word != WORD_NONE;
			const char *name = name_of(arena, document->authors[0], kind->who);
			const char *text = arena_printf(arena, "%s%s%s", name, has_word ? " " : "",
			                                has_word ? title.words[word].word : "");
			struct engine_query query = {.text = text,
			                             .length = strlen(text),
			                             .limit = DEPTH};
			struct engine_result result = engine_search(view, &query, arena);
			queries++;
			for (size_t rank = 0; rank < result.count; rank++)
				if (strcmp(result.hits[rank].id, document->id) == 0) {
					hits[0] += rank == 0;
					hits[1]++;
				}
			bool is_fitting = result.count > 0 &&
			                  fits(bench, arena, result.hits[0].id, name, kind->who,
			                       has_word ? title.words[word].term : NULL);
			fitting += is_fitting;
			if (!is_fitting && getenv("SHOW_MISSES"))
				printf("    %s -> %s\n", text,
				       result.count > 0 ? result.hits[0].id : "nothing");
		}
		arena_free(arena);
	}
	printf("%-38s %7zu %7.3f %7.3f %7.3f\n", kind->name, queries,
	       (double)hits[0] / (double)queries, (double)hits[1] / (double)queries,
	       (double)fitting / (double)queries);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = arena_printf(arena, "%s/arxiv-cs", judged_folder(arena, argc, argv));
	struct bench bench = {.judged = judged_load(arena, folder, false)};
	if (!bench.judged) {
		printf("missing: %s\n", folder);
		arena_free(arena);
		return 0;
	}
	bench.tokenizer = tokenizer_new(0);
	bench.engine = judged_index(bench.judged);
	count_titles(&bench);
	struct engine_view *view = engine_view_get(bench.engine);
	printf("%-38s %7s %7s %7s %7s\n", "", "queries", "hit@1", "hit@10", "fit@1");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		measure(&bench, view, &kinds[i]);
	engine_view_put(view);
	engine_free(bench.engine);
	tokenizer_free(bench.tokenizer);
	intern_done(&bench.terms);
	free(bench.df);
	arena_free(arena);
	return 0;
}
