// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

#include <ns3/olsr-routing-protocol.h>

namespace wayhop {

namespace {

// RFC 3626, section 3.3: the packet's header, then messages with a type and a length each.
constexpr std::size_t PACKET_HEADER = 4;
constexpr std::size_t MESSAGE_HEADER = 12;
constexpr std::size_t ADDRESS = 4;
constexpr uint8_t HELLO = 1;
constexpr uint8_t TC = 2;
constexpr uint8_t MID = 3;
constexpr uint8_t HNA = 4;

std::size_t Read16(const uint8_t* at) { return static_cast<std::size_t>(at[0]) << 8 | at[1]; }

/** Section 6.1: four bytes, then lists of neighbours with a length each. ns-3 ends the process for the link type 0. */
bool IsHello(const uint8_t* body, std::size_t length) {
    std::size_t at = 4;
    while (at + 4 <= length) {
        const std::size_t list = Read16(body + at + 2);
        if (list < 4 || list % ADDRESS != 0 || (body[at] & 3) == 0) {
            return false;
        }
        at += list;
    }
    return at == length;
}

bool IsMessage(uint8_t type, const uint8_t* body, std::size_t length) {
    switch (type) {
    case HELLO:
        return IsHello(body, length);
    case TC:
        return length >= 4 && length % ADDRESS == 0;
    case MID:
        return length % ADDRESS == 0;
    case HNA:
        return length % (2 * ADDRESS) == 0;
    default:
        return false;
    }
}

/** A packet of the length that it says, from OLSR's port, with messages that ns-3 knows. */
bool IsWellFormed(const uint8_t* datagram, std::size_t length) {
    const uint8_t* packet = datagram + UDP_HEADER;
    length -= UDP_HEADER;
    if (length < PACKET_HEADER || Read16(packet) != length || Read16(datagram) != Read16(datagram + 2)) {
        return false;
    }
    std::size_t at = PACKET_HEADER;
    while (at + MESSAGE_HEADER <= length) {
        const std::size_t message = Read16(packet + at + 2);
        if (message < MESSAGE_HEADER || at + message > length ||
            !IsMessage(packet[at], packet + at + MESSAGE_HEADER, message - MESSAGE_HEADER)) {
            return false;
        }
        at += message;
    }
    return at == length;
}

void Classify(const wayhop_datagram* datagram, wayhop_classified* out) {
    std::size_t at = PACKET_HEADER;
    while (at + MESSAGE_HEADER <= datagram->length) {
        const uint8_t* message = datagram->payload + at;
        const std::size_t length = Read16(message + 2);
        if (message[0] < HELLO || message[0] > HNA || length < MESSAGE_HEADER) {
            return;
        }
        const int32_t type = message[0] - 1;
        // The first message gives the class.
        out->class_index = out->types == 0 ? type : out->class_index;
        out->types |= 1U << type;
        at += length;
    }
}

#ifdef WITH_ROUTES
constexpr const char* NAME = "ns3:olsr-routes";

/** Its routing table. */
std::vector<wayhop_route> Routes(ns3::Ptr<ns3::Object> model) {
    std::vector<wayhop_route> routes;
    for (const auto& entry : model->GetObject<ns3::olsr::RoutingProtocol>()->GetRoutingTableEntries()) {
        wayhop_route route{};
        route.destination = wayhop_ipv4(entry.destAddr.Get());
        route.next_hop = wayhop_ipv4(entry.nextAddr.Get());
        route.metric = entry.distance;
        route.prefix_length = 32;
        route.iface = WAYHOP_ANY_INTERFACE;
        routes.push_back(route);
    }
    return routes;
}
constexpr auto ROUTES = Routes;
#else
constexpr const char* NAME = "ns3:olsr";
constexpr auto ROUTES = nullptr;
#endif

} // namespace

Model TheModel() {
    return {NAME,
            "OLSR of ns-3",
            "RFC 3626",
            ns3::olsr::RoutingProtocol::OLSR_PORT_NUMBER,
            {"hello", "tc", "mid", "hna"},
            {{0, "hello"}, {1, "tc"}, {2, "mid"}, {3, "hna"}},
            Classify,
            IsWellFormed,
            ns3::olsr::RoutingProtocol::GetTypeId(),
            [](ns3::Ptr<ns3::Object> model, int64_t stream) {
                model->GetObject<ns3::olsr::RoutingProtocol>()->AssignStreams(stream);
            },
            ROUTES};
}

} // namespace wayhop
