/** When a TCP connection counts as broken because the other end has vanished: its node failed, or
 * the network drops every packet, and no reset arrives.
 *
 * The kernel decides by acknowledgments, not by answers: a server that is alive acknowledges
 * requests and probes however long it takes to answer. A connection breaks
 * - TCP_LOST_MS after bytes that are not acknowledged (RFC 5482), or that the other end does not
 *   take because it has stopped reading;
 * - when nothing is unacknowledged, after TCP_PROBES probes without an acknowledgment: the first
 *   after TCP_PROBE_IDLE_S of silence, then one every TCP_PROBE_INTERVAL_S.
 *
 * Reading fails with ETIMEDOUT, or with what the network said, such as EHOSTUNREACH. */
#pragma once

#define TCP_LOST_MS          6000
#define TCP_PROBE_IDLE_S     2
#define TCP_PROBE_INTERVAL_S 1
#define TCP_PROBES           4

/** Set these limits. Does nothing for a socket that is not of TCP. */
void tcp_detect_loss(int fd);
