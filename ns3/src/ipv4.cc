// SPDX-License-Identifier: GPL-2.0-only
#include "ipv4.h"

#include "model.h"

namespace wayhop {

namespace {

constexpr std::size_t SHORTEST = 20;

uint16_t Read16(const uint8_t* at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }

/** Corrects a checksum for a word that has changed. RFC 1624, equation 3: HC' = ~(~HC + ~m + m'). */
void Correct(uint8_t* checksum, uint16_t before, uint16_t after) {
    uint32_t sum = static_cast<uint16_t>(~Read16(checksum));
    sum += static_cast<uint16_t>(~before);
    sum += after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    const auto corrected = static_cast<uint16_t>(~sum);
    checksum[0] = static_cast<uint8_t>(corrected >> 8);
    checksum[1] = static_cast<uint8_t>(corrected);
}

} // namespace

std::size_t HeaderLength(const uint8_t* packet) { return std::size_t{4} * (packet[0] & 0x0f); }

std::optional<ns3::Ipv4Header> ParseIpv4(const uint8_t* packet, std::size_t length) {
    if (length < SHORTEST || packet[0] >> 4 != 4 || HeaderLength(packet) < SHORTEST || HeaderLength(packet) > length) {
        return std::nullopt;
    }
    const uint16_t fragment = Read16(packet + 6);
    ns3::Ipv4Header header;
    header.SetTos(packet[1]);
    header.SetPayloadSize(static_cast<uint16_t>(length - HeaderLength(packet)));
    header.SetIdentification(Read16(packet + 4));
    (fragment & 0x4000) != 0 ? header.SetDontFragment() : header.SetMayFragment();
    (fragment & 0x2000) != 0 ? header.SetMoreFragments() : header.SetLastFragment();
    header.SetFragmentOffset(static_cast<uint16_t>((fragment & 0x1fff) * 8));
    header.SetTtl(packet[8]);
    header.SetProtocol(packet[9]);
    header.SetSource(ns3::Ipv4Address::Deserialize(packet + 12));
    header.SetDestination(ns3::Ipv4Address::Deserialize(packet + 16));
    return header;
}

void SetTtl(uint8_t* packet, uint8_t ttl) {
    const uint16_t before = Read16(packet + 8);
    packet[8] = ttl;
    Correct(packet + 10, before, Read16(packet + 8));
}

void SetDestination(uint8_t* packet, std::size_t length, ns3::Ipv4Address destination) {
    const uint16_t before[] = {Read16(packet + 16), Read16(packet + 18)};
    destination.Serialize(packet + 16);
    uint8_t* udp = packet + HeaderLength(packet);
    // The address counts in UDP's checksum, too: 0 if there is none, and not in later fragments.
    const bool first = (Read16(packet + 6) & 0x1fff) == 0 && HeaderLength(packet) + UDP_HEADER <= length;
    const bool summed = first && Read16(udp + 6) != 0;
    for (int i = 0; i < 2; i++) {
        const uint16_t after = Read16(packet + 16 + 2 * i);
        Correct(packet + 10, before[i], after);
        if (summed) {
            Correct(udp + 6, before[i], after);
        }
    }
}

} // namespace wayhop
