/** What of an operation's answer a model needs: an answer is copied as a shape says, which is a row
 * of tools.yaml as JSON. A shape is an object with
 *
 *     members   an object: the members that are kept, each with its shape
 *     items     of an array: the shape of each item
 *     from      the path of the value in the object that it is a member of: `resource.published_at`;
 *               `.` is that object
 *     cut       a text of more characters is cut, and ends in `...`
 *     first     only so many characters of a text are kept
 *     most      only so many items of an array are kept
 *
 * `{}` keeps the value as it is. Members that are null are left out. Texts are cleaned
 * (clean_text.h).
 */
#pragma once

#include <yyjson.h>

#include <stdbool.h>

struct shaping {
	struct arena *arena;
	yyjson_mut_doc *doc; /* that the copy is made in */
	/* Texts and arrays may have a part in `scale` of what their shapes allow: 1 unless the copy
	 * would be too large. */
	unsigned scale;
	bool is_cut; /* set when something was left out of a text or an array */
};

/** The copy of the value; it borrows texts from it. */
yyjson_mut_val *shape_apply(struct shaping *shaping, yyjson_val *shape, yyjson_val *value);
