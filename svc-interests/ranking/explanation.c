#include "ranking/explanation.h"

#include "paper/features.h"
#include "ranking/calibration.h"
#include "ranking/matched_phrases.h"

#include <math.h>
#include <string.h>

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

static void add_match(struct buf *out, const struct phrases *phrases,
                      const struct explanation_facts *facts, const char *interest)
{
	bool is_loose = relevance_is_below(facts->relevance, facts->author, RELEVANCE_RELATED);
	if (facts->author) {
		buf_printf(out, "By %s", facts->author);
		if (phrases->count == 0)
			return;
		buf_puts(out, "; matches ");
	} else if (phrases->count == 0) {
		buf_puts(out, is_loose ? "Loosely related to " : "Close in meaning to ");
		if (*interest != '\0')
			buf_printf(out, "\"%s\"", interest);
		else
			buf_puts(out, "the interest");
		return;
	} else {
		buf_puts(out, is_loose ? "Loosely related: matches " : "Matches ");
	}
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

struct phrases explanation_phrases(struct arena *arena, struct word_splitter *splitter,
                                   const struct explanation_facts *facts)
{
	return matched_phrases(arena, splitter, facts->terms, facts->term_count,
	                       (struct phrase_source){facts->title, facts->abstract});
}

char *explain_match(struct arena *arena, const struct explanation_facts *facts,
                    const struct phrases *phrases)
{
	struct buf out = {.arena = arena};
	add_match(&out, phrases, facts,
	          text_clean(arena, facts->interest_name, EXPLANATION_TITLE_BYTES));
	add_age(&out, facts->age_days);
	if (facts->has_container)
		buf_puts(&out, "; has a runnable container");
	if (facts->liked >= EXPLANATION_LIKED_MIN)
		buf_puts(&out, "; similar to papers this team liked");
	if (relevance_is_below(facts->relevance, facts->author, RELEVANCE_LOOSE))
		buf_puts(&out, "; nothing closer was found");
	buf_puts(&out, ".");
	return out.data;
}
