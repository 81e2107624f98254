// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_ENGINE_H
#define WAYHOP_NS3_ENGINE_H

#include "clock.h"
#include "fragments.h"
#include "held.h"
#include "seen.h"
#include "stack.h"
#include "wayhop.h"

#include <ns3/ipv4-route.h>

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

namespace wayhop {

/** One node: gives the host's inputs to its model, and what the model does to the host. */
class Engine {
  public:
    /** What all engines of a run share, and what the library knows of the model. */
    struct Setup {
        ns3::Ptr<HostClock> clock;
        ns3::ObjectFactory factory;
        uint16_t port;
        bool (*isWellFormed)(const uint8_t*, std::size_t);
        void (*assignStreams)(ns3::Ptr<ns3::Object>, int64_t);
        std::vector<wayhop_route> (*routes)(ns3::Ptr<ns3::Object>);
    };

    Engine(const Setup& setup, const wayhop_node& node);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    void Start(const wayhop_cx* cx);
    void Timer(const wayhop_cx* cx);
    void Outbound(const wayhop_cx* cx, wayhop_packet packet);
    void Frame(const wayhop_cx* cx, wayhop_packet packet, const wayhop_rx& rx);
    void TxStatus(const wayhop_cx* cx, const wayhop_tx_report& report);
    void Link(const wayhop_cx* cx, uint32_t iface, bool up);
    void Inspect(uint64_t now, const wayhop_inspector& inspector);

  private:
    /** One call of the host's. When it ends, what became due is run, and the host is asked for the next call. */
    class Visit {
      public:
        Visit(Engine& engine, const wayhop_cx* cx);
        ~Visit();
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;

      private:
        Engine& m_engine;
    };

    /** The packet that the model is being asked about. */
    struct Asked {
        ns3::Ptr<ns3::Packet> packet; ///< As ns-3 sees it, without the IP header.
        wayhop_packet handle;
        bool delivered{false};         ///< For this node.
        bool done{false};              ///< The host has it back.
        uint32_t why{WAYHOP_NO_ROUTE}; ///< Why it is dropped, if nothing happens to it.
    };

    void Hear(wayhop_packet handle, const ns3::Ipv4Header& header, const wayhop_rx& rx);
    void Ask(Asked& asked, const ns3::Ipv4Header& header, ns3::Ptr<ns3::NetDevice> from);
    void Finish(Asked& asked);
    bool IsBroadcast(ns3::Ipv4Address address) const;
    /** To a neighbour, or to all of them. */
    void Transmit(wayhop_packet handle, std::optional<ns3::Ipv4Address> to, uint8_t priority);
    void SendMessage(ns3::Ptr<const ns3::Packet> message, std::optional<ns3::Ipv4Address> to);
    /** The model has computed its routes again. */
    void RoutesChanged(uint32_t count);
    void DropHeld(wayhop_packet handle, uint64_t since);

    // What the model calls.
    void Forward(ns3::Ptr<ns3::Ipv4Route> route, ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header);
    void ForwardGroup(ns3::Ptr<ns3::Ipv4MulticastRoute> route, ns3::Ptr<const ns3::Packet> packet,
                      const ns3::Ipv4Header& header);
    void Deliver(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header, uint32_t iface);
    void Fail(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header, ns3::Socket::SocketErrno error);

    ns3::Ptr<HostClock> m_clock;
    bool (*m_isWellFormed)(const uint8_t*, std::size_t);
    uint16_t m_port; ///< Of the model's messages.
    std::vector<wayhop_route> (*m_routes)(ns3::Ptr<ns3::Object>);
    bool m_routesChanged{false}; ///< Since the host last got them.
    uint64_t m_patience; ///< How long the model keeps packets, ns.
    std::optional<Stack> m_stack;
    Held m_held;
    Seen m_seen;
    Fragments m_fragments;
    std::bitset<256> m_up;          ///< The interfaces that work.
    std::optional<uint64_t> m_wake; ///< When the host will call.
    const wayhop_cx* m_cx{nullptr}; ///< Of the call in progress.
    Asked* m_asked{nullptr};
    bool m_outbound{false};
    // Made once: each is an allocation.
    const ns3::Ipv4RoutingProtocol::UnicastForwardCallback m_forward{ns3::MakeCallback(&Engine::Forward, this)};
    const ns3::Ipv4RoutingProtocol::MulticastForwardCallback m_forwardGroup{
        ns3::MakeCallback(&Engine::ForwardGroup, this)};
    const ns3::Ipv4RoutingProtocol::LocalDeliverCallback m_deliver{ns3::MakeCallback(&Engine::Deliver, this)};
    const ns3::Ipv4RoutingProtocol::ErrorCallback m_fail{ns3::MakeCallback(&Engine::Fail, this)};
};

} // namespace wayhop

#endif
