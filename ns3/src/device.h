// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_DEVICE_H
#define WAYHOP_NS3_DEVICE_H

#include <ns3/arp-header.h>
#include <ns3/ipv4-address.h>
#include <ns3/mac48-address.h>
#include <ns3/traced-callback.h>
#include <ns3/wifi-mac.h>
#include <ns3/wifi-mpdu.h>
#include <ns3/wifi-net-device.h>

#include <functional>
#include <optional>

namespace wayhop {

/** The link address of a neighbour. The host knows neighbours by their IPv4 addresses: 02:00:a:b:c:d. */
ns3::Mac48Address LinkAddress(ns3::Ipv4Address neighbour);
/** The neighbour with this link address; nothing for a broadcast or a multicast. */
std::optional<ns3::Ipv4Address> Neighbour(ns3::Mac48Address address);

/**
 * The Wi-Fi MAC that models ask for, to listen to its trace source DroppedMpdu; it does nothing but report.
 *
 * WifiMac's own DroppedMpdu cannot be fired from outside, and the TypeId of a subclass may not declare it again. So the
 * TypeId of this class says that its parent is Object: TraceConnect looks names up in the TypeId of the instance.
 */
class FeedbackMac : public ns3::WifiMac {
  public:
    /** Type. */
    static ns3::TypeId GetTypeId();

    /** Says that a unicast frame to this address was lost for good. */
    void ReportLoss(ns3::Mac48Address to, ns3::WifiMacDropReason reason);
    /** Whether a model listens. */
    bool HasListener() const;
    /** Disconnects all listeners. */
    void Disconnect();

    // Pure virtual functions of the versions of ns-3; those that this version lacks are never called.
    /** Up to date in all versions. */
    bool CanForwardPacketsTo(ns3::Mac48Address to) const override;
    /** In 3.37 and 3.41. */
    virtual void Enqueue(ns3::Ptr<ns3::Packet> packet, ns3::Mac48Address to);
    /** From 3.44 on. */
    virtual void Enqueue(ns3::Ptr<ns3::WifiMpdu> mpdu, ns3::Mac48Address to, ns3::Mac48Address from);
    /** From 3.41 on. */
    virtual void DoCompleteConfig();

  protected:
    void NotifyConstructionCompleted() override;
    void DoInitialize() override;

  private:
    ns3::TracedCallback<ns3::WifiMacDropReason, ns3::Ptr<const ns3::WifiMpdu>> m_dropped;
};

/** The radio of a node as ns-3 sees it: one Wi-Fi device that stands for all interfaces of the host. */
class RadioDevice : public ns3::WifiNetDevice {
  public:
    /** Takes a packet, from its IPv4 header on, for a neighbour; for all neighbours if there is none. */
    using Sender = std::function<void(ns3::Ptr<const ns3::Packet>, std::optional<ns3::Ipv4Address>)>;

    /** Type. */
    static ns3::TypeId GetTypeId();
    /** A device with a FeedbackMac. */
    RadioDevice();

    /** Where its frames go. */
    void SetSender(Sender sender);
    /** The MAC whose trace source models listen to. */
    ns3::Ptr<FeedbackMac> GetFeedback() const;

    bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, uint16_t protocol) override;
    void SetReceiveCallback(ns3::NetDevice::ReceiveCallback callback) override;
    bool IsLinkUp() const override;
    bool NeedsArp() const override;
    bool SetMtu(uint16_t mtu) override;
    uint16_t GetMtu() const override;
    void SetAddress(ns3::Address address) override;
    ns3::Address GetAddress() const override;

  protected:
    void NotifyConstructionCompleted() override;
    void DoInitialize() override;
    void DoDispose() override;

  private:
    void AnswerArp(ns3::ArpHeader request);

    ns3::Ptr<FeedbackMac> m_feedback;
    ns3::Mac48Address m_address;
    ns3::NetDevice::ReceiveCallback m_receive;
    Sender m_sender;
};

} // namespace wayhop

#endif
