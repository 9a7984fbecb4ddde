/** A fake HTTP service on the test's own loop: it accepts connections, and the test reads and
 * writes their bytes. */
#pragma once

#include "http_client.h"

#include <uv.h>

#include <stddef.h>
#include <stdint.h>

#define FAKE_CONNS_MAX 64

struct fake_service {
	uv_loop_t *loop;
	uv_poll_t poll;
	int fd;
	uint16_t port;
	struct http_client *conns[FAKE_CONNS_MAX]; /* in the order in which they were accepted */
	size_t count;
};

/** Listen on 127.0.0.1. */
struct fake_service *fake_service_new(uv_loop_t *loop);

/** Run the loop until connection `index` (from 0) has been accepted. */
struct http_client *fake_service_conn(struct fake_service *fake, size_t index);

/** Close one of its connections. */
void fake_service_close(struct fake_service *fake, size_t index);

/** Stop listening; connections stay open. */
void fake_service_unlisten(struct fake_service *fake);

void fake_service_free(struct fake_service *fake);
