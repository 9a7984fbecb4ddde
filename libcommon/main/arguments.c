#include "main/arguments.h"

#include "base/base.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define OPTIONS_MAX 8

static bool read_number(const char *text, int64_t most, int64_t *ret_number)
{
	char *end;
	errno = 0;
	int64_t number = strtoll(text, &end, 10);
	if (end == text || *end || errno || number < 1 || number > most)
		return false;
	*ret_number = number;
	return true;
}

static bool store(const char *command, const struct argument *argument, const char *text,
                  void *values)
{
	void *member = (char *)values + argument->offset;
	switch (argument->kind) {
	case ARGUMENT_IS_TEXT:
		*(const char **)member = text;
		return true;
	case ARGUMENT_IS_FLAG:
		*(bool *)member = true;
		return true;
	case ARGUMENT_IS_NUMBER:
		if (read_number(text, argument->most, member))
			return true;
	}
	fprintf(stderr, "%s: --%s must be 1 to %lld\n", command, argument->name,
	        (long long)argument->most);
	return false;
}

char **arguments_read(int argc, char **argv, const struct argument *table, void *values)
{
	struct option options[OPTIONS_MAX + 1] = {0};
	int found, index = 0;
	for (size_t i = 0; table[i].name; i++) {
		require(i < OPTIONS_MAX);
		options[i].name = table[i].name;
		options[i].has_arg = table[i].kind != ARGUMENT_IS_FLAG;
	}
	optind = 0; /* begin anew, whatever was read before (getopt_long(3)) */
	while ((found = getopt_long(argc, argv, "", options, &index)) != -1)
		if (found == '?' || !store(argv[0], &table[index], optarg, values))
			return NULL;
	return argv + optind;
}

bool options_read(int argc, char **argv, const struct argument *table, void *values)
{
	char **operands = arguments_read(argc, argv, table, values);
	return operands && !operands[0];
}
