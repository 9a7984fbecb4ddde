/** Text in rows and columns, fitted to the screen. */
#pragma once

#include "show/view.h"

/** Print a table of `row_count` rows: `cells` has a text for each column of each row, row by row,
 * without styles. Where the screen is too narrow, first the extra columns are left out, from the
 * right, then the wide ones are cut. Without a limit nothing is cut. */
void table_print(struct cli *cli, const struct column *columns, size_t row_count,
                 const char **cells);
