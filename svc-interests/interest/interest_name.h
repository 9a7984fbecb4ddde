/** The name of an interest, which counts more than a word of its context: a title says what a text
 * is about. Some names, or parts of them, only distinguish interests of an account. */
#pragma once

#include "base/arena.h"

/** What the name says about a topic, in `arena`: the name without identifiers, which are UUIDs and
 * other words of at least eight hexadecimal digits ("Retrieval 5d3a2b1c"). Empty if it is a label:
 * each of its other words is a single letter, a number ("2026", "Q3", "v2"), or a word about the
 * list itself ("My interest", "Reading list"). */
const char *interest_name_topic(struct arena *arena, const char *name);
