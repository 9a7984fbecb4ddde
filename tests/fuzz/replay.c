/* Runs a fuzz target on every input of a folder, as a regression test.
 *
 *     replay_json tests/fuzz/json.in */
#include "base/base.h"
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX_BYTES (1 << 20)

static void replay(const char *folder, const char *name)
{
	char path[4096];
	require(snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path));
	FILE *file = fopen(path, "rb");
	require(file);
	uint8_t *data = malloc(INPUT_MAX_BYTES);
	require(data);
	size_t size = fread(data, 1, INPUT_MAX_BYTES, file);
	fclose(file);
	/* Exactly this size, so that a sanitizer detects a read past the end. */
	data = realloc(data, size > 0 ? size : 1);
	require(data);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	require(argc == 2);
	DIR *folder = opendir(argv[1]);
	require(folder);
	int count = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		replay(argv[1], entry->d_name);
		count++;
	}
	closedir(folder);
	printf("%d inputs\n", count);
	require(count > 0);
	return 0;
}
