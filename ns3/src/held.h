// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_HELD_H
#define WAYHOP_NS3_HELD_H

#include "wayhop.h"

#include <ns3/packet.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace wayhop {

/** Packets in the model's own queue, by ns-3's number of the packet, with what the host knows them by. */
class Held {
  public:
    /** A packet of the host's, and since when it waits (ns). */
    struct Entry {
        wayhop_packet handle;
        uint64_t since;
        ns3::Ptr<const ns3::Packet> packet;
    };

    /** The model has kept a packet. */
    void Add(Entry entry);
    /** Takes a packet out. */
    std::optional<Entry> Take(const ns3::Packet& packet);
    /** Takes those out that the model has let go of without a word: nobody but this table refers to them. */
    void Sweep(const std::function<void(const Entry&)>& take);
    /** Shows them to the host. */
    void Inspect(const wayhop_inspector& inspector) const;

  private:
    std::map<uint64_t, Entry> m_entries;
};

} // namespace wayhop

#endif
