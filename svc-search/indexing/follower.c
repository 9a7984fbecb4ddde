#include "indexing/follower.h"

#include "base/base.h"

#include <string.h>

void follower_init(struct follower *follower, const struct follower_limits *limits)
{
	require(limits->head_page > 0 && limits->gap_page > 0 && limits->jump > limits->head_page);
	*follower = (struct follower){.limits = *limits};
}

void follower_restored(struct follower *follower, uint64_t complete, uint64_t newest)
{
	require(!follower->has_target && follower->head == 0 && complete <= newest);
	follower->head = complete;
	follower->newest = newest;
}

uint64_t follower_complete(const struct follower *follower)
{
	return follower->gap_count > 0 ? follower->gaps[0].after : follower->head;
}

static void note_caught_up(struct follower *follower)
{
	if (follower->has_target && follower_complete(follower) >= follower->target)
		follower->is_caught_up = true;
}

bool follower_look(struct follower *follower, uint64_t newest)
{
	if (newest < follower->newest)
		return false;
	follower->newest = newest;
	if (!follower->has_target)
		follower->target = newest;
	follower->has_target = true;
	note_caught_up(follower);
	return true;
}

/* Leave everything but the newest page of changes to a gap. */
static void jump(struct follower *follower)
{
	uint64_t until = follower->newest - follower->limits.head_page;
	follower->gaps[follower->gap_count++] = (struct follower_gap){follower->head, until};
	follower->head = until;
}

struct follower_page follower_begin(struct follower *follower)
{
	uint64_t behind = follower->newest - MIN_OF(follower->head, follower->newest);
	bool has_gap = follower->gap_count > 0;
	require(follower->has_target && !follower->is_reading);
	if (behind == 0 && !has_gap)
		return (struct follower_page){0};
	follower->is_reading = true;
	if (has_gap && (behind == 0 || follower->is_gap_next))
		return (struct follower_page){
			.after = follower->gaps[0].after,
			.until = follower->gaps[0].until,
			.limit = follower->limits.gap_page,
			.is_gap = true,
		};
	if (behind > follower->limits.jump && follower->gap_count < FOLLOWER_MAX_GAPS)
		jump(follower);
	return (struct follower_page){
		.after = follower->head,
		.until = INT64_MAX,
		.limit = follower->limits.head_page,
	};
}

/* The number up to which the range of `page` has been read. A page that is not full has everything
 * up to the end of its range; that of the head ends with the newest number that was known
 * before. */
static uint64_t end_of(const struct follower *follower, const struct follower_page *page,
                       size_t count, uint64_t last)
{
	uint64_t known = page->is_gap ? page->until : MAX_OF(follower->newest, page->after);
	if (count == page->limit)
		return last;
	return count > 0 ? MAX_OF(known, last) : known;
}

uint64_t follower_complete_with(const struct follower *follower, const struct follower_page *page,
                                size_t count, uint64_t last)
{
	struct follower after = *follower;
	follower_applied(&after, page, count, last);
	return follower_complete(&after);
}

static void close_first_gap(struct follower *follower)
{
	follower->gap_count--;
	memmove(follower->gaps, follower->gaps + 1, follower->gap_count * sizeof(*follower->gaps));
}

void follower_applied(struct follower *follower, const struct follower_page *page, size_t count,
                      uint64_t last)
{
	uint64_t end = end_of(follower, page, count, last);
	require(follower->is_reading && end >= page->after && end <= page->until);
	follower->is_reading = false;
	follower->is_gap_next = !page->is_gap;
	follower->unsaved += count;
	follower->newest = MAX_OF(follower->newest, end);
	if (!page->is_gap) {
		follower->head = end;
	} else {
		follower->gaps[0].after = end;
		if (end == page->until)
			close_first_gap(follower);
	}
	note_caught_up(follower);
}

void follower_failed(struct follower *follower, const struct follower_page *page)
{
	follower->is_reading = false;
	follower->is_gap_next = !page->is_gap;
}

bool follower_has_more(const struct follower *follower)
{
	return follower->gap_count > 0 || follower->head < follower->newest;
}

enum follower_build follower_build(struct follower *follower, enum follower_build due,
                                   size_t save_after)
{
	if (follower->build != BUILD_NONE)
		return BUILD_NONE;
	if (due != BUILD_NONE) {
		follower->build = due;
	} else if (follower->is_adoption_unsaved || follower->unsaved >= save_after) {
		follower->build = BUILD_SAVE;
		follower->unsaved = 0;
		follower->is_adoption_unsaved = false;
	}
	follower->is_adoption_unsaved |= due == BUILD_ADOPT;
	return follower->build;
}

void follower_built(struct follower *follower)
{
	require(follower->build != BUILD_NONE);
	follower->build = BUILD_NONE;
}
