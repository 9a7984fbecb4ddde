#include "ranking/naming.h"

#include "preference/features.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Words side by side in a text, all of them matched. */
struct run {
	const char *start;
	size_t length; /* bytes */
	uint32_t ids[NAME_WORDS_MAX];
	size_t id_count;
};

/* Stems by hash. */
struct stems {
	uint32_t *ids;
	size_t count;
};

/* Reads a text's runs, or the stems of a word. */
struct runs {
	struct arena *arena;
	const struct stems *wanted;
	struct run *runs;
	size_t count;
	bool is_open; /* the word before was matched: the next may go on */
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
	runs->is_open = stems_have(runs->wanted, id);
	if (!runs->is_open)
		return;
	bool goes_on = was_open && word->follows;
	struct run *run = goes_on ? &runs->runs[runs->count - 1] : NULL;
	if (!run || run->id_count == NAME_WORDS_MAX) {
		runs->runs = arena_grow(runs->arena, runs->runs, runs->count * sizeof(*run),
		                        (runs->count + 1) * sizeof(*run));
		run = &runs->runs[runs->count++];
		*run = (struct run){.start = word->text};
	}
	run->ids[run->id_count++] = id;
	run->length = (size_t)(word->text + word->length - run->start);
}

static struct runs runs_of(struct arena *arena, struct word_splitter *splitter,
                           const struct stems *wanted, const char *text)
{
	struct runs runs = {arena, wanted, arena_alloc(arena, 0), 0, false};
	words_each(splitter, text, read_run, &runs);
	return runs;
}

/* How many words the run would tell; 0 where some were told before. */
static size_t run_news(const struct run *run, const struct stems *told)
{
	for (size_t i = 0; i < run->id_count; i++)
		if (stems_have(told, run->ids[i]))
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

/* The longest run with these stems that says nothing twice, the first of them; NULL: none. */
static const struct run *longest_run(const struct runs *runs, const struct stems *own,
                                     const struct stems *told)
{
	const struct run *best = NULL;
	size_t most = 0;
	for (size_t i = 0; i < runs->count; i++) {
		size_t news = run_news(&runs->runs[i], told);
		if (news <= most || !run_has(&runs->runs[i], own))
			continue;
		most = news;
		best = &runs->runs[i];
	}
	return best;
}

/* Whether the text has all of the stems, side by side or not. */
static bool has_all(const struct runs *runs, const struct stems *own)
{
	for (size_t i = 0; i < own->count; i++) {
		const struct stems one = {own->ids + i, 1};
		bool is_there = false;
		for (size_t j = 0; j < runs->count && !is_there; j++)
			is_there = run_has(&runs->runs[j], &one);
		if (!is_there)
			return false;
	}
	return true;
}

/* Whether a part of a compound begins at `at`: the "Attention" of "FlashAttention". */
static bool part_begins(const char *text, const char *at)
{
	if (at == text || !isalnum((unsigned char)at[-1]))
		return true;
	return isupper((unsigned char)at[0]) && islower((unsigned char)at[-1]);
}

/* Whether one ends before `end`: the "KV" of "KVCache", the "RAG" of "TableRAG", not of "RAGO". */
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
	for (const char *at = text; at && *at; at++)
		if (strncasecmp(at, word, length) == 0 && part_begins(text, at) &&
		    part_ends(at + length))
			return true;
	return false;
}

/* Bytes of `text` up to `max` that end at a word, or else at a whole character. */
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

char *name_clean(struct arena *arena, const char *text, size_t max)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	for (; text != NULL && *text != '\0'; text++) {
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

/* Both texts of a paper, and what was named of it. */
struct naming {
	struct arena *arena;
	struct named_paper paper;
	struct runs title, abstract;
	struct stems told;
	struct names names;
};

static void add_name(struct naming *naming, const char *text, bool in_title)
{
	struct names *names = &naming->names;
	names->items[names->count].text = name_clean(naming->arena, text, NAME_BYTES);
	names->items[names->count++].in_title = in_title;
	names->in_title_count += in_title;
}

static void tell(struct naming *naming, const uint32_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stems_add(naming->arena, &naming->told, ids[i]);
}

/* Name the term by the words around it; false: it stands alone. */
static bool name_phrase(struct naming *naming, const struct stems *own)
{
	const struct run *in_title = longest_run(&naming->title, own, &naming->told);
	const struct run *in_abstract = longest_run(&naming->abstract, own, &naming->told);
	const struct run *run = in_title ? in_title : in_abstract;
	if (in_title && in_title->id_count <= own->count)
		run = NULL;
	if (!run || run->id_count <= own->count)
		return false;
	add_name(naming, arena_strndup(naming->arena, run->start, run->length), run == in_title);
	tell(naming, run->ids, run->id_count);
	return true;
}

static void name_term(struct naming *naming, const char *term, const struct stems *own)
{
	bool in_title = has_all(&naming->title, own) || is_part(naming->paper.title, term);
	if (!in_title && !has_all(&naming->abstract, own) && !is_part(naming->paper.abstract, term))
		return;
	add_name(naming, term, in_title);
	tell(naming, own->ids, own->count);
}

struct names names_of(struct arena *arena, struct word_splitter *splitter, const char *const *terms,
                      size_t term_count, struct named_paper paper)
{
	struct stems wanted = {arena_alloc(arena, 0), 0};
	struct stems *each = arena_array(arena, term_count, sizeof(*each));
	for (size_t i = 0; i < term_count; i++) {
		each[i] = stems_of(arena, splitter, terms[i]);
		for (size_t j = 0; j < each[i].count; j++)
			stems_add(arena, &wanted, each[i].ids[j]);
	}
	struct naming naming = {
		.arena = arena,
		.paper = paper,
		.title = runs_of(arena, splitter, &wanted, paper.title),
		.abstract = runs_of(arena, splitter, &wanted, paper.abstract),
		.told = {arena_alloc(arena, 0), 0},
	};
	for (size_t i = 0; i < term_count && naming.names.count < NAMES_MAX; i++) {
		size_t news = 0;
		for (size_t j = 0; j < each[i].count; j++)
			news += !stems_have(&naming.told, each[i].ids[j]);
		if (news && !name_phrase(&naming, &each[i]))
			name_term(&naming, terms[i], &each[i]);
	}
	return naming.names;
}
