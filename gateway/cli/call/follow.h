/** Following work that takes longer than a request: -w. Steps and progress are shown on standard
 * error, if that is a terminal. A service that is away, as while it restarts, is asked again.
 * Ctrl-C ends the program, not the work. */
#pragma once

#include "call/call.h"

/** How an operation shows the state of such work. */
struct followed {
	const char *operation;
	const char *state; /* JSON pointer to a word */
	const char *ends;  /* the words that end it well, with a space before and after each */
	const char *fails; /* and badly */
	/* JSON pointer to what became of it, if its end says nothing of that: one of `fails` is
	 * bad, too. NULL: none. */
	const char *result;
	/* The words of `state` of work that goes on. With any other it has ended once `result` is
	 * something else than `running`. NULL: `ends` and `fails` are all words of its end. */
	const char *goes_on;
	const char *error; /* JSON pointer to the reason of a failure; NULL: none */
};

/** The kinds of work. */
extern const struct followed FOLLOWED_REFRESH, FOLLOWED_REFIT, FOLLOWED_PROVISION,
	FOLLOWED_IMPLEMENT, FOLLOWED_AGENT_RUN, FOLLOWED_BUILD, FOLLOWED_EVAL_RUN;

/** Which work is meant, where answers can be of other work, too. */
struct subject {
	const char *path; /* JSON pointer to the id of an answer's work */
	const char *id;
	/* Asks for the list of the work of this id, whose one item has the members that an answer
	 * has: where the answer is of other work. */
	struct query *by_id;
};

/** Ask by `query`, a request to the operation, until the work has ended, and return the last answer
 * that was of it. `subject` NULL: each answer is. `again` is the command that goes on to follow or
 * shows the state, which Ctrl-C prints. Fails when the service refuses, or has not told of the work
 * for ten minutes. */
struct answer *follow(struct query *query, const struct followed *followed,
                      const struct subject *subject, const char *again);

/** What the command `again` does, for a sentence: `follows it`, or `shows its state` if it does not
 * wait. */
const char *follow_verb(const char *again);

/** End the program with status 1 if the work has failed. */
void follow_require_success(struct cli *cli, const struct followed *followed,
                            const struct answer *answer);
