#include "base/html.h"

#include "base/base.h"

void html_add_text(struct buf *html, const char *text)
{
	static const char *const ENTITIES[] = {['&'] = "&amp;",
	                                       ['<'] = "&lt;",
	                                       ['>'] = "&gt;",
	                                       ['"'] = "&quot;",
	                                       ['\''] = "&#39;"};
	for (; *text; text++) {
		unsigned char character = (unsigned char)*text;
		const char *entity = character < ARRAY_LEN(ENTITIES) ? ENTITIES[character] : NULL;
		if (entity)
			buf_puts(html, entity);
		else
			buf_add(html, character < ' ' ? " " : text, 1);
	}
}
