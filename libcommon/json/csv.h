/** CSV as RFC 4180 has it: UTF-8, commas, CRLF. A text that a spreadsheet would take for a formula,
 * which begins with `=`, `+`, `-`, `@`, a tab or CR, gets a leading `'`. So does what follows a
 * `;`, a tab or a line end in a text, where a spreadsheet begins a cell for which `;` or the tab
 * separates them. */
#pragma once

#include "base/arena.h"
#include "json/json.h"

/** Append a cell. A number has 17 significant digits; a text is quoted where it must be; null and
 * NULL are empty; an array is its texts with `; ` between; other values are JSON. `is_first` of a
 * line. */
void csv_cell(struct buf *out, yyjson_val *value, bool is_first);

/** Append a cell with a text, such as a column's name; without quotes where it has letters, digits,
 * `_` and `.` only. */
void csv_text(struct buf *out, const char *text, bool is_first);

/** End the line. */
void csv_line_end(struct buf *out);
