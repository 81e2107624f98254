// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

#include <ns3/aodv-routing-protocol.h>

#include <set>

namespace wayhop {

namespace {

// RFC 3561, section 5: the lengths of the messages.
constexpr std::size_t RREQ_LENGTH = 24;
constexpr std::size_t RREP_LENGTH = 20;
constexpr std::size_t RERR_LENGTH = 4;
constexpr std::size_t DESTINATION_LENGTH = 8;
constexpr std::size_t RREP_ACK_LENGTH = 2;

/** With as many destinations as it says. ns-3 asserts that they differ. */
bool IsRouteError(const uint8_t* message, std::size_t length) {
    if (length < RERR_LENGTH || length < RERR_LENGTH + DESTINATION_LENGTH * message[3]) {
        return false;
    }
    std::set<std::string> destinations;
    for (std::size_t i = 0; i < message[3]; i++) {
        const uint8_t* address = message + RERR_LENGTH + DESTINATION_LENGTH * i;
        destinations.emplace(address, address + 4);
    }
    return destinations.size() == message[3];
}

bool IsWellFormed(const uint8_t* datagram, std::size_t length) {
    const uint8_t* message = datagram + UDP_HEADER;
    length -= UDP_HEADER;
    switch (length == 0 ? 0 : message[0]) {
    case 1:
        return length >= RREQ_LENGTH;
    case 2:
        return length >= RREP_LENGTH;
    case 3:
        return IsRouteError(message, length);
    case 4:
        return length >= RREP_ACK_LENGTH;
    default:
        return false;
    }
}

} // namespace

Model TheModel() {
    // Without classes, Wayhop reads the messages as its own AODV's: they are those of RFC 3561.
    return {"ns3:aodv",
            "AODV of ns-3",
            "RFC 3561",
            static_cast<uint16_t>(ns3::aodv::RoutingProtocol::AODV_PORT),
            {},
            {},
            nullptr,
            IsWellFormed,
            ns3::aodv::RoutingProtocol::GetTypeId(),
            [](ns3::Ptr<ns3::Object> model, int64_t stream) {
                model->GetObject<ns3::aodv::RoutingProtocol>()->AssignStreams(stream);
            }};
}

} // namespace wayhop
