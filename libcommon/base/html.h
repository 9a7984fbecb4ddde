/** Texts of others in HTML. */
#pragma once

#include "base/arena.h"

/** Append a text, so that it is only a text, also within the quotes of an attribute. Control
 * characters become spaces. */
void html_add_text(struct buf *html, const char *text);
