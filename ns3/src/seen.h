// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_SEEN_H
#define WAYHOP_NS3_SEEN_H

#include <ns3/ipv4-header.h>
#include <ns3/packet.h>

#include <cstdint>
#include <deque>
#include <map>

namespace wayhop {

/**
 * Broadcasts of applications that came by. Models recognize a duplicate by ns-3's number of the packet, which copies
 * keep; between nodes there are bytes only. So a second copy of the same bytes becomes a copy of the first packet.
 */
class Seen {
  public:
    /** A packet with this payload: the one that was seen before with the same source, identification and payload, or a
     * new one. */
    ns3::Ptr<ns3::Packet> Make(uint64_t now, const ns3::Ipv4Header& header, const uint8_t* payload, std::size_t length);

  private:
    void Expire(uint64_t now);

    struct Entry {
        uint64_t at;
        uint64_t key;
    };

    std::map<uint64_t, ns3::Ptr<const ns3::Packet>> m_packets;
    std::deque<Entry> m_order;
};

} // namespace wayhop

#endif
