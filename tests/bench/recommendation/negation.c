#include "recommendation/negation.h"

#include "interest/exclusion.h"

#include <yyjson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 65536 };

static bool has_item(const struct exclusions *found, const char *words)
{
	for (size_t i = 0; i < found->count; i++)
		if (strstr(found->items[i], words))
			return true;
	return false;
}

static bool is_understood(const struct exclusions *found, yyjson_val *row)
{
	size_t index, max;
	yyjson_val *words;
	yyjson_arr_foreach (yyjson_obj_get(row, "refused"), index, max, words)
		if (strstr(found->kept, yyjson_get_str(words)) ||
		    !has_item(found, yyjson_get_str(words)))
			return false;
	yyjson_arr_foreach (yyjson_obj_get(row, "wanted"), index, max, words)
		if (!strstr(found->kept, yyjson_get_str(words)))
			return false;
	return yyjson_arr_size(yyjson_obj_get(row, "refused")) > 0 || found->count == 0;
}

static void show(const struct exclusions *found, const char *context)
{
	printf("not understood: %s\n  kept: %s\n  refused:", context, found->kept);
	for (size_t i = 0; i < found->count; i++)
		printf(" [%s]", found->items[i]);
	printf("\n");
}

bool negation_count(const char *path, const char *set, bool shows, struct negation_count *ret_count)
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	*ret_count = (struct negation_count){0};
	while (fgets(line, sizeof(line), file)) {
		yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
		yyjson_val *row = yyjson_doc_get_root(doc);
		if (strcmp(yyjson_get_str(yyjson_obj_get(row, "set")), set) == 0) {
			struct arena *arena = arena_new();
			const char *context = yyjson_get_str(yyjson_obj_get(row, "context"));
			struct exclusions found = exclusions_find(arena, context);
			bool understood = is_understood(&found, row);
			ret_count->contexts++;
			ret_count->understood += understood;
			if (shows && !understood)
				show(&found, context);
			arena_free(arena);
		}
		yyjson_doc_free(doc);
	}
	fclose(file);
	return true;
}
