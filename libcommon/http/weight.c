#include "http/weight.h"

#include <string.h>
#include <strings.h>

/* Read `"0" [ "." 0*3DIGIT ]` or `"1" [ "." 0*3("0") ]`, in thousandths; HTTP_WEIGHT_NONE: it is
 * neither. */
static int qvalue_read(const char *text, size_t length)
{
	if (length == 0 || length > 5 || (text[0] != '0' && text[0] != '1') ||
	    (length > 1 && text[1] != '.'))
		return HTTP_WEIGHT_NONE;
	int value = (text[0] - '0') * HTTP_WEIGHT_ONE, unit = HTTP_WEIGHT_ONE / 10;
	for (size_t i = 2; i < length; i++, unit /= 10) {
		if (text[i] < '0' || text[i] > '9')
			return HTTP_WEIGHT_NONE;
		value += (text[i] - '0') * unit;
	}
	return value <= HTTP_WEIGHT_ONE ? value : HTTP_WEIGHT_NONE;
}

const char *http_element_next(const char **list, size_t *ret_length)
{
	const char *element = *list + strspn(*list, ", \t");
	*ret_length = strcspn(element, ",");
	*list = element + *ret_length;
	return *element ? element : NULL;
}

int http_weight_read(const char *element, size_t name_length, size_t length)
{
	const char *at = element + name_length, *end = element + length;
	at += strspn(at, " \t");
	if (at >= end)
		return HTTP_WEIGHT_ONE;
	if (*at != ';')
		return HTTP_WEIGHT_NONE;
	at += 1 + strspn(at + 1, " \t");
	if (end - at < 2 || strncasecmp(at, "q=", 2) != 0)
		return HTTP_WEIGHT_NONE;
	at += 2;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return qvalue_read(at, (size_t)(end - at));
}
