#include "base/version.h"

/* The linker takes this object from the library only for a program without commit.c. */
const char version_commit[] = "unknown";
