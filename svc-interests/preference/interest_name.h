/** The name of an interest, which counts more than a word of its context: a title says what a text
 * is about. Some names only tell interests of an account apart. */
#pragma once

#include <stdbool.h>

/** Whether the name says nothing about a topic: each of its words is a single letter, a number
 * ("2026", "Q3", "v2"), or a word about the list itself ("My interest", "Reading list"). */
bool interest_name_is_label(const char *name);
