// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_FRAGMENTS_H
#define WAYHOP_NS3_FRAGMENTS_H

#include <ns3/ipv4-header.h>

#include <deque>

namespace wayhop {

/** Recognizes the model's own messages, also in fragments: only the first has the UDP header. */
class Fragments {
  public:
    /** Of a model with this UDP port. */
    explicit Fragments(uint16_t port);

    /** Whether a packet with this payload is one of the model's, or a later fragment of one. */
    bool IsMessage(const ns3::Ipv4Header& header, const uint8_t* payload, std::size_t length);

  private:
    uint16_t m_port;
    std::deque<uint64_t> m_begun; ///< Source and identification of first fragments, the latest last.
};

} // namespace wayhop

#endif
