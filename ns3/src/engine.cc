// SPDX-License-Identifier: GPL-2.0-only
#include "engine.h"

#include "ipv4.h"
#include "model.h"
#include "tables.h"

#include <ns3/node-list.h>
#include <ns3/nstime.h>

namespace wayhop {

namespace {

ns3::Ipv4Address ToNs3(wayhop_addr address) { return ns3::Ipv4Address(wayhop_ipv4_number(address)); }

/** The longest that the model keeps a packet (ns): its attribute MaxQueueTime. OLSR keeps none. */
uint64_t Patience(const ns3::Object& model) {
    ns3::TimeValue time;
    return model.GetAttributeFailSafe("MaxQueueTime", time) ? static_cast<uint64_t>(time.Get().GetNanoSeconds()) : 0;
}

/** Protocols of applications. */
constexpr uint8_t ICMP = 1;
constexpr uint8_t TCP = 6;
constexpr uint8_t UDP = 17;

/** Streams of random numbers for a node, in each of its lives: more than any model has. */
constexpr int64_t STREAMS = 16;
/** More than a scenario has nodes. */
constexpr int64_t NODES = 1 << 24;

} // namespace

Engine::Visit::Visit(Engine& engine, const wayhop_cx* cx) : m_engine(engine) {
    engine.m_cx = cx;
    engine.m_clock->Enter(engine.m_stack->Context(), cx->now_ns);
}

Engine::Visit::~Visit() {
    m_engine.m_clock->RunDue();
    m_engine.m_held.Sweep([&](const Held::Entry& entry) {
        // DSDV says nothing when it gives a packet up: it waited too long, or its destination is gone.
        wayhop_drop(m_engine.m_cx, entry.handle, WAYHOP_BUFFER_TIMEOUT);
    });
    if (m_engine.m_routesChanged) {
        const auto routes = m_engine.m_routes(m_engine.m_stack->Model());
        wayhop_replace_routes(m_engine.m_cx, routes.data(), routes.size());
        m_engine.m_routesChanged = false;
    }
    const auto wake = m_engine.m_clock->Earliest(m_engine.m_stack->Context());
    if (wake != m_engine.m_wake && wake.has_value()) {
        wayhop_set_timer(m_engine.m_cx, 0, *wake);
    } else if (wake != m_engine.m_wake) {
        wayhop_clear_timer(m_engine.m_cx, 0);
    }
    m_engine.m_wake = wake;
    m_engine.m_cx = nullptr;
}

Engine::Engine(const Setup& setup, const wayhop_node& node)
    : m_clock(setup.clock), m_isWellFormed(setup.isWellFormed), m_port(setup.port), m_routes(setup.routes), m_fragments(setup.port) {
    for (std::size_t i = 0; i < node.interfaces; i++) {
        m_up.set(i);
    }
    // ns-3 numbers its nodes itself; this will be the next one. Its first events wait for Start.
    m_clock->Enter(ns3::NodeList::GetNNodes(), node.now_ns);
    const ns3::Ipv4InterfaceAddress address(ToNs3(node.addr), ns3::Ipv4Mask(~0U << (32 - node.prefix_length)));
    m_stack.emplace(setup.factory, address);
    m_patience = Patience(*m_stack->Model());
    setup.assignStreams(m_stack->Model(), STREAMS * (node.life * NODES + node.node));
    if (m_routes != nullptr) {
        m_stack->Model()->TraceConnectWithoutContext("RoutingTableChanged",
                                                     ns3::MakeCallback(&Engine::RoutesChanged, this));
    }
    m_stack->Radio()->SetSender([this](auto message, auto to) { SendMessage(message, to); });
}

Engine::~Engine() {
    const uint32_t context = m_stack->Context();
    m_stack.reset();
    m_clock->Forget(context);
}

void Engine::Start(const wayhop_cx* cx) {
    const Visit visit(*this, cx);
    if (m_routes != nullptr) {
        return wayhop_open_udp(cx, m_port);
    }
    // In the lab and in the field, the kernel keeps what no socket is open for: of the protocol above, and of applications.
    for (const uint8_t protocol : {ICMP, TCP, UDP}) {
        wayhop_open_ip(cx, protocol);
    }
}

void Engine::Timer(const wayhop_cx* cx) {
    m_wake.reset(); // the host's timer is gone
    const Visit visit(*this, cx);
}

bool Engine::IsBroadcast(ns3::Ipv4Address address) const {
    return address.IsBroadcast() || address.IsLocalMulticast() || address == m_stack->Address().GetBroadcast();
}

void Engine::Outbound(const wayhop_cx* cx, wayhop_packet handle) {
    const Visit visit(*this, cx);
    std::size_t length = 0;
    const uint8_t* bytes = wayhop_bytes(cx, handle, &length);
    const auto header = ParseIpv4(bytes, length);
    if (!header) {
        return wayhop_drop(cx, handle, WAYHOP_MALFORMED);
    }
    if (IsBroadcast(header->GetDestination())) {
        // Ipv4L3Protocol does not ask the model for these.
        return Transmit(handle, std::nullopt, WAYHOP_DATA);
    }
    const std::size_t start = HeaderLength(bytes);
    Asked asked{ns3::Create<ns3::Packet>(bytes + start, static_cast<uint32_t>(length - start)), handle};
    m_asked = &asked;
    m_outbound = true;
    ns3::Socket::SocketErrno error{};
    const auto route = m_stack->Model()->RouteOutput(asked.packet, *header, nullptr, error);
    if (route && route->GetOutputDevice() != m_stack->Loopback()) {
        asked.done = true;
        Transmit(handle, route->GetGateway(), WAYHOP_DATA);
    } else if (route) {
        // Models look for a route when the packet comes back from the loopback; what they do not keep, they have no
        // room for.
        asked.why = asked.packet->GetPacketTagIterator().HasNext() ? WAYHOP_BUFFER_FULL : WAYHOP_NO_ROUTE;
        Ask(asked, *header, m_stack->Loopback());
    }
    Finish(asked);
    m_outbound = false;
}

void Engine::Frame(const wayhop_cx* cx, wayhop_packet handle, const wayhop_rx& rx) {
    const Visit visit(*this, cx);
    std::size_t length = 0;
    const uint8_t* bytes = wayhop_bytes(cx, handle, &length);
    const auto header = ParseIpv4(bytes, length);
    if (!header) {
        return wayhop_drop(cx, handle, WAYHOP_MALFORMED);
    }
    m_stack->Learn(ToNs3(rx.from));
    const std::size_t start = HeaderLength(bytes);
    if (m_fragments.IsMessage(*header, bytes + start, length - start)) {
        return Hear(handle, *header, rx);
    }
    Asked asked{IsBroadcast(header->GetDestination())
                    ? m_seen.Make(cx->now_ns, *header, bytes + start, length - start)
                    : ns3::Create<ns3::Packet>(bytes + start, static_cast<uint32_t>(length - start)),
                handle};
    m_asked = &asked;
    Ask(asked, *header, m_stack->Radio());
    Finish(asked);
}

/** A message of the model's. */
void Engine::Hear(wayhop_packet handle, const ns3::Ipv4Header& header, const wayhop_rx& rx) {
    std::size_t length = 0;
    uint8_t* bytes = wayhop_bytes(m_cx, handle, &length);
    const std::size_t start = HeaderLength(bytes);
    const bool whole = header.IsLastFragment() && header.GetFragmentOffset() == 0;
    if (whole && (length - start < UDP_HEADER || !m_isWellFormed(bytes + start, length - start))) {
        return wayhop_drop(m_cx, handle, WAYHOP_MALFORMED);
    }
    if (header.GetDestination().IsBroadcast()) {
        // What RFC 3561 says; but AODV's sockets have the broadcast address of the subnet.
        SetDestination(bytes, length, m_stack->Address().GetBroadcast());
    }
    const auto message = ns3::Create<ns3::Packet>(bytes, static_cast<uint32_t>(length));
    wayhop_consume(m_cx, handle);
    m_stack->Receive(message, ToNs3(rx.from), rx.broadcast != 0);
}

void Engine::Ask(Asked& asked, const ns3::Ipv4Header& header, ns3::Ptr<ns3::NetDevice> from) {
    const bool taken =
        m_stack->Model()->RouteInput(asked.packet, header, from, m_forward, m_forwardGroup, m_deliver, m_fail);
    if (taken && from != m_stack->Loopback()) {
        // A packet of this node's own, or a broadcast that it has had.
        asked.why = WAYHOP_DUPLICATE;
    }
}

void Engine::Finish(Asked& asked) {
    m_asked = nullptr;
    if (asked.done) {
        return;
    }
    if (asked.delivered) {
        wayhop_deliver(m_cx, asked.handle);
    } else if (asked.packet->GetReferenceCount() > 1) {
        m_held.Add({asked.handle, m_cx->now_ns, asked.packet});
    } else {
        wayhop_drop(m_cx, asked.handle, asked.why);
    }
}

void Engine::Transmit(wayhop_packet handle, std::optional<ns3::Ipv4Address> to, uint8_t priority) {
    wayhop_tx tx = wayhop_tx_broadcast();
    tx.priority = priority;
    if (to && !IsBroadcast(*to)) {
        tx.next_hop = wayhop_ipv4(to->Get());
        tx.has_report = m_stack->Radio()->GetFeedback()->HasListener() ? 1 : 0;
    }
    wayhop_send(m_cx, handle, &tx);
}

void Engine::SendMessage(ns3::Ptr<const ns3::Packet> message, std::optional<ns3::Ipv4Address> to) {
    const wayhop_packet handle = wayhop_alloc(m_cx, message->GetSize());
    std::size_t length = 0;
    uint8_t* bytes = wayhop_bytes(m_cx, handle, &length);
    message->CopyData(bytes, static_cast<uint32_t>(length));
    Transmit(handle, to, WAYHOP_CONTROL);
}

void Engine::Forward(ns3::Ptr<ns3::Ipv4Route> route, ns3::Ptr<const ns3::Packet> packet,
                     const ns3::Ipv4Header& header) {
    wayhop_packet handle{};
    if (m_asked != nullptr && m_asked->packet->GetUid() == packet->GetUid()) {
        // A broadcast is for this node as well.
        handle = m_asked->delivered ? wayhop_copy(m_cx, m_asked->handle) : m_asked->handle;
        m_asked->done = !m_asked->delivered;
    } else if (const auto held = m_held.Take(*packet)) {
        handle = held->handle;
    } else {
        return;
    }
    // As Ipv4L3Protocol::IpForward does. For a packet that waited, the model has added 1 before.
    if (header.GetTtl() <= 1) {
        return wayhop_drop(m_cx, handle, WAYHOP_TTL_EXPIRED);
    }
    std::size_t length = 0;
    SetTtl(wayhop_bytes(m_cx, handle, &length), static_cast<uint8_t>(header.GetTtl() - 1));
    const ns3::Ipv4Address gateway = route->GetGateway();
    Transmit(handle, gateway.IsAny() ? header.GetDestination() : gateway, WAYHOP_DATA);
}

void Engine::ForwardGroup(ns3::Ptr<ns3::Ipv4MulticastRoute>, ns3::Ptr<const ns3::Packet>, const ns3::Ipv4Header&) {
    // None of the models has routes for groups.
}

void Engine::Deliver(ns3::Ptr<const ns3::Packet>, const ns3::Ipv4Header&, uint32_t) { m_asked->delivered = true; }

void Engine::Fail(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header&, ns3::Socket::SocketErrno) {
    // The model's answer for a packet that it was just asked about comes out as its `why`.
    if (const auto held = m_held.Take(*packet)) {
        DropHeld(held->handle, held->since);
    }
}

void Engine::RoutesChanged(uint32_t) { m_routesChanged = true; }

void Engine::DropHeld(wayhop_packet handle, uint64_t since) {
    // AODV calls for three reasons, and does not say which.
    const bool old = m_cx->now_ns - since >= m_patience;
    const uint32_t reason = old ? WAYHOP_BUFFER_TIMEOUT : m_outbound ? WAYHOP_BUFFER_FULL : WAYHOP_DISCOVERY_FAILED;
    wayhop_drop(m_cx, handle, reason);
}

void Engine::TxStatus(const wayhop_cx* cx, const wayhop_tx_report& report) {
    const Visit visit(*this, cx);
    const bool full = report.status == WAYHOP_TX_QUEUE_FULL;
    if (full || report.status == WAYHOP_TX_NO_ACK) {
        m_stack->Radio()->GetFeedback()->ReportLoss(LinkAddress(ToNs3(report.next_hop)),
                                                    full ? ns3::WIFI_MAC_DROP_FAILED_ENQUEUE
                                                         : ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT);
    }
    if (report.packet.handle != 0) {
        wayhop_drop(cx, report.packet, full ? WAYHOP_QUEUE_FULL : WAYHOP_MAC_RETRIES);
    }
}

void Engine::Link(const wayhop_cx* cx, uint32_t iface, bool up) {
    const Visit visit(*this, cx);
    const bool before = m_up.any();
    m_up.set(iface, up);
    if (before != m_up.any()) {
        m_stack->SetUp(m_up.any());
    }
}

void Engine::Inspect(uint64_t now, const wayhop_inspector& inspector) {
    m_clock->Enter(m_stack->Context(), now);
    ShowRoutes(*m_stack->Model(), inspector);
    m_held.Inspect(inspector);
}

} // namespace wayhop
