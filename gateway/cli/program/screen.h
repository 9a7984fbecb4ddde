/** What standard output is: a terminal of so many columns that shows colours, or neither. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct screen {
	bool is_terminal;
	bool has_colors; /* a terminal, and NO_COLOR (no-color.org) is not set */
	size_t columns;  /* COLUMNS, else those of the terminal; 0: there is no limit */
};

void screen_init(struct screen *screen);

/** Styles of ECMA-48, section 8.3.117. */
enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_COUNT };

/** The text in a style, in the arena; as it is where there are no colours. It is not from outside,
 * or went through cli_shown(). */
const char *screen_style(const struct screen *screen, struct arena *arena, enum style style,
                         const char *text);

/** The style of a word for a state: green for `completed`, red for `failed`. */
enum style screen_style_of(const char *word);
