/** Words too common in English to say what a text is about. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Whether the folded, unstemmed word `text` of `length` bytes is a stop word. */
bool stopword_is(const char *text, size_t length);
