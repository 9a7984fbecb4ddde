/** When a TCP connection counts as broken because the other end has vanished: its node failed, or
 * the network drops every packet, and no reset arrives.
 *
 * The kernel decides by acknowledgments, not by answers: a server that is alive acknowledges
 * requests and probes however long it takes to answer. Reading from a broken connection fails with
 * ETIMEDOUT, or with what the network said, such as EHOSTUNREACH. */
#pragma once

#include <stdbool.h>

#define TCP_PROBE_IDLE_S     2
#define TCP_PROBE_INTERVAL_S 1
#define TCP_PROBES           4
#define TCP_LOST_MS          6000

/** Let the connection break after TCP_PROBES probes without an acknowledgment: the first after
 * TCP_PROBE_IDLE_S of silence, then one every TCP_PROBE_INTERVAL_S. Bytes that are not acknowledged
 * are sent again for as long as the system says, minutes. Does nothing for a socket that is not of
 * TCP. */
void tcp_probe(int fd);

/** The same, and let it break TCP_LOST_MS after bytes that are not acknowledged (RFC 5482), which
 * then also limits the probes. It breaks, too, when the other end takes no bytes for so long: this
 * is for our own processes and Redis, not for a server that may stop reading while it works. */
void tcp_detect_loss(int fd);

/** Whether reading failed with this errno because the other end vanished, and not because it has
 * reset the connection. */
bool tcp_is_loss(int error);
