// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

#include <ns3/dsdv-routing-protocol.h>

namespace wayhop {

namespace {

/** Destination, hops and sequence number: ns-3 reads until nothing is left, and not less than this at a time. */
constexpr std::size_t ENTRY_LENGTH = 12;

} // namespace

Model TheModel() {
    return {"ns3:dsdv",
            "DSDV of ns-3",
            "Perkins and Bhagwat, SIGCOMM 1994",
            static_cast<uint16_t>(ns3::dsdv::RoutingProtocol::DSDV_PORT),
            {"update"},
            {{0, "update"}},
            [](const wayhop_datagram*, wayhop_classified* out) {
                out->class_index = 0;
                out->types = 1;
            },
            [](const uint8_t*, std::size_t length) { return (length - UDP_HEADER) % ENTRY_LENGTH == 0; },
            ns3::dsdv::RoutingProtocol::GetTypeId(),
            [](ns3::Ptr<ns3::Object> model, int64_t stream) {
                model->GetObject<ns3::dsdv::RoutingProtocol>()->AssignStreams(stream);
            }};
}

} // namespace wayhop
