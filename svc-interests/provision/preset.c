#include "provision/preset.h"

#include "base/base.h"
#include "preset_claude_code.h"
#include "preset_codex.h"
#include "preset_opencode.h"

#include <string.h>

static const struct {
	const char *name, *text;
} PRESETS[] = {
	{"claude_code", PRESET_CLAUDE_CODE},
	{"codex", PRESET_CODEX},
	{"opencode", PRESET_OPENCODE},
};

const char *preset_text(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(PRESETS); i++)
		if (strcmp(PRESETS[i].name, name) == 0)
			return PRESETS[i].text;
	return NULL;
}
