/** The title and the main text of an HTML page, read by libxml2. Pure logic.
 *
 * The main text is that of `main` or `article` where the page has one with enough text, else of the
 * body. Navigation, forms, scripts and their like are left out. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct page_text {
	const char *title; /* "" where there is none */
	const char *text;  /* words separated by one space; "" where there is none */
};

/** Read a page. `charset` is the one that HTTP gave, NULL: none. What is no HTML gives an empty
 * text. The strings are in the arena and well-formed UTF-8. */
struct page_text page_text_read(struct arena *arena, const char *html, size_t length,
                                const char *charset);
