#include "ranking/suggestion.h"

#include "ranking/calibration.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	NAME_WORDS = 4,    /* of a method that stands before the colon of a title */
	METHOD_WORDS = 12, /* of a method that an abstract introduces */
	PART_WORDS = 8,    /* of a baseline or of data */
	PART_BYTES = 120,
	CLAIM_BYTES = 240,
	NUMBER_WEIGHT = 2, /* of a claim with a number, in cues */
};

struct span {
	const char *start, *end;
};

/* After these an abstract names its method. */
static const char *const INTRODUCTIONS[] = {
	"we propose ",          "we introduce ",          "we present ",          "we develop ",
	"this paper proposes ", "this paper introduces ", "this paper presents ",
};

/* A sentence with one of these claims a result. */
static const char *const CLAIMS[] = {
	"outperform",       "improv",  "reduc",  "faster", "better than", "surpass", "compared",
	"state-of-the-art", "speedup", "achiev", "fewer",  "lower",       "higher",  "gain",
	"exceed",           "grows",   "times",
};

/* After these a claim says what the method is better than. */
static const char *const COMPARISONS[] = {
	"compared to ", "compared with ", "outperforms ", "outperforming ", "surpasses ",
	"surpassing ",  "better than ",   "faster than ", "than ",
};

/* The end of a method, a baseline or data. */
static const char *const ENDS[] = {
	" that ", " which ", " to ",   " by ", " while ", " where ", " and ",
	" with ", " using ", " when ", " on ", " in ",    " for ",   " across ",
	" at ",   ", ",      "; ",     ". ",   " (",      ": ",      "--",
};

/* Words before the name of a method. */
static const char *const ADJECTIVES[] = {"novel ", "new ", "simple ", "first ", "comprehensive "};

/* Alone these name no method. */
static const char *const GENERIC[] = {"framework", "approach",     "method",    "model",
                                      "system",    "pipeline",     "study",     "empirical study",
                                      "analysis",  "architecture", "algorithm", "paradigm",
                                      "strategy",  "technique",    "solution"};

/* Kinds of papers that are no method, by a word of the title. */
static const char *const SURVEYS[] = {"survey", "review"};
static const char *const TEST_DATA[] = {"benchmark", "dataset"};

static const char *find_in(struct span span, const char *words)
{
	size_t length = strlen(words);
	for (const char *at = span.start; at + length <= span.end; at++)
		if (strncasecmp(at, words, length) == 0)
			return at;
	return NULL;
}

static const char *find_text(const char *text, const char *words)
{
	return text ? find_in((struct span){text, text + strlen(text)}, words) : NULL;
}

static bool has_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (find_text(text, words[i]))
			return true;
	return false;
}

static size_t count_words(struct span span)
{
	size_t count = 0;
	for (const char *at = span.start; at < span.end; at++)
		count += !isspace((unsigned char)*at) &&
		         (at == span.start || isspace((unsigned char)at[-1]));
	return count;
}

/* Copy a part without its article; NULL: it has no words, or more than `max`. */
static const char *part(struct arena *arena, struct span span, size_t max)
{
	static const char *const articles[] = {"a ", "an ", "the "};
	for (size_t i = 0; i < ARRAY_LEN(articles); i++)
		if (find_in(span, articles[i]) == span.start)
			span.start += strlen(articles[i]);
	size_t count = count_words(span);
	if (count == 0 || count > max)
		return NULL;
	return text_clean(arena, arena_strndup(arena, span.start, (size_t)(span.end - span.start)),
	                  PART_BYTES);
}

/* The part that begins at `start`, up to one of ENDS or to `end`. */
static struct span part_at(const char *start, const char *end)
{
	struct span whole = {start, end};
	for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
		const char *found = find_in(whole, ENDS[i]);
		if (found && found > start)
			whole.end = found;
	}
	while (whole.end > start && strchr(".,;:", whole.end[-1]))
		whole.end--;
	return whole;
}

/* The method that an abstract introduces at `text`; NULL: it has no name. */
static const char *introduced(struct arena *arena, const char *text)
{
	const char *method = part(arena, part_at(text, text + strlen(text)), METHOD_WORDS);
	if (!method)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(ADJECTIVES); i++)
		if (strncasecmp(method, ADJECTIVES[i], strlen(ADJECTIVES[i])) == 0)
			method += strlen(ADJECTIVES[i]);
	for (size_t i = 0; i < ARRAY_LEN(GENERIC); i++)
		if (strcasecmp(method, GENERIC[i]) == 0)
			return NULL;
	return method;
}

/* The method that the paper is about; NULL: it names none. */
static const char *find_method(struct arena *arena, const struct explanation_facts *facts)
{
	const char *colon = facts->title ? strstr(facts->title, ": ") : NULL;
	if (colon) {
		const char *name = part(arena, (struct span){facts->title, colon}, NAME_WORDS);
		if (name)
			return name;
	}
	for (size_t i = 0; i < ARRAY_LEN(INTRODUCTIONS); i++) {
		const char *at = find_text(facts->abstract, INTRODUCTIONS[i]);
		if (at)
			return introduced(arena, at + strlen(INTRODUCTIONS[i]));
	}
	return NULL;
}

/* How much a sentence claims: cues, and whether it has a number. */
static int claim_strength(struct span sentence)
{
	int strength = 0;
	for (size_t i = 0; i < ARRAY_LEN(CLAIMS); i++)
		strength += find_in(sentence, CLAIMS[i]) != NULL;
	for (const char *at = sentence.start; strength > 0 && at < sentence.end; at++)
		if (isdigit((unsigned char)*at))
			return strength + NUMBER_WEIGHT;
	return strength;
}

/* The end of the sentence at `text`: a full stop before a space, or the end. */
static const char *sentence_end(const char *text)
{
	for (; *text; text++)
		if (*text == '.' && (text[1] == '\0' || isspace((unsigned char)text[1])))
			return text;
	return text;
}

/* The sentence of the abstract that claims most, of equals the last; empty: it claims nothing. */
static struct span find_claim(const char *abstract)
{
	struct span best = {NULL, NULL};
	int strongest = 1;
	for (const char *at = abstract ? abstract : ""; *at;) {
		at += strspn(at, " \t\r\n");
		struct span sentence = {at, sentence_end(at)};
		int strength = claim_strength(sentence);
		if (strength >= strongest) {
			strongest = strength;
			best = sentence;
		}
		at = *sentence.end ? sentence.end + 1 : sentence.end;
	}
	return best;
}

/* What the claim compares the method with; `fallback` when it does not say. */
static const char *find_baseline(struct arena *arena, struct span claim, const char *fallback)
{
	for (size_t i = 0; i < ARRAY_LEN(COMPARISONS); i++) {
		const char *at = find_in(claim, COMPARISONS[i]);
		if (!at)
			continue;
		at += strlen(COMPARISONS[i]);
		const char *found = isdigit((unsigned char)*at)
		                            ? NULL
		                            : part(arena, part_at(at, claim.end), PART_WORDS);
		if (found)
			return found;
	}
	return fallback;
}

static const char *find_data(struct arena *arena, struct span claim, const char *fallback)
{
	const char *at = find_in(claim, " on ");
	if (!at)
		return fallback;
	at += strlen(" on ");
	const char *found = part(arena, part_at(at, claim.end), PART_WORDS);
	return found ? found : fallback;
}

static void add_method(struct buf *out, const struct explanation_facts *facts, const char *method,
                       struct span claim)
{
	const char *baseline = find_baseline(out->arena, claim, "your current method");
	const char *data = find_data(out->arena, claim, "your data");
	if (facts->has_container)
		buf_printf(out, "Run %s in its container, and compare it", method);
	else
		buf_printf(out, "Compare %s", method);
	if (facts->code_url && !facts->has_container)
		buf_printf(out, " (code: %s)",
		           text_clean(out->arena, facts->code_url, EXPLANATION_URL_BYTES));
	buf_printf(out, " with %s on %s", baseline, data);
}

char *suggest_experiment(struct arena *arena, const struct explanation_facts *facts)
{
	const char *method = find_method(arena, facts);
	struct span claim = find_claim(facts->abstract);
	if (!method || !claim.start || facts->relevance < RELEVANCE_LOOSE ||
	    has_one_of(facts->title, SURVEYS, ARRAY_LEN(SURVEYS)))
		return NULL;
	struct buf out = {.arena = arena};
	if (has_one_of(facts->title, TEST_DATA, ARRAY_LEN(TEST_DATA)))
		buf_printf(&out, "Measure your current method on %s", method);
	else
		add_method(&out, facts, method, claim);
	const char *name = text_clean(arena, facts->interest_name, EXPLANATION_TITLE_BYTES);
	if (*name)
		buf_printf(&out, " for \"%s\"", name);
	const char *sentence = arena_strndup(arena, claim.start, (size_t)(claim.end - claim.start));
	buf_printf(&out, "; claim to check: \"%s\".", text_clean(arena, sentence, CLAIM_BYTES));
	return out.data;
}
