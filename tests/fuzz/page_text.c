/* page_text_read(): any bytes give well-formed texts whose words are separated by one space. */
#include "source/page_text.h"

#include "base/base.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

static void check(const char *text)
{
	size_t length = strlen(text);
	require(utf8_is_valid(text, length));
	require(!strpbrk(text, "\t\r\n\f\v") && !strstr(text, "  "));
	require(length == 0 || text[length - 1] != ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct page_text page = page_text_read(arena, (const char *)data, size,
	                                       size % 2 == 0 ? NULL : "iso-8859-1");
	check(page.title);
	check(page.text);
	arena_free(arena);
	return 0;
}
