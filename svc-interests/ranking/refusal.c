#include "ranking/refusal.h"

#include "interest/interest_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORDS_MAX = 6 /* of an item; further ones are ignored */ };

/* What one occurrence in the abstract counts: three are as much as one in the title. */
#define ABSTRACT_OCCURRENCE 0.35

/* A thing that is refused. */
struct item {
	const char *text;
	uint32_t ids[WORDS_MAX];
	size_t count;
};

struct refusal {
	struct arena *arena;
	struct word_splitter *splitter;
	struct item *items;
	size_t count;
};

static void add_word(void *context, const struct word *word)
{
	struct item *item = context;
	if (item->count < WORDS_MAX)
		item->ids[item->count++] = term_id(word->stem, word->stem_length);
}

static bool has_all_words(const struct bag *bag, const struct item *item)
{
	for (size_t i = 0; i < item->count; i++)
		if (!bsearch(&item->ids[i], bag->terms, bag->count, sizeof(*bag->terms),
		             term_id_compare))
			return false;
	return true;
}

struct refusal *refusal_new(struct arena *arena, struct word_splitter *splitter,
                            const struct interest *interest)
{
	size_t count;
	const char *const *texts = interest_text_refused(arena, interest->context, &count);
	if (count == 0)
		return NULL;
	const struct bag *topic = interest_bag(arena, splitter, interest);
	struct refusal *refusal = arena_new_of(arena, struct refusal);
	refusal->arena = arena;
	refusal->splitter = splitter;
	refusal->items = arena_array(arena, count, sizeof(*refusal->items));
	for (size_t i = 0; i < count; i++) {
		struct item *item = &refusal->items[refusal->count];
		*item = (struct item){.text = texts[i]};
		words_each(splitter, texts[i], add_word, item);
		refusal->count += item->count > 0 && !has_all_words(topic, item);
	}
	return refusal;
}

/* A text that is searched for one item. */
struct search {
	const struct item *item;
	const char *text;
	size_t matched; /* words of the item that the last words of the text were */
	const char *start;
	size_t occurrences;
};

/* Whether the text denies what stands from `start` to `end`. */
static bool is_denied(const char *text, const char *start, const char *end)
{
	static const char *const denials[] = {"without", "no", "not", "non", "any", "avoiding"};
	if (strncasecmp(end, "-free", 5) == 0 || strncasecmp(end, " free", 5) == 0)
		return true;
	while (start > text && !isalnum((unsigned char)start[-1]))
		start--;
	for (size_t i = 0; i < ARRAY_LEN(denials); i++) {
		size_t length = strlen(denials[i]);
		if ((size_t)(start - text) >= length &&
		    strncasecmp(start - length, denials[i], length) == 0 &&
		    (start - length == text || !isalnum((unsigned char)start[-length - 1])))
			return true;
	}
	return false;
}

static void match_word(void *context, const struct word *word)
{
	struct search *search = context;
	uint32_t id = term_id(word->stem, word->stem_length);
	if (search->matched > 0 && search->item->ids[search->matched] != id)
		search->matched = 0;
	if (search->item->ids[search->matched] != id)
		return;
	if (search->matched == 0)
		search->start = word->text;
	if (++search->matched < search->item->count)
		return;
	search->matched = 0;
	search->occurrences += !is_denied(search->text, search->start, word->text + word->length);
}

static size_t occurrences(const struct refusal *refusal, const struct item *item, const char *text)
{
	struct search search = {.item = item, .text = text};
	words_each(refusal->splitter, text, match_word, &search);
	return search.occurrences;
}

size_t refusal_count(const struct refusal *refusal)
{
	return refusal ? refusal->count : 0;
}

/* Papers without all words of the item, nearly all, are not read. */
struct refused_item refusal_item(const struct refusal *refusal, size_t at,
                                 const struct paper *paper)
{
	const struct item *item = &refusal->items[at];
	const struct paper_text *text = &paper->text;
	if (!has_all_words(paper->bag, item))
		return (struct refused_item){item->text, 0};
	double found =
		occurrences(refusal, item, text->title) > 0
			? 1
			: ABSTRACT_OCCURRENCE * (double)occurrences(refusal, item, text->abstract);
	return (struct refused_item){item->text, fmin(found, 1)};
}

double refusal_of(const struct refusal *refusal, const struct paper *paper)
{
	double most = 0;
	for (size_t i = 0; i < refusal_count(refusal); i++)
		most = fmax(most, refusal_item(refusal, i, paper).value);
	return most;
}
