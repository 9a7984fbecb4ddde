#include "provider/form.h"

#include "http/query.h"

#include <string.h>

void form_add(struct buf *out, const char *name, const char *value)
{
	if (out->length > 0 && !strchr("?&", out->data[out->length - 1]))
		buf_puts(out, "&");
	buf_printf(out, "%s=%s", name, query_encode(out->arena, value));
}
