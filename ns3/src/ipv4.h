// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_IPV4_H
#define WAYHOP_NS3_IPV4_H

#include <ns3/ipv4-header.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace wayhop {

/** The IPv4 header of a packet, without its options; nothing if it is malformed. */
std::optional<ns3::Ipv4Header> ParseIpv4(const uint8_t* packet, std::size_t length);
/** The length of the header with its options. */
std::size_t HeaderLength(const uint8_t* packet);
/** Writes the TTL and corrects the checksum. */
void SetTtl(uint8_t* packet, uint8_t ttl);
/** Writes the destination of a UDP datagram, or of a fragment of one, and corrects the checksums. */
void SetDestination(uint8_t* packet, std::size_t length, ns3::Ipv4Address destination);

} // namespace wayhop

#endif
