#include "tls/ticket.h"

#include <string.h>

#define PERIOD_LEN (TICKET_OVERHEAD - GCM_OVERHEAD)

static const char CONTEXT[] = "TLS session ticket";

void ticket_seed_init(struct ticket_seed *seed, uint64_t now_ms)
{
	random_bytes(seed->link, sizeof(seed->link));
	seed->started_ms = now_ms;
}

static void derive_key(struct ticket_keys *keys)
{
	hkdf_sha256(keys->link, sizeof(keys->link), "ticket key", keys->now, sizeof(keys->now));
}

void ticket_keys_init(struct ticket_keys *keys, const struct ticket_seed *seed)
{
	*keys = (struct ticket_keys){.started_ms = seed->started_ms};
	memcpy(keys->link, seed->link, sizeof(keys->link));
	derive_key(keys);
	random_bytes(keys->before, sizeof(keys->before)); /* nothing was sealed before */
}

void ticket_keys_wipe(struct ticket_keys *keys)
{
	explicit_bzero(keys, sizeof(*keys));
}

/* Go on to the keys of the period of `now_ms`. */
static void advance(struct ticket_keys *keys, uint64_t now_ms)
{
	uint32_t period = (uint32_t)((now_ms - keys->started_ms) / TICKET_PERIOD_MS);
	while (keys->period < period) {
		uint8_t next[SHA256_LEN];
		hkdf_sha256(keys->link, sizeof(keys->link), "next link", next, sizeof(next));
		memcpy(keys->link, next, sizeof(next));
		explicit_bzero(next, sizeof(next));
		memcpy(keys->before, keys->now, sizeof(keys->before));
		derive_key(keys);
		keys->period++;
	}
}

static void put_period(uint8_t out[PERIOD_LEN], uint32_t period)
{
	for (int i = 0; i < PERIOD_LEN; i++)
		out[i] = (uint8_t)(period >> (8 * (PERIOD_LEN - 1 - i)));
}

static uint32_t get_period(const uint8_t *ticket)
{
	uint32_t period = 0;
	for (int i = 0; i < PERIOD_LEN; i++)
		period = period << 8 | ticket[i];
	return period;
}

void ticket_seal(struct ticket_keys *keys, uint64_t now_ms, const void *session, size_t length,
                 uint8_t *out)
{
	advance(keys, now_ms);
	put_period(out, keys->period);
	gcm_seal(keys->now, CONTEXT, session, length, out + PERIOD_LEN);
}

enum err_code ticket_open(struct ticket_keys *keys, uint64_t now_ms, const uint8_t *ticket,
                          size_t length, uint8_t *out)
{
	if (length < TICKET_OVERHEAD)
		return ERR_INVALID;
	advance(keys, now_ms);
	uint32_t period = get_period(ticket);
	if (period != keys->period && period + 1 != keys->period)
		return ERR_INVALID;
	return gcm_open(period == keys->period ? keys->now : keys->before, CONTEXT,
	                ticket + PERIOD_LEN, length - PERIOD_LEN, out);
}
