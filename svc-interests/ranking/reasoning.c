#include "ranking/reasoning.h"

#include "preference/features.h"
#include "ranking/naming.h"

#include <math.h>
#include <string.h>

static struct names names_for(struct arena *arena, struct word_splitter *splitter,
                              const struct reasoning_facts *facts)
{
	return names_of(arena, splitter, facts->terms, facts->term_count,
	                (struct named_paper){facts->title, facts->abstract});
}

static bool is_weak(const struct reasoning_facts *facts, const struct names *names)
{
	return facts->retrieval < REASONING_WEAK_BELOW && names->count <= REASONING_WEAK_NAMES;
}

/* Add `"a", "b"`: the names that are, or are not, in the title. */
static void add_quoted(struct buf *out, const struct names *names, bool in_title)
{
	const char *separator = "";
	for (size_t i = 0; i < names->count; i++) {
		if (names->items[i].in_title != in_title)
			continue;
		buf_printf(out, "%s\"%s\"", separator, names->items[i].text);
		separator = ", ";
	}
}

static void add_match(struct buf *out, const struct names *names, const char *interest,
                      bool is_loose)
{
	if (names->count == 0) {
		buf_puts(out, is_loose ? "Loosely related to " : "Close in meaning to ");
		if (*interest != '\0')
			buf_printf(out, "\"%s\"", interest);
		else
			buf_puts(out, "the interest");
		return;
	}
	buf_puts(out, is_loose ? "Loosely related: matches only " : "Matches ");
	if (names->in_title_count > 0) {
		add_quoted(out, names, true);
		buf_puts(out, " in the title");
	}
	if (names->in_title_count > 0 && names->in_title_count < names->count)
		buf_puts(out, " and ");
	if (names->in_title_count < names->count) {
		add_quoted(out, names, false);
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
	struct names names = names_for(arena, splitter, facts);
	struct buf out = {.arena = arena};
	add_match(&out, &names, name_clean(arena, facts->interest_name, REASONING_TITLE_BYTES),
	          is_weak(facts, &names));
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
	const char *word; /* in the title; NULL: any */
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

static const struct proposal *choose_proposal(struct arena *arena, struct word_splitter *splitter,
                                              const struct reasoning_facts *facts)
{
	const struct named_paper title = {facts->title, NULL};
	const struct proposal *proposal = proposals;
	for (;; proposal++) {
		if (proposal->needs_container && !facts->has_container)
			continue;
		if (proposal->word == NULL ||
		    names_of(arena, splitter, &proposal->word, 1, title).count > 0)
			return proposal;
	}
}

/* ` for "Search"`, or nothing. */
static void add_interest(struct buf *out, const struct reasoning_facts *facts, const char *before)
{
	const char *name = name_clean(out->arena, facts->interest_name, REASONING_TITLE_BYTES);
	if (*name != '\0')
		buf_printf(out, "%s\"%s\"", before, name);
}

static void add_title(struct buf *out, const struct reasoning_facts *facts)
{
	const char *title = name_clean(out->arena, facts->title, REASONING_TITLE_BYTES);
	if (*title != '\0')
		buf_printf(out, "\"%s\"", title);
	else
		buf_puts(out, "this paper");
}

/* A paper that may be about something else. */
static void add_caution(struct buf *out, const struct reasoning_facts *facts)
{
	buf_puts(out, "Read ");
	add_title(out, facts);
	buf_puts(out, " before trying anything: it may have little to do with ");
	if (facts->interest_name && *facts->interest_name)
		add_interest(out, facts, "");
	else
		buf_puts(out, "the interest");
	buf_puts(out, ".");
}

char *reasoning_experiment(struct arena *arena, struct word_splitter *splitter,
                           const struct reasoning_facts *facts)
{
	struct names names = names_for(arena, splitter, facts);
	const struct proposal *proposal = choose_proposal(arena, splitter, facts);
	struct buf out = {.arena = arena};
	if (is_weak(facts, &names)) {
		add_caution(&out, facts);
		return out.data;
	}
	buf_puts(&out, proposal->before);
	add_title(&out, facts);
	if (facts->code_url && !facts->has_container)
		buf_printf(&out, " (code: %s)",
		           name_clean(arena, facts->code_url, REASONING_URL_BYTES));
	buf_puts(&out, proposal->after);
	add_interest(&out, facts, " for ");
	buf_printf(&out, ", %s", proposal->ending);
	for (size_t i = 0; i < MIN_OF(names.count, (size_t)2); i++)
		buf_printf(&out, "%s\"%s\"", i ? " and " : "; begin with what it says of ",
		           names.items[i].text);
	buf_puts(&out, ".");
	return out.data;
}
