/** LaTeX's names of characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The character that `\name` prints in texts and in formulas; NULL: unknown. */
const char *symbol_find(const char *name, size_t length);

/** The letter that `\name` prints in texts, such as `ø` for `\o`; NULL: unknown. */
const char *symbol_letter(const char *name, size_t length);

/** The combining mark of an accent: `\'`, `\v` in texts, `\hat` in formulas; NULL: unknown. */
const char *symbol_text_accent(const char *name, size_t length);
const char *symbol_math_accent(const char *name, size_t length);

/** Whether `\name` is a function whose name is printed, such as `\log`. */
bool symbol_is_function(const char *name, size_t length);

/** The superscript or subscript form of a character; 0: there is none. */
uint32_t symbol_superscript(uint32_t code);
uint32_t symbol_subscript(uint32_t code);

/** The double-struck form of an ASCII letter or digit, such as ℝ; 0: there is none. */
uint32_t symbol_double_struck(uint32_t code);
