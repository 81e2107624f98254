// SPDX-License-Identifier: GPL-2.0-only
#include "fragments.h"

#include <ns3/udp-l4-protocol.h>

#include <algorithm>

namespace wayhop {

namespace {

/** How many messages of neighbours can be on their way at once. */
constexpr std::size_t REMEMBERED = 64;

} // namespace

Fragments::Fragments(uint16_t port) : m_port(port) {}

bool Fragments::IsMessage(const ns3::Ipv4Header& header, const uint8_t* payload, std::size_t length) {
    if (header.GetProtocol() != ns3::UdpL4Protocol::PROT_NUMBER) {
        return false;
    }
    const uint64_t key = static_cast<uint64_t>(header.GetSource().Get()) << 16 | header.GetIdentification();
    if (header.GetFragmentOffset() != 0) {
        return std::find(m_begun.begin(), m_begun.end(), key) != m_begun.end();
    }
    if (length < 4 || (payload[2] << 8 | payload[3]) != m_port) {
        return false;
    }
    if (!header.IsLastFragment()) {
        m_begun.push_back(key);
        if (m_begun.size() > REMEMBERED) {
            m_begun.pop_front();
        }
    }
    return true;
}

} // namespace wayhop
