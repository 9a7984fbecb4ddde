#include "llm/call_gate.h"

#include "base/base.h"

#define SHARES 4

static size_t count_of(const struct call_gate *gate, const struct uuid *account)
{
	size_t count = 0;
	for (size_t i = 0; i < gate->running; i++)
		count += uuid_equal(&gate->accounts[i], account);
	return count;
}

static enum call_gate_entry entry_for(const struct call_gate *gate, const struct uuid *account)
{
	if (failure_pause_is_on(&gate->pause))
		return GATE_PAUSED;
	bool is_full = gate->running >= gate->limit ||
	               count_of(gate, account) >= MAX_OF(gate->limit / SHARES, 1);
	return is_full ? GATE_FULL : GATE_ENTERED;
}

enum call_gate_entry call_gate_enter(struct call_gate *gate, const struct uuid *account)
{
	pthread_mutex_lock(&gate->lock);
	enum call_gate_entry entry = entry_for(gate, account);
	if (entry == GATE_ENTERED)
		gate->accounts[gate->running++] = *account;
	pthread_mutex_unlock(&gate->lock);
	return entry;
}

static void remove_one(struct call_gate *gate, const struct uuid *account)
{
	size_t i = 0;
	while (i < gate->running && !uuid_equal(&gate->accounts[i], account))
		i++;
	require(i < gate->running);
	gate->accounts[i] = gate->accounts[--gate->running];
}

void call_gate_leave(struct call_gate *gate, const struct uuid *account, enum call_gate_sign sign,
                     uint64_t retry_after_ms)
{
	pthread_mutex_lock(&gate->lock);
	remove_one(gate, account);
	if (sign == GATE_SERVER_FAILED)
		failure_pause_failed(&gate->pause, retry_after_ms);
	if (sign == GATE_SERVER_WORKS)
		failure_pause_succeeded(&gate->pause);
	pthread_mutex_unlock(&gate->lock);
}
