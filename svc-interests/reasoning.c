#include "reasoning.h"

#include "features.h"

#include <math.h>
#include <string.h>

/* Stems of a text, by hash. */
struct stems {
	struct arena *arena;
	uint32_t *ids;
	size_t count;
};

static void stems_add(void *context, const struct word *word)
{
	struct stems *stems = context;
	stems->ids = arena_grow(stems->arena, stems->ids, stems->count * sizeof(uint32_t),
	                        (stems->count + 1) * sizeof(uint32_t));
	stems->ids[stems->count++] = term_id(word->stem, word->stem_length);
}

static struct stems stems_of(struct arena *arena, struct word_splitter *splitter, const char *text)
{
	struct stems stems = {arena, arena_alloc(arena, 0), 0};
	words_each(splitter, text, stems_add, &stems);
	return stems;
}

static bool stems_have(const struct stems *stems, uint32_t id)
{
	for (size_t i = 0; i < stems->count; i++)
		if (stems->ids[i] == id)
			return true;
	return false;
}

static bool stems_have_all(const struct stems *stems, const struct stems *wanted)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (!stems_have(stems, wanted->ids[i]))
			return false;
	return true;
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

/* `text` on one line without double quotes, cut to about `max` bytes. NULL is empty. */
static char *clean(struct arena *arena, const char *text, size_t max)
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

/* The matched terms to name: no stop words, no stem twice, the first few. */
struct named_terms {
	const char *names[REASONING_TERMS_MAX];
	bool in_title[REASONING_TERMS_MAX];
	size_t count;
	size_t in_title_count;
};

static struct named_terms name_terms(struct arena *arena, struct word_splitter *splitter,
                                     const struct reasoning_facts *facts)
{
	struct named_terms named = {.count = 0};
	struct stems title = stems_of(arena, splitter, facts->title);
	struct stems told = {arena, arena_alloc(arena, 0), 0};
	for (size_t i = 0; i < facts->term_count && named.count < REASONING_TERMS_MAX; i++) {
		struct stems own = stems_of(arena, splitter, facts->terms[i]);
		if (stems_have_all(&told, &own))
			continue;
		words_each(splitter, facts->terms[i], stems_add, &told);
		bool in_title = stems_have_all(&title, &own);
		named.names[named.count] = clean(arena, facts->terms[i], REASONING_TERM_BYTES);
		named.in_title[named.count++] = in_title;
		named.in_title_count += in_title;
	}
	return named;
}

/* Add `"a", "b"`: the terms that are, or are not, in the title. */
static void add_quoted(struct buf *out, const struct named_terms *named, bool in_title)
{
	const char *separator = "";
	for (size_t i = 0; i < named->count; i++) {
		if (named->in_title[i] != in_title)
			continue;
		buf_printf(out, "%s\"%s\"", separator, named->names[i]);
		separator = ", ";
	}
}

static void add_match(struct buf *out, const struct named_terms *named, const char *interest)
{
	if (named->count == 0) {
		if (*interest != '\0')
			buf_printf(out, "Close in meaning to \"%s\"", interest);
		else
			buf_puts(out, "Close in meaning to the interest");
		return;
	}
	buf_puts(out, "Matches ");
	if (named->in_title_count > 0) {
		add_quoted(out, named, true);
		buf_puts(out, " in the title");
	}
	if (named->in_title_count > 0 && named->in_title_count < named->count)
		buf_puts(out, " and ");
	if (named->in_title_count < named->count) {
		add_quoted(out, named, false);
		buf_puts(out, " in the abstract");
	}
}

static void add_age(struct buf *out, double age_days)
{
	if (!(age_days < REASONING_RECENT_DAYS + 1))
		return;
	int days = (int)fmax(age_days, 0);
	if (days == 0)
		buf_puts(out, "; published today");
	else if (days == 1)
		buf_puts(out, "; published yesterday");
	else
		buf_printf(out, "; published %d days ago", days);
}

char *reasoning_sentence(struct arena *arena, struct word_splitter *splitter,
                         const struct reasoning_facts *facts)
{
	struct named_terms named = name_terms(arena, splitter, facts);
	struct buf out = {.arena = arena};
	add_match(&out, &named, clean(arena, facts->interest_name, REASONING_TITLE_BYTES));
	add_age(&out, facts->age_days);
	if (facts->has_container)
		buf_puts(&out, "; has a runnable container");
	if (facts->liked >= REASONING_LIKED_MIN)
		buf_puts(&out, "; similar to papers this team liked");
	buf_puts(&out, ".");
	return out.data;
}

/* How to begin with a paper, by what its title says it is; `before` and `after` stand around the
 * title, `ending` after the interest. */
struct proposal {
	const char *stem; /* in the title; NULL: any */
	bool needs_container;
	const char *before;
	const char *after;
	const char *ending;
};

#define COMPARE "and compare the result with what you use today"
#define TRY_OUT "and see how what you use today does"

/* The first that fits. */
static const struct proposal proposals[] = {
	{NULL, true, "Run the container of ", " on a small sample of your data", COMPARE},
	{"survey", false, "Take one approach from ", " to a small sample of your data", COMPARE},
	{"review", false, "Take one approach from ", " to a small sample of your data", COMPARE},
	{"benchmark", false, "Repeat a small part of ", "", TRY_OUT},
	{"dataset", false, "Take a small part of ", " as test data", TRY_OUT},
	{NULL, false, "Try what ", " describes on a small sample of your data", COMPARE},
};

static const struct proposal *choose_proposal(const struct stems *title, bool has_container)
{
	const struct proposal *proposal = proposals;
	for (;; proposal++) {
		if (proposal->needs_container && !has_container)
			continue;
		if (proposal->stem == NULL ||
		    stems_have(title, term_id(proposal->stem, strlen(proposal->stem))))
			return proposal;
	}
}

char *reasoning_experiment(struct arena *arena, struct word_splitter *splitter,
                           const struct reasoning_facts *facts)
{
	struct named_terms named = name_terms(arena, splitter, facts);
	struct stems title = stems_of(arena, splitter, facts->title);
	const struct proposal *proposal = choose_proposal(&title, facts->has_container);
	const char *quoted = clean(arena, facts->title, REASONING_TITLE_BYTES);
	const char *interest = clean(arena, facts->interest_name, REASONING_TITLE_BYTES);

	struct buf out = {.arena = arena};
	buf_puts(&out, proposal->before);
	if (*quoted != '\0')
		buf_printf(&out, "\"%s\"", quoted);
	else
		buf_puts(&out, "this paper");
	buf_puts(&out, proposal->after);
	if (*interest != '\0')
		buf_printf(&out, " for \"%s\"", interest);
	buf_printf(&out, ", %s", proposal->ending);
	if (named.count > 0)
		buf_printf(&out, " for %s", named.names[0]);
	if (named.count > 1)
		buf_printf(&out, " and %s", named.names[1]);
	buf_puts(&out, ".");
	return out.data;
}
