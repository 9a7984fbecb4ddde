/** The texts of a paper's row in their plain form (plain_text.h), beside their source. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

/** Convert the members `title`, `abstract` and `authors` of a row of the table `asset`, as far as
 * it has them; the sources go to `source_title` and so on, null where they do not differ. */
void plain_row(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row);
