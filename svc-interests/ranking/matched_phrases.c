#include "ranking/matched_phrases.h"

#include "paper/features.h"

#include <ctype.h>
#include <string.h>

/* Adjacent words of a text, all of them matched. */
struct run {
	const char *start;
	size_t length; /* bytes */
	uint32_t ids[PHRASE_WORDS_MAX];
	size_t id_count;
};

/* Stems, as ids from term_id(). */
struct stems {
	uint32_t *ids;
	size_t count;
};

/* The runs of a text. */
struct runs {
	struct arena *arena;
	const struct stems *matched; /* stems of the matched words */
	struct run *runs;
	size_t count;
	bool is_open; /* the previous word was matched, so the next one can extend the run */
};

static bool stems_have(const struct stems *stems, uint32_t id)
{
	for (size_t i = 0; i < stems->count; i++)
		if (stems->ids[i] == id)
			return true;
	return false;
}

static void stems_add(struct arena *arena, struct stems *stems, uint32_t id)
{
	stems->ids = arena_grow(arena, stems->ids, stems->count * sizeof(uint32_t),
	                        (stems->count + 1) * sizeof(uint32_t));
	stems->ids[stems->count++] = id;
}

struct stems_reader {
	struct arena *arena;
	struct stems stems;
};

static void read_stem(void *context, const struct word *word)
{
	struct stems_reader *reader = context;
	stems_add(reader->arena, &reader->stems, term_id(word->stem, word->stem_length));
}

static struct stems stems_of(struct arena *arena, struct word_splitter *splitter, const char *text)
{
	struct stems_reader reader = {arena, {arena_alloc(arena, 0), 0}};
	words_each(splitter, text, read_stem, &reader);
	return reader.stems;
}

static void read_run(void *context, const struct word *word)
{
	struct runs *runs = context;
	uint32_t id = term_id(word->stem, word->stem_length);
	bool was_open = runs->is_open;
	runs->is_open = stems_have(runs->matched, id);
	if (!runs->is_open)
		return;
	bool extends = was_open && word->follows;
	struct run *run = extends ? &runs->runs[runs->count - 1] : NULL;
	if (!run || run->id_count == PHRASE_WORDS_MAX) {
		runs->runs = arena_grow(runs->arena, runs->runs, runs->count * sizeof(*run),
		                        (runs->count + 1) * sizeof(*run));
		run = &runs->runs[runs->count++];
		*run = (struct run){.start = word->text};
	}
	run->ids[run->id_count++] = id;
	run->length = (size_t)(word->text + word->length - run->start);
}

static struct runs runs_of(struct arena *arena, struct word_splitter *splitter,
                           const struct stems *matched, const char *text)
{
	struct runs runs = {arena, matched, arena_alloc(arena, 0), 0, false};
	words_each(splitter, text, read_run, &runs);
	return runs;
}

/* Number of words in the run; 0 when an earlier phrase uses one of them. */
static size_t unused_length(const struct run *run, const struct stems *used)
{
	for (size_t i = 0; i < run->id_count; i++)
		if (stems_have(used, run->ids[i]))
			return 0;
	return run->id_count;
}

static bool run_has(const struct run *run, const struct stems *own)
{
	const struct stems ids = {(uint32_t *)run->ids, run->id_count};
	for (size_t i = 0; i < own->count; i++)
		if (!stems_have(&ids, own->ids[i]))
			return false;
	return true;
}

/* The first of the longest runs that have the stems `own` and no used stem; NULL: none. */
static const struct run *longest_run(const struct runs *runs, const struct stems *own,
                                     const struct stems *used)
{
	const struct run *best = NULL;
	size_t most = 0;
	for (size_t i = 0; i < runs->count; i++) {
		size_t length = unused_length(&runs->runs[i], used);
		if (length <= most || !run_has(&runs->runs[i], own))
			continue;
		most = length;
		best = &runs->runs[i];
	}
	return best;
}

/* Whether the text has all of the stems, adjacent or not. */
static bool has_all(const struct runs *runs, const struct stems *own)
{
	for (size_t i = 0; i < own->count; i++) {
		const struct stems one = {own->ids + i, 1};
		bool is_found = false;
		for (size_t j = 0; j < runs->count && !is_found; j++)
			is_found = run_has(&runs->runs[j], &one);
		if (!is_found)
			return false;
	}
	return true;
}

/* Whether a word or a part of a compound begins at `at`: the "Attention" of "FlashAttention". */
static bool part_begins(const char *text, const char *at)
{
	if (at == text || !isalnum((unsigned char)at[-1]))
		return true;
	return isupper((unsigned char)at[0]) && islower((unsigned char)at[-1]);
}

/* Whether a word or a part of a compound ends before `end`: the "KV" of "KVCache" and the "RAG" of
 * "TableRAG", not the "RAG" of "RAGO". */
static bool part_ends(const char *end)
{
	if (!isalpha((unsigned char)end[0]))
		return true;
	return isupper((unsigned char)end[0]) &&
	       (islower((unsigned char)end[-1]) || islower((unsigned char)end[1]));
}

static bool is_part(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = text; at && *at && (at = strcasestr(at, word)); at++)
		if (part_begins(text, at) && part_ends(at + length))
			return true;
	return false;
}

/* Length of `text` cut to `max` bytes, at the end of a word or else of a character. */
static size_t cut_length(const char *text, size_t length, size_t max)
{
	if (length <= max)
		return length;
	for (size_t end = max; end > max / 2; end--)
		if (text[end] == ' ')
			return end;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

char *text_clean(struct arena *arena, const char *text, size_t max)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	for (; text && *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		bool is_space = c <= ' ' || c == 0x7f;
		if (is_space && (out.length == 0 || out.data[out.length - 1] == ' '))
			continue;
		buf_add(&out, is_space ? " " : c == '"' ? "'" : text, 1);
	}
	while (out.length > 0 && out.data[out.length - 1] == ' ')
		out.length--;
	size_t kept = cut_length(out.data, out.length, max);
	return arena_printf(arena, "%.*s%s", (int)kept, out.data, kept < out.length ? "..." : "");
}

/* The search for the phrases of one paper. */
struct phrase_search {
	struct arena *arena;
	struct phrase_source source;
	struct runs title, abstract;
	struct stems used; /* in a phrase already */
	struct phrases phrases;
};

static void add_phrase(struct phrase_search *search, const char *text, bool in_title)
{
	struct phrases *phrases = &search->phrases;
	phrases->items[phrases->count].text = text_clean(search->arena, text, PHRASE_BYTES);
	phrases->items[phrases->count++].in_title = in_title;
	phrases->in_title_count += in_title;
}

static void mark_used(struct phrase_search *search, const uint32_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stems_add(search->arena, &search->used, ids[i]);
}

/* Add the phrase of several words that contains the term; false: there is none. */
static bool add_run(struct phrase_search *search, const struct stems *own)
{
	const struct run *in_title = longest_run(&search->title, own, &search->used);
	const struct run *in_abstract = longest_run(&search->abstract, own, &search->used);
	const struct run *run = in_title ? in_title : in_abstract;
	if (in_title && in_title->id_count <= own->count)
		run = NULL;
	if (!run || run->id_count <= own->count)
		return false;
	add_phrase(search, arena_strndup(search->arena, run->start, run->length), run == in_title);
	mark_used(search, run->ids, run->id_count);
	return true;
}

/* Add the term alone, when the paper has it. */
static void add_term(struct phrase_search *search, const char *term, const struct stems *own)
{
	bool in_title = has_all(&search->title, own) || is_part(search->source.title, term);
	if (!in_title && !has_all(&search->abstract, own) &&
	    !is_part(search->source.abstract, term))
		return;
	add_phrase(search, term, in_title);
	mark_used(search, own->ids, own->count);
}

struct phrases matched_phrases(struct arena *arena, struct word_splitter *splitter,
                               const char *const *terms, size_t term_count,
                               struct phrase_source source)
{
	struct stems matched = {arena_alloc(arena, 0), 0};
	struct stems *each = arena_array(arena, term_count, sizeof(*each));
	for (size_t i = 0; i < term_count; i++) {
		each[i] = stems_of(arena, splitter, terms[i]);
		for (size_t j = 0; j < each[i].count; j++)
			stems_add(arena, &matched, each[i].ids[j]);
	}
	struct phrase_search search = {
		.arena = arena,
		.source = source,
		.title = runs_of(arena, splitter, &matched, source.title),
		.abstract = runs_of(arena, splitter, &matched, source.abstract),
		.used = {arena_alloc(arena, 0), 0},
	};
	for (size_t i = 0; i < term_count && search.phrases.count < PHRASES_MAX; i++) {
		size_t unused = 0;
		for (size_t j = 0; j < each[i].count; j++)
			unused += !stems_have(&search.used, each[i].ids[j]);
		if (unused && !add_run(&search, &each[i]))
			add_term(&search, terms[i], &each[i]);
	}
	return search.phrases;
}
