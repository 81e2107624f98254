// SPDX-License-Identifier: GPL-2.0-only
#include "stack.h"

#include <ns3/arp-cache.h>
#include <ns3/arp-l3-protocol.h>
#include <ns3/icmpv4-l4-protocol.h>
#include <ns3/ipv4-interface.h>
#include <ns3/traffic-control-layer.h>
#include <ns3/udp-l4-protocol.h>

namespace wayhop {

Stack::Stack(const ns3::ObjectFactory& model, ns3::Ipv4InterfaceAddress address)
    : m_node(ns3::CreateObject<ns3::Node>()),
      m_ipv4(ns3::CreateObject<ns3::Ipv4L3Protocol>()),
      m_model(model.Create<ns3::Ipv4RoutingProtocol>()),
      m_radio(ns3::CreateObject<RadioDevice>()) {
    const auto arp = ns3::CreateObject<ns3::ArpL3Protocol>();
    const auto control = ns3::CreateObject<ns3::TrafficControlLayer>();
    m_node->AggregateObject(arp);
    m_node->AggregateObject(m_ipv4);
    m_node->AggregateObject(ns3::CreateObject<ns3::Icmpv4L4Protocol>());
    m_node->AggregateObject(control);
    m_node->AggregateObject(ns3::CreateObject<ns3::UdpL4Protocol>());
    arp->SetTrafficControl(control);
    // Models assert that there is no device yet but the loopback.
    m_node->AggregateObject(m_model);
    m_ipv4->SetRoutingProtocol(m_model);

    m_radio->SetAddress(LinkAddress(address.GetLocal()));
    m_node->AddDevice(m_radio);
    m_interface = m_ipv4->AddInterface(m_radio);
    m_ipv4->AddAddress(m_interface, address);
    m_ipv4->SetUp(m_interface);
}

Stack::~Stack() { m_node->Dispose(); }

uint32_t Stack::Context() const { return m_node->GetId(); }

ns3::Ptr<ns3::Ipv4RoutingProtocol> Stack::Model() const { return m_model; }

ns3::Ptr<RadioDevice> Stack::Radio() const { return m_radio; }

ns3::Ptr<ns3::NetDevice> Stack::Loopback() const { return m_ipv4->GetNetDevice(0); }

ns3::Ipv4InterfaceAddress Stack::Address() const { return m_ipv4->GetAddress(m_interface, 0); }

void Stack::Learn(ns3::Ipv4Address neighbour) {
    const auto cache = m_ipv4->GetInterface(m_interface)->GetArpCache();
    ns3::ArpCache::Entry* entry = cache->Lookup(neighbour);
    if (entry == nullptr) {
        entry = cache->Add(neighbour);
    }
    if (!entry->IsPermanent()) {
        entry->SetMacAddress(LinkAddress(neighbour));
        entry->MarkPermanent();
    }
}

void Stack::Receive(ns3::Ptr<const ns3::Packet> message, ns3::Ipv4Address from, bool broadcast) {
    m_ipv4->Receive(m_radio, message, ns3::Ipv4L3Protocol::PROT_NUMBER, LinkAddress(from),
                    broadcast ? m_radio->GetBroadcast() : m_radio->GetAddress(),
                    broadcast ? ns3::NetDevice::PACKET_BROADCAST : ns3::NetDevice::PACKET_HOST);
}

void Stack::SetUp(bool up) {
    if (up) {
        m_ipv4->SetUp(m_interface);
        return;
    }
    m_ipv4->SetDown(m_interface);
    // AODV disconnects from an AdhocWifiMac only, and would listen twice after the next start.
    m_radio->GetFeedback()->Disconnect();
}

} // namespace wayhop
