#include "engine/vector/pairs.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

#define SEED UINT64_C(0x9E3779B97F4A7C15)

/* Below these a paper has no pair of title and abstract, and none of halves. */
#define MIN_TITLE_TOKENS    2
#define MIN_ABSTRACT_TOKENS 5

/* The second side must have this many different terms. */
#define MIN_SECOND_TERMS 3

/* Length of a span. */
#define SPAN_MIN_TOKENS 2
#define SPAN_MAX_TOKENS 6

/* A longer title is cut as an abstract is. */
#define TITLE_UNIT_TOKENS 30

/* Units of the longest paper. */
#define MAX_UNITS (SAMPLE_DOC_TOKENS / PAIR_UNIT_TOKENS + 2)

/* A paper as it is cut: unit i has the tokens starts[i] to starts[i + 1] - 1. */
struct units {
	const uint32_t *tokens;
	uint32_t starts[MAX_UNITS + 1];
	uint32_t count;
	uint32_t title_tokens;
	uint32_t token_count;
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

struct pair_random pair_random_for(uint32_t epoch, uint64_t number)
{
	return (struct pair_random){mix(mix(SEED + epoch) + number)};
}

uint32_t pair_random_below(struct pair_random *random, uint32_t bound)
{
	random->state += SEED;
	return (uint32_t)(((mix(random->state) >> 32) * bound) >> 32);
}

/* Cut `length` tokens that begin at `first` into pieces of about equal length. */
static void cut(struct units *units, uint32_t first, uint32_t length, uint32_t max_length)
{
	uint32_t pieces = (length + max_length - 1) / max_length;
	for (uint32_t i = 0; i < pieces; i++)
		units->starts[units->count++] = first + length * i / pieces;
	units->starts[units->count] = first + length;
}

static void find_units(const struct sample *sample, uint32_t doc, struct units *units)
{
	size_t start = sample->starts[doc];
	uint32_t title = sample->title_counts[doc];
	*units = (struct units){.tokens = sample->tokens + start, .title_tokens = title};
	units->token_count = (uint32_t)(sample->starts[doc + 1] - start);
	cut(units, 0, title, title > TITLE_UNIT_TOKENS ? PAIR_UNIT_TOKENS : TITLE_UNIT_TOKENS);
	cut(units, title, units->token_count - title, PAIR_UNIT_TOKENS);
}

/* Of a token: the side that has it. */
enum role { ROLE_FIRST, ROLE_SECOND, ROLE_NONE };

static void choose_title(const struct units *units, uint8_t *roles)
{
	for (uint32_t i = 0; i < units->token_count; i++)
		roles[i] = i < units->title_tokens ? ROLE_FIRST : ROLE_SECOND;
}

static void choose_halves(const struct units *units, struct pair_random *random, uint8_t *roles)
{
	for (uint32_t unit = 0; unit < units->count; unit++)
		memset(roles + units->starts[unit],
		       pair_random_below(random, 2) == 0 ? ROLE_FIRST : ROLE_SECOND,
		       units->starts[unit + 1] - units->starts[unit]);
}

static void choose_span(const struct units *units, struct pair_random *random, uint8_t *roles)
{
	uint32_t unit = pair_random_below(random, units->count);
	uint32_t start = units->starts[unit];
	uint32_t length = units->starts[unit + 1] - start;
	uint32_t span =
		SPAN_MIN_TOKENS + pair_random_below(random, SPAN_MAX_TOKENS - SPAN_MIN_TOKENS + 1);
	span = MIN_OF(span, length);
	memset(roles, ROLE_SECOND, units->token_count);
	memset(roles + start, ROLE_NONE, length);
	memset(roles + start + pair_random_below(random, length - span + 1), ROLE_FIRST, span);
}

static void choose(const struct units *units, struct pair_random *random, uint8_t *roles)
{
	bool is_short = units->title_tokens < MIN_TITLE_TOKENS ||
	                units->token_count - units->title_tokens < MIN_ABSTRACT_TOKENS;
	uint32_t kind = pair_random_below(random, 10);
	if (is_short || kind >= 6)
		choose_span(units, random, roles);
	else if (kind >= 3)
		choose_halves(units, random, roles);
	else
		choose_title(units, roles);
}

/* Write the terms of one side to `out`. Returns how many. */
static size_t weigh(const struct units *units, const uint8_t *roles, enum role side,
                    uint16_t *counts, struct weighted_term *out)
{
	size_t count = 0;
	for (uint32_t i = 0; i < units->token_count; i++)
		if (roles[i] == side && counts[units->tokens[i]]++ == 0)
			out[count++].term = units->tokens[i];
	for (size_t i = 0; i < count; i++) {
		out[i].weight = 1 + logf(counts[out[i].term]);
		counts[out[i].term] = 0;
	}
	return count;
}

bool pair_draw(const struct sample *sample, uint32_t doc, uint32_t epoch, uint16_t *counts,
               struct pair *pair)
{
	struct units units;
	uint8_t roles[SAMPLE_DOC_TOKENS];
	struct pair_random random = pair_random_for(epoch, doc);
	find_units(sample, doc, &units);
	if (units.count < 2)
		return false;
	choose(&units, &random, roles);
	pair->counts[0] = weigh(&units, roles, ROLE_FIRST, counts, pair->terms);
	pair->counts[1] = weigh(&units, roles, ROLE_SECOND, counts, pair->terms + pair->counts[0]);
	return pair->counts[0] > 0 && pair->counts[1] >= MIN_SECOND_TERMS;
}
