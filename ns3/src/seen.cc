// SPDX-License-Identifier: GPL-2.0-only
#include "seen.h"

#include <ns3/hash.h>

namespace wayhop {

namespace {

/** Longer than AODV's PathDiscoveryTime, which is how long it remembers (ns). */
constexpr uint64_t LIFETIME = 30'000'000'000;

} // namespace

ns3::Ptr<ns3::Packet> Seen::Make(uint64_t now, const ns3::Ipv4Header& header, const uint8_t* payload,
                                 std::size_t length) {
    Expire(now);
    ns3::Hasher hasher;
    const uint32_t of[] = {header.GetSource().Get(), header.GetIdentification(), header.GetProtocol()};
    hasher.GetHash64(reinterpret_cast<const char*>(of), sizeof of);
    const uint64_t key = hasher.GetHash64(reinterpret_cast<const char*>(payload), length);
    auto& packet = m_packets[key];
    if (!packet) {
        packet = ns3::Create<ns3::Packet>(payload, static_cast<uint32_t>(length));
        m_order.push_back({now, key});
    }
    return packet->Copy();
}

void Seen::Expire(uint64_t now) {
    while (!m_order.empty() && m_order.front().at + LIFETIME < now) {
        m_packets.erase(m_order.front().key);
        m_order.pop_front();
    }
}

} // namespace wayhop
