/** Where the files of an export go: a folder, or a bucket of an S3-compatible store. Internal to
 * this folder. */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdio.h>

struct store_kind;

/** A file that is being written. */
struct store_file {
	FILE *file;
	const char *path; /* where it is until it is kept; NULL: it has no name */
};

struct store {
	const struct store_kind *kind;
	const char *target; /* as the operator names it: `s3://bucket/prefix`, or the whole path */
	const char *folder; /* of a folder: its path */
	const char *bucket, *prefix; /* of S3; the prefix is "" or ends with a slash */
	const char *url;             /* of S3, without a slash at its end */
	const char *region, *key_id, *secret;
};

/** Waits and raises as a handler does. The names of files have only [a-z0-9.-]. */
struct store_kind {
	/** Raises ERR_INVALID, naming what is wrong, when the store cannot be written to. */
	void (*open)(struct request *rq, const struct store *store);
	/** Whether the store has the file. */
	bool (*has)(struct request *rq, const struct store *store, const char *name);
	/** A new file to write into, in the arena. What was there under that name unfinished is
	 * gone: a process that has lost the lease and goes on writes into a file of its own, which
	 * it cannot keep. */
	struct store_file *(*begin)(struct request *rq, const struct store *store,
	                            const char *name);
	/** All of it was written: keep it under its name. Does not close it. */
	void (*keep)(struct request *rq, const struct store *store, const char *name,
	             const struct store_file *file);
};

/** The store of `--to`, in the arena of the request; raises ERR_INVALID. */
struct store *store_new(struct request *rq, const char *target);

extern const struct store_kind FOLDER_STORE, S3_STORE;

/** What the settings say of S3. */
extern const char *s3_url, *s3_region, *s3_key_id, *s3_secret;
