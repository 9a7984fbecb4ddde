/** Where the browser goes after a log-in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RETURN_TO_MAX 1000

/** Whether a text is a path of the console, `/console/agents?page=2`, which no browser takes for an
 * address of another origin or another path: without `//`, `\`, dot segments, white space, control
 * characters and whatever is not ASCII. As the check of a field (input/input.h). */
bool return_to_check(const char *text, size_t length, const char **ret_message);
