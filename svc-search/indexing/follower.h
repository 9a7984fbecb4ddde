/** Decides what the indexer does next. A pure state machine: the indexer reports events to it and
 * carries out what it answers, so it knows neither Postgres nor the engine nor time.
 *
 * Every change of a paper has a number. Writers commit in the order of their numbers (the migration
 * that makes the table `asset` says how), so a statement that sees number n sees every number below
 * it that will ever be committed. Numbers of rolled back transactions are holes.
 *
 * The index reads *pages*, ranges of the changes. When it is far behind it jumps: it reads the
 * newest changes first and leaves a *gap*, which it reads afterwards. So a change is indexed within
 * a few pages however large an import before it is:
 *
 *     0            complete           gap             gap     head
 *     |==============|.................|======|........|========|- - - newest
 *
 * The index is *complete* up to the first gap: it includes every change up to that number. This is
 * all that a snapshot of it may claim. Whatever it includes of later changes is read again after a
 * restart, which is harmless.
 *
 * Pages are read and applied one at a time, in one order: a page is applied before the next one is
 * read. So a page never brings back a paper that an already applied page has deleted: the later
 * statement sees the deletion.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Maximum gaps; at this number the index reads the changes in their order. */
#define FOLLOWER_MAX_GAPS 16

struct follower_limits {
	size_t head_page; /* maximum changes of one page after the head */
	size_t gap_page;  /* and of one page of a gap */
	uint64_t jump;    /* jump when the head is further behind; above `head_page` */
};

/** The changes after number `after`, up to number `until`, oldest first, at most `limit`. */
struct follower_page {
	uint64_t after;
	uint64_t until;
	size_t limit; /* 0: nothing is to be read */
	bool is_gap;
};

/** What the builder does; one of them at a time. */
enum follower_build { BUILD_NONE, BUILD_ADOPT, BUILD_MERGE, BUILD_SAVE };

/** The changes after number `after`, up to `until`, are still to be read. */
struct follower_gap {
	uint64_t after;
	uint64_t until;
};

struct follower {
	struct follower_limits limits;
	uint64_t newest; /* greatest number known to exist */
	uint64_t head;   /* every change up to it has been read, except those in the gaps */
	struct follower_gap gaps[FOLLOWER_MAX_GAPS]; /* ascending */
	size_t gap_count;
	bool is_gap_next;  /* pages of the head and of gaps alternate */
	bool has_target;   /* the newest change was looked up */
	uint64_t target;   /* the newest change that existed at start-up */
	bool is_caught_up; /* the index has included every change up to the target */
	bool is_reading;   /* a page is being read or applied */
	enum follower_build build;
	size_t unsaved;           /* changes applied since the last save began */
	bool is_adoption_unsaved; /* so are all vectors */
};

/** An empty index. */
void follower_init(struct follower *follower, const struct follower_limits *limits);

/** The index was restored from a snapshot that is complete up to `complete` and includes no change
 * after `newest`. Before the first follower_look(). */
void follower_restored(struct follower *follower, uint64_t complete, uint64_t newest);

/** The greatest number in the database is `newest`. Returns false when the index has seen a greater
 * one: the database was replaced or restored from a backup. */
bool follower_look(struct follower *follower, uint64_t newest);

/** The page to read now. Jumps if the head is far behind. No other page is being read or applied;
 * end it with follower_applied() or follower_failed(). */
struct follower_page follower_begin(struct follower *follower);

/** How far the index is complete once `page` is applied, of which `count` changes were read, the
 * last one with number `last`. */
uint64_t follower_complete_with(const struct follower *follower, const struct follower_page *page,
                                size_t count, uint64_t last);

/** The page was applied. */
void follower_applied(struct follower *follower, const struct follower_page *page, size_t count,
                      uint64_t last);

/** The page was not read. The next page is of the other kind, so that a gap that cannot be read
 * does not keep the index from new changes. */
void follower_failed(struct follower *follower, const struct follower_page *page);

/** Whether another page is to be read at once. */
bool follower_has_more(const struct follower *follower);

/** How far the index is complete. */
uint64_t follower_complete(const struct follower *follower);

/** What the builder is to begin now; BUILD_NONE: nothing, or something is under way. `due` is what
 * the engine needs: BUILD_ADOPT, BUILD_MERGE or BUILD_NONE; it comes first. A save is due after an
 * adoption, and when at least `save_after` changes were applied since the last one began; a failed
 * save is repeated after as many more. End it with follower_built(). */
enum follower_build follower_build(struct follower *follower, enum follower_build due,
                                   size_t save_after);

/** The builder's work ended, whether it succeeded or not. */
void follower_built(struct follower *follower);
