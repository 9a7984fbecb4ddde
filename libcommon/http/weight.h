/** Weights of the elements of a list such as Accept (RFC 9110 section 12.4.2). */
#pragma once

#include <stddef.h>

/** Weights are in thousandths. */
#define HTTP_WEIGHT_ONE  1000
#define HTTP_WEIGHT_NONE (-1) /* there is none, or it is not valid */

/** The next element of such a list, whose `*ret_length` bytes are not terminated, and move `*list`
 * behind it. NULL: there is none. */
const char *http_element_next(const char **list, size_t *ret_length);

/** The weight of an element of `length` bytes, `gzip` or `gzip;q=0.5`, whose name has
 * `name_length` bytes. Nothing but a weight may follow the name. */
int http_weight_read(const char *element, size_t name_length, size_t length);
