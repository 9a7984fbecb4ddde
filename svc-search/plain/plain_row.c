#include "plain/plain_row.h"

#include "plain/plain_text.h"

#include <stdbool.h>

static void convert_text(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row,
                         const char *name, const char *source_name)
{
	yyjson_mut_val *member = yyjson_mut_obj_get(row, name);
	if (!member)
		return;
	const char *source = yyjson_mut_get_str(member);
	const char *text = source ? plain_text(arena, source) : NULL;
	if (text == source) {
		yyjson_mut_obj_add_null(doc, row, source_name);
		return;
	}
	yyjson_mut_obj_add_str(doc, row, source_name, source);
	yyjson_mut_set_str(member, text);
}

static void convert_authors(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row)
{
	yyjson_mut_val *authors = yyjson_mut_obj_get(row, "authors");
	yyjson_mut_val *names = yyjson_mut_arr(doc), *name;
	size_t index, count;
	bool has_changed = false;
	if (!authors)
		return;
	yyjson_mut_arr_foreach (authors, index, count, name) {
		const char *source = yyjson_mut_get_str(name);
		const char *text = source ? plain_text(arena, source) : NULL;
		has_changed |= text != source;
		yyjson_mut_arr_add_str(doc, names, text);
	}
	if (!has_changed) {
		yyjson_mut_obj_add_null(doc, row, "source_authors");
		return;
	}
	yyjson_mut_obj_add_val(doc, row, "source_authors", yyjson_mut_val_mut_copy(doc, authors));
	yyjson_mut_obj_put(row, yyjson_mut_str(doc, "authors"), names);
}

void plain_row(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *row)
{
	convert_text(arena, doc, row, "title", "source_title");
	convert_text(arena, doc, row, "abstract", "source_abstract");
	convert_authors(arena, doc, row);
}
