// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"

#include "model.h"

#include <ns3/arp-l3-protocol.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

namespace wayhop {

ns3::Mac48Address LinkAddress(ns3::Ipv4Address neighbour) {
    // Locally administered.
    uint8_t bytes[6] = {2, 0, 0, 0, 0, 0};
    neighbour.Serialize(bytes + 2);
    ns3::Mac48Address address;
    address.CopyFrom(bytes);
    return address;
}

std::optional<ns3::Ipv4Address> Neighbour(ns3::Mac48Address address) {
    if (address.IsGroup()) {
        return std::nullopt;
    }
    uint8_t bytes[6];
    address.CopyTo(bytes);
    return ns3::Ipv4Address::Deserialize(bytes + 2);
}

ns3::TypeId FeedbackMac::GetTypeId() {
    static ns3::TypeId tid =
        ns3::TypeId(TypeName("FeedbackMac"))
            .SetParent<ns3::Object>()
            .AddTraceSource("DroppedMpdu", "A frame was lost for good.",
                            ns3::MakeTraceSourceAccessor(&FeedbackMac::m_dropped), "ns3::WifiMac::DroppedMpduCallback");
    return tid;
}

void FeedbackMac::ReportLoss(ns3::Mac48Address to, ns3::WifiMacDropReason reason) {
    ns3::WifiMacHeader header;
    header.SetType(ns3::WIFI_MAC_DATA);
    header.SetAddr1(to);
    m_dropped(reason, ns3::Create<const ns3::WifiMpdu>(ns3::Create<ns3::Packet>(), header));
}

bool FeedbackMac::HasListener() const { return !m_dropped.IsEmpty(); }

void FeedbackMac::Disconnect() { m_dropped = {}; }

bool FeedbackMac::CanForwardPacketsTo(ns3::Mac48Address to) const {
    static_cast<void>(to);
    return true;
}

// The device sends without its MAC.

void FeedbackMac::Enqueue(ns3::Ptr<ns3::Packet> packet, ns3::Mac48Address to) {
    static_cast<void>(packet);
    static_cast<void>(to);
}

void FeedbackMac::Enqueue(ns3::Ptr<ns3::WifiMpdu> mpdu, ns3::Mac48Address to, ns3::Mac48Address from) {
    static_cast<void>(mpdu);
    static_cast<void>(to);
    static_cast<void>(from);
}

void FeedbackMac::DoCompleteConfig() {}

void FeedbackMac::NotifyConstructionCompleted() {}

void FeedbackMac::DoInitialize() {}

ns3::TypeId RadioDevice::GetTypeId() {
    static ns3::TypeId tid = ns3::TypeId(TypeName("RadioDevice")).SetParent<ns3::WifiNetDevice>();
    return tid;
}

RadioDevice::RadioDevice() : m_feedback(ns3::CreateObject<FeedbackMac>()) {}

void RadioDevice::SetSender(Sender sender) { m_sender = std::move(sender); }

ns3::Ptr<FeedbackMac> RadioDevice::GetFeedback() const { return m_feedback; }

bool RadioDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, uint16_t protocol) {
    if (protocol == ns3::ArpL3Protocol::PROT_NUMBER) {
        ns3::ArpHeader request;
        packet->PeekHeader(request);
        // In an event of its own: ARP has not yet noted that it asked.
        ns3::Simulator::ScheduleNow(&RadioDevice::AnswerArp, this, request);
        return true;
    }
    if (protocol != ns3::Ipv4L3Protocol::PROT_NUMBER || !m_sender) {
        return false;
    }
    m_sender(packet, Neighbour(ns3::Mac48Address::ConvertFrom(to)));
    return true;
}

void RadioDevice::AnswerArp(ns3::ArpHeader request) {
    const ns3::Ipv4Address asked = request.GetDestinationIpv4Address();
    if (!request.IsRequest() || m_receive.IsNull()) {
        return;
    }
    ns3::ArpHeader reply;
    reply.SetReply(LinkAddress(asked), asked, request.GetSourceHardwareAddress(), request.GetSourceIpv4Address());
    ns3::Ptr<ns3::Packet> packet = ns3::Create<ns3::Packet>();
    packet->AddHeader(reply);
    m_receive(this, packet, ns3::ArpL3Protocol::PROT_NUMBER, LinkAddress(asked));
}

void RadioDevice::SetReceiveCallback(ns3::NetDevice::ReceiveCallback callback) { m_receive = callback; }

bool RadioDevice::IsLinkUp() const { return true; }

bool RadioDevice::NeedsArp() const {
    // AODV finds the link addresses of its neighbours in ARP's cache.
    return true;
}

bool RadioDevice::SetMtu(uint16_t mtu) {
    static_cast<void>(mtu);
    return true;
}

uint16_t RadioDevice::GetMtu() const {
    // Of Ethernet: no interface of the host has less. ns-3 splits the model's longer messages.
    return 1500;
}

void RadioDevice::SetAddress(ns3::Address address) { m_address = ns3::Mac48Address::ConvertFrom(address); }

ns3::Address RadioDevice::GetAddress() const { return m_address; }

void RadioDevice::NotifyConstructionCompleted() {
    // Only now: the attribute Mac has been set to its default, none.
    SetMac(m_feedback);
    WifiNetDevice::NotifyConstructionCompleted();
}

void RadioDevice::DoInitialize() {
    // Not the base's: it wants a PHY.
    ns3::NetDevice::DoInitialize();
}

void RadioDevice::DoDispose() {
    m_receive = {};
    m_sender = nullptr;
    WifiNetDevice::DoDispose();
}

} // namespace wayhop
