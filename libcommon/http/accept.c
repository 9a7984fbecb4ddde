#include "http/accept.h"

#include "base/base.h"
#include "http/weight.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* How closely a range matches a media type; 0: not at all. */
enum match { MATCH_NONE, MATCH_ANY, MATCH_TYPE, MATCH_EXACT };

static enum match match_range(const char *range, size_t length, const char *offer)
{
	size_t type = strcspn(offer, "/") + 1; /* with the slash */
	if (length == 3 && memcmp(range, "*/*", 3) == 0)
		return MATCH_ANY;
	if (length == type + 1 && range[type] == '*' && strncasecmp(range, offer, type) == 0)
		return MATCH_TYPE;
	bool is_same = length == strlen(offer) && strncasecmp(range, offer, length) == 0;
	return is_same ? MATCH_EXACT : MATCH_NONE;
}

/* The weight of an element of `length` bytes whose parameters begin at `at`; the weight is among
 * them or it is HTTP_WEIGHT_ONE. */
static int element_weight(const char *element, size_t at, size_t length)
{
	while (at < length) {
		const char *name = element + at + 1 + strspn(element + at + 1, " \t");
		size_t end = at + 1 + strcspn(element + at + 1, ";,");
		if (strncasecmp(name, "q=", 2) == 0)
			return http_weight_read(element, at, end);
		at = end;
	}
	return HTTP_WEIGHT_ONE;
}

/* The best match so far for a media type, and its weight. */
struct preference {
	enum match match;
	int weight;
};

static void read_element(const char *element, size_t length, const char *offer,
                         struct preference *best)
{
	size_t range = strcspn(element, "; \t,");
	enum match match = match_range(element, range, offer);
	if (match <= best->match)
		return;
	size_t parameters = MIN_OF(strcspn(element, ";,"), length);
	int weight = element_weight(element, parameters, length);
	if (weight != HTTP_WEIGHT_NONE)
		*best = (struct preference){match, weight};
}

static void read_list(const char *list, const char *offer, struct preference *best)
{
	size_t length;
	for (const char *element; (element = http_element_next(&list, &length));)
		read_element(element, length, offer, best);
}

static int weight_of(const struct http_head *head, const char *offer)
{
	struct preference best = {MATCH_NONE, 0};
	for (size_t i = 0; i < head->field_count; i++)
		if (strcasecmp(head->fields[i].name, "Accept") == 0)
			read_list(head->fields[i].value, offer, &best);
	return best.weight;
}

size_t http_accept_choose(const struct http_head *head, const char *const *offers, size_t count)
{
	size_t chosen = HTTP_ACCEPT_NONE;
	int greatest = 0;
	if (http_head_count(head, "Accept") == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		int weight = weight_of(head, offers[i]);
		if (weight <= greatest)
			continue;
		greatest = weight;
		chosen = i;
	}
	return chosen;
}
