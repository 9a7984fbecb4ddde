#include "http/accept_encoding.h"

#include "base/base.h"
#include "http/weight.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Weights that Accept-Encoding gives, 0 to HTTP_WEIGHT_ONE. */
struct weights {
	int of[CODING_COUNT], identity, any;
};

static void element_read(const char *element, size_t length, struct weights *weights)
{
	static const struct {
		const char *name;
		size_t offset;
	} CODINGS[] = {
		{"gzip", offsetof(struct weights, of[CODING_GZIP])},
		{"x-gzip", offsetof(struct weights, of[CODING_GZIP])},
		{"br", offsetof(struct weights, of[CODING_BROTLI])},
		{"identity", offsetof(struct weights, identity)},
		{"*", offsetof(struct weights, any)},
	};
	size_t name_length = strcspn(element, "; \t,");
	for (size_t i = 0; i < ARRAY_LEN(CODINGS); i++) {
		if (strlen(CODINGS[i].name) != name_length ||
		    strncasecmp(CODINGS[i].name, element, name_length) != 0)
			continue;
		int weight = http_weight_read(element, name_length, length);
		if (weight != HTTP_WEIGHT_NONE)
			*(int *)((char *)weights + CODINGS[i].offset) = weight;
	}
}

static void list_read(const char *list, struct weights *weights)
{
	size_t length;
	for (const char *element; (element = http_element_next(&list, &length));)
		element_read(element, length, weights);
}

bool coding_is_accepted(const struct http_head *head, enum coding coding)
{
	struct weights weights = {{HTTP_WEIGHT_NONE, HTTP_WEIGHT_NONE},
	                          HTTP_WEIGHT_NONE,
	                          HTTP_WEIGHT_NONE};
	for (size_t i = 0; i < head->field_count; i++)
		if (head->fields[i].name_length == 15 &&
		    strcasecmp(head->fields[i].name, "Accept-Encoding") == 0)
			list_read(head->fields[i].value, &weights);
	int weight = weights.of[coding] != HTTP_WEIGHT_NONE ? weights.of[coding] : weights.any;
	return weight > 0 && weight >= weights.identity;
}
