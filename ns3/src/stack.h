// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_STACK_H
#define WAYHOP_NS3_STACK_H

#include "device.h"

#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-routing-protocol.h>
#include <ns3/node.h>
#include <ns3/object-factory.h>

namespace wayhop {

/**
 * A node of ns-3 with what a routing model asks for: IPv4, ARP, ICMP, UDP with its sockets, and one radio. The model's
 * own messages pass through all of it; packets of applications see the model alone.
 */
class Stack {
  public:
    /** With this address, and a model that the factory makes. */
    Stack(const ns3::ObjectFactory& model, ns3::Ipv4InterfaceAddress address);
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    /** ns-3's number of the node, which is the context of its events. */
    uint32_t Context() const;
    /** The model. */
    ns3::Ptr<ns3::Ipv4RoutingProtocol> Model() const;
    /** The radio. */
    ns3::Ptr<RadioDevice> Radio() const;
    /** The device to which models send packets whose route they have yet to find. */
    ns3::Ptr<ns3::NetDevice> Loopback() const;
    /** The node's address and mask. */
    ns3::Ipv4InterfaceAddress Address() const;

    /** Notes the link address of a neighbour, for good: AODV's link feedback finds neighbours by it. */
    void Learn(ns3::Ipv4Address neighbour);
    /** A message of the model's, from its IPv4 header on, has come from a neighbour. */
    void Receive(ns3::Ptr<const ns3::Packet> message, ns3::Ipv4Address from, bool broadcast);
    /** The radio works or does not. */
    void SetUp(bool up);

  private:
    ns3::Ptr<ns3::Node> m_node;
    ns3::Ptr<ns3::Ipv4L3Protocol> m_ipv4;
    ns3::Ptr<ns3::Ipv4RoutingProtocol> m_model;
    ns3::Ptr<RadioDevice> m_radio;
    uint32_t m_interface;
};

} // namespace wayhop

#endif
