/** Formulas in plain Unicode. */
#pragma once

#include "base/arena.h"
#include "plain/reader.h"

/** Append the formula, without its dollar signs, to `out`. False: it cannot be said; `out` has then
 * a part of it. */
bool formula_say(struct buf *out, struct reader formula);

/** Append the characters of `text` as superscripts or subscripts. False: one has no such form. */
bool formula_say_script(struct buf *out, const char *text, size_t length, bool is_super);

/** Append a character in UTF-8. */
void formula_add_character(struct buf *out, uint32_t code);
