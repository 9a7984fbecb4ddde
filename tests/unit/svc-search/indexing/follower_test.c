/* The follower against a model of the database and of the index: random writers, reads, merges,
 * saves and faults. After each step the index and its snapshot must include everything that they
 * claim. */
#include "indexing/follower.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAPERS       40
#define WRITERS      4
#define WRITES       12 /* of one transaction */
#define MAX_PAGE     5
#define RANDOM_STEPS 1000000

static const struct follower_limits LIMITS = {.head_page = 3, .gap_page = MAX_PAGE, .jump = 7};

/* Changes that make a save due. */
#define SAVE_AFTER 9

/* What a run leaves out, to show that the test would notice. */
enum mutation {
	MUTATION_NONE,
	MUTATION_NO_LOCK,    /* writers draw numbers without the lock */
	MUTATION_CLAIM_HEAD, /* snapshots claim everything up to the head */
};

/* The state of a paper. A change number identifies its text. */
struct paper {
	uint64_t change; /* 0: it never existed */
	bool is_deleted;
};

struct write {
	uint32_t paper;
	struct paper state;
};

/* A transaction. */
struct writer {
	bool is_open;
	struct write writes[WRITES];
	size_t count;
};

struct database {
	uint64_t sequence; /* last number that was drawn */
	struct paper papers[PAPERS];
	struct writer writers[WRITERS];
	int lock_holder; /* the writer that may draw numbers; -1: none */
};

struct index {
	uint64_t papers[PAPERS]; /* change number of the indexed state; 0: not indexed */
	uint64_t complete;
	uint64_t newest;
};

struct page {
	struct write changes[MAX_PAGE];
	size_t count;
};

/* How far a pass of the reader is. */
enum phase { PHASE_IDLE, PHASE_LOOKED, PHASE_BEGUN, PHASE_READ };

struct world {
	uint64_t noise;
	enum mutation mutation;
	struct database database;
	struct database backup;
	struct index index;
	struct index saving; /* what the save under way writes */
	struct index saved;  /* the snapshot; an empty index: there is none */
	struct follower follower;
	enum phase phase;
	struct follower_page range;
	struct page page;
	size_t differences;
};

/* xorshift64*; see lsa.c. */
static uint32_t below(struct world *world, uint32_t limit)
{
	world->noise ^= world->noise >> 12;
	world->noise ^= world->noise << 25;
	world->noise ^= world->noise >> 27;
	return (uint32_t)((world->noise * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % limit;
}

/* --- The database ----------------------------------------------------------------------------- */

static uint64_t newest_of(const struct database *database)
{
	uint64_t newest = 0;
	for (size_t i = 0; i < PAPERS; i++)
		newest = MAX_OF(newest, database->papers[i].change);
	return newest;
}

static void close_writer(struct database *database, int number)
{
	database->writers[number] = (struct writer){0};
	if (database->lock_holder == number)
		database->lock_holder = -1;
}

static void commit(struct database *database, int number)
{
	const struct writer *writer = &database->writers[number];
	for (size_t i = 0; i < writer->count; i++)
		database->papers[writer->writes[i].paper] = writer->writes[i].state;
	close_writer(database, number);
}

/* Whether another open transaction has locked the paper's row. */
static bool is_row_locked(const struct database *database, int number, uint32_t paper)
{
	for (int i = 0; i < WRITERS; i++)
		for (size_t at = 0; i != number && at < database->writers[i].count; at++)
			if (database->writers[i].writes[at].paper == paper)
				return true;
	return false;
}

/* A statement of a transaction: takes the lock, draws a number, writes a row. It waits, which is to
 * say that nothing happens, while another transaction has the lock. */
static void write_paper(struct world *world, int number)
{
	struct database *database = &world->database;
	struct writer *writer = &database->writers[number];
	uint32_t paper = below(world, PAPERS);
	if (world->mutation != MUTATION_NO_LOCK) {
		if (database->lock_holder >= 0 && database->lock_holder != number)
			return;
		database->lock_holder = number;
	}
	if (writer->count == WRITES || is_row_locked(database, number, paper))
		return;
	writer->is_open = true;
	writer->writes[writer->count++] =
		(struct write){paper, {++database->sequence, below(world, 4) == 0}};
}

static void step_writer(struct world *world)
{
	int number = (int)below(world, WRITERS);
	switch (below(world, 8)) {
	case 0:
		close_writer(&world->database, number); /* a rollback leaves holes */
		break;
	case 1:
	case 2:
		commit(&world->database, number);
		break;
	default:
		write_paper(world, number);
	}
}

static int compare_writes(const void *a, const void *b)
{
	uint64_t left = ((const struct write *)a)->state.change;
	uint64_t right = ((const struct write *)b)->state.change;
	return left < right ? -1 : left > right;
}

static struct page read_page(const struct database *database, const struct follower_page *range)
{
	struct write all[PAPERS];
	struct page page = {.count = 0};
	size_t count = 0;
	for (uint32_t i = 0; i < PAPERS; i++) {
		const struct paper *paper = &database->papers[i];
		if (paper->change > range->after && paper->change <= range->until)
			all[count++] = (struct write){i, *paper};
	}
	qsort(all, count, sizeof(all[0]), compare_writes);
	page.count = MIN_OF(count, range->limit);
	memcpy(page.changes, all, page.count * sizeof(all[0]));
	return page;
}

static void crash_database(struct world *world)
{
	for (int i = 0; i < WRITERS; i++)
		close_writer(&world->database, i);
	if (world->phase >= PHASE_BEGUN)
		follower_failed(&world->follower, &world->range);
	world->phase = PHASE_IDLE;
}

/* --- The process ------------------------------------------------------------------------------ */

static void start_process(struct world *world)
{
	world->phase = PHASE_IDLE;
	world->index = world->saved;
	follower_init(&world->follower, &LIMITS);
	if (world->saved.newest > 0)
		follower_restored(&world->follower, world->saved.complete, world->saved.newest);
}

/* As engine_apply(): an older state of an indexed paper is ignored; deleted papers are
 * forgotten. */
static void apply_page(struct world *world)
{
	struct follower *follower = &world->follower;
	struct index *index = &world->index;
	const struct page *page = &world->page;
	uint64_t last = page->count > 0 ? page->changes[page->count - 1].state.change : 0;
	index->complete = follower_complete_with(follower, &world->range, page->count, last);
	for (size_t i = 0; i < page->count; i++) {
		const struct write *change = &page->changes[i];
		if (change->state.change < index->papers[change->paper])
			continue;
		index->papers[change->paper] = change->state.is_deleted ? 0 : change->state.change;
		index->newest = MAX_OF(index->newest, change->state.change);
	}
	follower_applied(follower, &world->range, page->count, last);
	if (world->mutation == MUTATION_CLAIM_HEAD)
		index->complete = follower->head;
}

/* The database is older than the index: the process removes the snapshot and ends. */
static void start_over(struct world *world)
{
	world->saved = (struct index){.complete = 0};
	start_process(world);
}

static void step_reader(struct world *world)
{
	switch (world->phase) {
	case PHASE_IDLE:
		if (!follower_look(&world->follower, newest_of(&world->database)))
			start_over(world);
		else
			world->phase = PHASE_LOOKED;
		break;
	case PHASE_LOOKED:
		world->range = follower_begin(&world->follower);
		world->phase = world->range.limit > 0 ? PHASE_BEGUN : PHASE_IDLE;
		break;
	case PHASE_BEGUN:
		world->page = read_page(&world->database, &world->range);
		world->phase = PHASE_READ;
		break;
	case PHASE_READ:
		apply_page(world);
		world->phase = PHASE_IDLE;
	}
}

/* A merge changes nothing that the model knows. A save writes what the index is when it begins. */
static void step_builder(struct world *world)
{
	if (world->follower.build == BUILD_NONE) {
		static const enum follower_build due[] = {BUILD_MERGE, BUILD_ADOPT};
		enum follower_build build = below(world, 4) > 0 ? BUILD_NONE : due[below(world, 2)];
		if (follower_build(&world->follower, build, SAVE_AFTER) == BUILD_SAVE)
			world->saving = world->index;
		return;
	}
	if (world->follower.build == BUILD_SAVE && below(world, 3) > 0)
		world->saved = world->saving;
	follower_built(&world->follower);
}

/* --- Checks ----------------------------------------------------------------------------------- */

/* How many papers differ although the index claims to be complete up to their last change. */
static size_t count_differences(const struct database *database, const struct index *index)
{
	size_t count = 0;
	for (size_t i = 0; i < PAPERS; i++) {
		const struct paper *paper = &database->papers[i];
		uint64_t expected = paper->is_deleted ? 0 : paper->change;
		count += paper->change <= index->complete && index->papers[i] != expected;
	}
	return count;
}

static void check(struct world *world)
{
	const struct follower *follower = &world->follower;
	world->differences += count_differences(&world->database, &world->index) +
	                      count_differences(&world->database, &world->saved);
	require(!follower->is_caught_up || follower_complete(follower) >= follower->target);
	for (size_t i = 0; i < follower->gap_count; i++) {
		const struct follower_gap *gap = &follower->gaps[i];
		uint64_t next = i + 1 < follower->gap_count ? gap[1].after : follower->head;
		require(gap->after < gap->until && gap->until <= next);
	}
}

/* Without writers and faults the index becomes equal to the database. */
static void check_settled(struct world *world)
{
	for (int i = 0; i < WRITERS; i++)
		commit(&world->database, i);
	for (int passes = 0; passes < 2 || follower_has_more(&world->follower); passes++)
		do
			step_reader(world);
		while (world->phase != PHASE_IDLE);
	world->index.complete = UINT64_MAX;
	world->differences += count_differences(&world->database, &world->index);
	world->index.complete = follower_complete(&world->follower);
	require(world->follower.is_caught_up);
}

static void step_fault(struct world *world)
{
	switch (below(world, 4)) {
	case 0:
		crash_database(world);
		break;
	case 1:
		start_process(world); /* it was killed */
		break;
	case 2:
		world->backup = world->database;
		break;
	default:
		/* Restored from the backup. Only a process that has not seen anything newer than
		 * the backup, or looks before the numbers are used again, can know. */
		if (world->backup.lock_holder >= 0 || below(world, 8) > 0)
			break;
		crash_database(world);
		world->database = world->backup;
		crash_database(world);
		if (newest_of(&world->database) < world->saved.newest)
			start_over(world);
		step_reader(world);
	}
}

static size_t run(uint64_t seed, enum mutation mutation, size_t steps)
{
	struct world world = {.noise = seed, .mutation = mutation};
	world.database.lock_holder = world.backup.lock_holder = -1;
	start_process(&world);
	for (size_t i = 0; i < steps && (mutation == MUTATION_NONE || world.differences == 0);
	     i++) {
		/* Bursts of writes, so that the reader falls behind. */
		uint32_t writes = i / 500 % 4 == 0 ? 12 : 3;
		uint32_t choice = below(&world, writes + 8);
		if (choice < writes)
			step_writer(&world);
		else if (choice < writes + 6)
			step_reader(&world);
		else if (choice < writes + 7)
			step_builder(&world);
		else if (below(&world, 12) == 0)
			step_fault(&world);
		check(&world);
		if (i % 5000 == 4999)
			check_settled(&world);
	}
	return world.differences;
}

static void test_the_index_includes_what_it_claims(void **state attr_unused)
{
	assert_int_equal(run(1, MUTATION_NONE, RANDOM_STEPS), 0);
	for (uint64_t seed = 2; seed < 50; seed++)
		assert_int_equal(run(seed, MUTATION_NONE, RANDOM_STEPS / 100), 0);
}

/* The model notices what the lock prevents: a number that is committed after a greater one. */
static void test_the_lock_is_needed(void **state attr_unused)
{
	assert_true(run(3, MUTATION_NO_LOCK, RANDOM_STEPS) > 0);
}

static void test_a_claim_past_a_gap_is_noticed(void **state attr_unused)
{
	assert_true(run(4, MUTATION_CLAIM_HEAD, RANDOM_STEPS) > 0);
}

static void begin(struct follower *follower, uint64_t newest)
{
	const struct follower_limits limits = {.head_page = 1000, .gap_page = 4000, .jump = 8000};
	follower_init(follower, &limits);
	assert_true(follower_look(follower, newest));
}

/* Read one page; every number up to `newest` exists. Returns the last number that was read. */
static uint64_t read_next(struct follower *follower, uint64_t newest)
{
	assert_true(follower_look(follower, newest));
	struct follower_page page = follower_begin(follower);
	uint64_t until = MIN_OF(page.until, newest);
	size_t count = MIN_OF(page.limit, (size_t)(until - page.after));
	follower_applied(follower, &page, count, page.after + count);
	return page.after + count;
}

static void test_a_change_after_an_import_is_indexed_within_two_pages(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 0);
	for (uint64_t newest = 100001; newest <= 1000010; newest += 100001) {
		size_t pages = 1;
		while (read_next(&follower, newest) < newest)
			pages++;
		assert_true(pages <= 2);
		assert_true(follower_complete(&follower) < newest);
	}
	while (follower_has_more(&follower))
		read_next(&follower, 1000010);
	assert_int_equal(follower_complete(&follower), 1000010);
}

/* The import commits as many changes for each page as the index reads of both kinds. */
static void
test_a_change_in_the_middle_of_an_import_is_indexed_within_two_pages(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 50000);
	for (uint64_t newest = 50000; newest < 150000; newest += 500) {
		size_t pages = 1;
		while (read_next(&follower, newest) < newest)
			pages++;
		assert_true(pages <= 2);
	}
}

static void test_a_full_list_of_gaps_stops_jumps(void **state attr_unused)
{
	struct follower follower;
	uint64_t newest = 0;
	begin(&follower, 0);
	while (follower.gap_count < FOLLOWER_MAX_GAPS) {
		newest += 1000000;
		assert_true(follower_look(&follower, newest));
		struct follower_page page = follower_begin(&follower);
		follower_applied(&follower, &page, page.limit, page.after + page.limit);
	}
	newest += 1000000;
	read_next(&follower, newest);
	uint64_t head = follower.head;
	read_next(&follower, newest);
	assert_int_equal(follower.gap_count, FOLLOWER_MAX_GAPS);
	assert_true(follower.head <= head + 1000);
	while (follower_has_more(&follower))
		read_next(&follower, newest);
	assert_int_equal(follower_complete(&follower), newest);
}

static void test_a_gap_that_cannot_be_read_does_not_stop_the_head(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 100000);
	read_next(&follower, 100000);
	for (uint64_t newest = 100001; newest < 100010; newest++) {
		assert_true(follower_look(&follower, newest));
		struct follower_page page = follower_begin(&follower);
		assert_true(page.is_gap);
		follower_failed(&follower, &page);
		assert_int_equal(read_next(&follower, newest), newest);
		assert_int_equal(follower_complete(&follower), 0);
	}
}

static void test_an_older_database_is_noticed(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 10);
	assert_false(follower_look(&follower, 9));
	follower_init(&follower, &LIMITS);
	follower_restored(&follower, 15, 20);
	assert_false(follower_look(&follower, 19));
	assert_true(follower_look(&follower, 20));
	assert_int_equal(follower_begin(&follower).after, 15);
}

static void test_builds_run_one_at_a_time(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 900);
	assert_int_equal(follower_build(&follower, BUILD_NONE, 900), BUILD_NONE);
	read_next(&follower, 900);
	assert_int_equal(follower_build(&follower, BUILD_MERGE, 900), BUILD_MERGE);
	assert_int_equal(follower_build(&follower, BUILD_MERGE, 900), BUILD_NONE);
	follower_built(&follower);
	assert_int_equal(follower_build(&follower, BUILD_NONE, 900), BUILD_SAVE);
	follower_built(&follower);
	assert_int_equal(follower_build(&follower, BUILD_NONE, 900), BUILD_NONE);
}

static void test_adopted_vectors_are_saved(void **state attr_unused)
{
	struct follower follower;
	begin(&follower, 900);
	assert_int_equal(follower_build(&follower, BUILD_ADOPT, 900), BUILD_ADOPT);
	follower_built(&follower);
	assert_int_equal(follower_build(&follower, BUILD_MERGE, 900), BUILD_MERGE);
	follower_built(&follower);
	assert_int_equal(follower_build(&follower, BUILD_NONE, 900), BUILD_SAVE);
	follower_built(&follower);
	assert_int_equal(follower_build(&follower, BUILD_NONE, 900), BUILD_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_index_includes_what_it_claims),
		cmocka_unit_test(test_the_lock_is_needed),
		cmocka_unit_test(test_a_claim_past_a_gap_is_noticed),
		cmocka_unit_test(test_a_change_after_an_import_is_indexed_within_two_pages),
		cmocka_unit_test(
			test_a_change_in_the_middle_of_an_import_is_indexed_within_two_pages),
		cmocka_unit_test(test_a_full_list_of_gaps_stops_jumps),
		cmocka_unit_test(test_a_gap_that_cannot_be_read_does_not_stop_the_head),
		cmocka_unit_test(test_an_older_database_is_noticed),
		cmocka_unit_test(test_builds_run_one_at_a_time),
		cmocka_unit_test(test_adopted_vectors_are_saved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
