#include "ranking/explanation.h"

#include "preference/features.h"
#include "ranking/matched_phrases.h"

#include <math.h>
#include <string.h>

static struct phrases phrases_for(struct arena *arena, struct word_splitter *splitter,
                                  const struct explanation_facts *facts)
{
	return matched_phrases(arena, splitter, facts->terms, facts->term_count,
	                       (struct phrase_source){facts->title, facts->abstract});
}

static bool is_weak(const struct explanation_facts *facts, const struct phrases *phrases)
{
	return facts->retrieval < EXPLANATION_WEAK_BELOW &&
	       phrases->count <= EXPLANATION_WEAK_PHRASES;
}

/* Append `"a", "b"`: the phrases in the title, or those in the abstract. */
static void add_quoted(struct buf *out, const struct phrases *phrases, bool in_title)
{
	const char *separator = "";
	for (size_t i = 0; i < phrases->count; i++) {
		if (phrases->items[i].in_title != in_title)
			continue;
		buf_printf(out, "%s\"%s\"", separator, phrases->items[i].text);
		separator = ", ";
	}
}

static void add_match(struct buf *out, const struct phrases *phrases, const char *interest,
                      bool is_loose)
{
	if (phrases->count == 0) {
		buf_puts(out, is_loose ? "Loosely related to " : "Close in meaning to ");
		if (*interest != '\0')
			buf_printf(out, "\"%s\"", interest);
		else
			buf_puts(out, "the interest");
		return;
	}
	buf_puts(out, is_loose ? "Loosely related: matches only " : "Matches ");
	if (phrases->in_title_count > 0) {
		add_quoted(out, phrases, true);
		buf_puts(out, " in the title");
	}
	if (phrases->in_title_count > 0 && phrases->in_title_count < phrases->count)
		buf_puts(out, " and ");
	if (phrases->in_title_count < phrases->count) {
		add_quoted(out, phrases, false);
		buf_puts(out, " in the abstract");
	}
}

static void add_age(struct buf *out, double age_days)
{
	if (!(age_days < EXPLANATION_RECENT_DAYS + 1))
		return;
	int days = (int)fmax(age_days, 0);
	if (days == 0)
		buf_puts(out, "; published today");
	else if (days == 1)
		buf_puts(out, "; published yesterday");
	else
		buf_printf(out, "; published %d days ago", days);
}

char *explain_match(struct arena *arena, struct word_splitter *splitter,
                    const struct explanation_facts *facts)
{
	struct phrases phrases = phrases_for(arena, splitter, facts);
	struct buf out = {.arena = arena};
	add_match(&out, &phrases, text_clean(arena, facts->interest_name, EXPLANATION_TITLE_BYTES),
	          is_weak(facts, &phrases));
	add_age(&out, facts->age_days);
	if (facts->has_container)
		buf_puts(&out, "; has a runnable container");
	if (facts->liked >= EXPLANATION_LIKED_MIN)
		buf_puts(&out, "; similar to papers this team liked");
	buf_puts(&out, ".");
	return out.data;
}

/* A suggested experiment: `before`, the title, `after`, the interest, `ending`. */
struct proposal {
	const char *word; /* that the title must have; NULL: none */
	bool needs_container;
	const char *before;
	const char *after;
	const char *ending;
};

#define COMPARE "and compare the result with your current method"
#define MEASURE "and measure your current method on it"

/* The first row that fits the paper is used. */
static const struct proposal proposals[] = {
	{NULL, true, "Run the container of ", " on a small sample of your data", COMPARE},
	{"survey", false, "Take one approach from ", " to a small sample of your data", COMPARE},
	{"review", false, "Take one approach from ", " to a small sample of your data", COMPARE},
	{"benchmark", false, "Repeat a small part of ", "", MEASURE},
	{"dataset", false, "Take a small part of ", " as test data", MEASURE},
	{NULL, false, "Try what ", " describes on a small sample of your data", COMPARE},
};

static const struct proposal *find_proposal(struct arena *arena, struct word_splitter *splitter,
                                            const struct explanation_facts *facts)
{
	const struct phrase_source title = {facts->title, NULL};
	const struct proposal *proposal = proposals;
	for (;; proposal++) {
		if (proposal->needs_container && !facts->has_container)
			continue;
		if (!proposal->word ||
		    matched_phrases(arena, splitter, &proposal->word, 1, title).count > 0)
			return proposal;
	}
}

/* Append `before` and the quoted name of the interest; nothing when it has no name. */
static void add_interest(struct buf *out, const struct explanation_facts *facts, const char *before)
{
	const char *name = text_clean(out->arena, facts->interest_name, EXPLANATION_TITLE_BYTES);
	if (*name != '\0')
		buf_printf(out, "%s\"%s\"", before, name);
}

static void add_title(struct buf *out, const struct explanation_facts *facts)
{
	const char *title = text_clean(out->arena, facts->title, EXPLANATION_TITLE_BYTES);
	if (*title != '\0')
		buf_printf(out, "\"%s\"", title);
	else
		buf_puts(out, "this paper");
}

/* The suggestion for a weak match. */
static void add_weak_match(struct buf *out, const struct explanation_facts *facts)
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

char *suggest_experiment(struct arena *arena, struct word_splitter *splitter,
                         const struct explanation_facts *facts)
{
	struct phrases phrases = phrases_for(arena, splitter, facts);
	const struct proposal *proposal = find_proposal(arena, splitter, facts);
	struct buf out = {.arena = arena};
	if (is_weak(facts, &phrases)) {
		add_weak_match(&out, facts);
		return out.data;
	}
	buf_puts(&out, proposal->before);
	add_title(&out, facts);
	if (facts->code_url && !facts->has_container)
		buf_printf(&out, " (code: %s)",
		           text_clean(arena, facts->code_url, EXPLANATION_URL_BYTES));
	buf_puts(&out, proposal->after);
	add_interest(&out, facts, " for ");
	buf_printf(&out, ", %s", proposal->ending);
	for (size_t i = 0; i < MIN_OF(phrases.count, (size_t)2); i++)
		buf_printf(&out, "%s\"%s\"", i ? " and " : "; start with what it says about ",
		           phrases.items[i].text);
	buf_puts(&out, ".");
	return out.data;
}
