/** Which source a program was built from. */
#pragma once

/** The first 12 digits of the commit, with `-dirty` behind them if tracked files were changed;
 * "unknown" without a repository, and in programs that are no processes, such as tests. In a
 * process it is commit.c that defines it, which each build generates (deploy/meson.build): only the
 * processes are linked anew after a commit. */
extern const char version_commit[];
