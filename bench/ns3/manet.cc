// Runs an ns-2 movement file with constant-bit-rate flows in ns-3.37 and prints one JSON object.
//
// The radio is 802.11b at 2 Mb/s with the ranges of the 914 MHz WaveLAN: 250 m to receive, 550 m to sense, under
// two-ray ground. Flows come as lines "source destination start_s interval_s bytes". Options take differences from
// other simulators away, one by one. With --beacons every node broadcasts one beacon after the other instead, by the
// radio of SWANS (bench/swans.py).

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/dsdv-module.h"
#include "ns3/dsr-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"
#include "ns3/yans-wifi-helper.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/resource.h>

using namespace ns3;

namespace
{

struct Flow
{
    uint32_t source;
    uint32_t destination;
    double start;
    double interval;
    uint32_t bytes;
};

std::vector<Flow>
ReadFlows(const std::string& path)
{
    std::vector<Flow> flows;
    std::ifstream in(path);
    Flow flow{};
    while (in >> flow.source >> flow.destination >> flow.start >> flow.interval >> flow.bytes)
    {
        flows.push_back(flow);
    }
    return flows;
}

/** What the command line chooses. */
struct Options
{
    std::string movement;
    std::string flows;
    std::string protocol = "AODV";
    uint32_t nodes = 50;
    uint32_t seed = 1;
    double duration = 100;
    bool hello = false;
    bool arp = true;
    double arpDead = 100;
    bool rts = true;
    /** Bytes of a beacon; 0 for none. */
    uint32_t beacons = 0;
    double beaconMin = 2;
    double beaconMax = 5;
    double receiveDbm = -82;
    double senseDbm = -91;
};

/** The packets of the flows, and where those that were lost were seen last. */
class Losses
{
  public:
    void Sent(uint64_t uid)
    {
        m_cause[uid] = "unknown";
    }

    void Received(uint64_t uid)
    {
        m_received += m_cause.erase(uid);
    }

    /** Nothing if the packet is not of a flow, or has arrived. */
    void Lost(uint64_t uid, const std::string& cause)
    {
        const auto found = m_cause.find(uid);
        if (found != m_cause.end())
        {
            found->second = cause;
        }
    }

    uint64_t GetSent() const
    {
        return m_received + m_cause.size();
    }

    uint64_t GetReceived() const
    {
        return m_received;
    }

    std::string Json() const
    {
        std::map<std::string, uint64_t> counts;
        for (const auto& entry : m_cause)
        {
            counts[entry.second]++;
        }
        std::string json;
        for (const auto& [cause, count] : counts)
        {
            json += (json.empty() ? "{\"" : ", \"") + cause + "\": " + std::to_string(count);
        }
        return json.empty() ? "{}" : json + "}";
    }

  private:
    std::unordered_map<uint64_t, std::string> m_cause;
    uint64_t m_received{0};
};

Losses g_losses;
uint64_t g_routing = 0;
uint64_t g_beacons = 0;
uint64_t g_heard = 0;

void
IpDropped(const Ipv4Header&, Ptr<const Packet> packet, Ipv4L3Protocol::DropReason reason, Ptr<Ipv4>, uint32_t)
{
    const std::map<Ipv4L3Protocol::DropReason, std::string> causes{
        {Ipv4L3Protocol::DROP_TTL_EXPIRED, "ttl"},
        {Ipv4L3Protocol::DROP_NO_ROUTE, "no_route"},
        {Ipv4L3Protocol::DROP_ROUTE_ERROR, "route_error"},
    };
    const auto found = causes.find(reason);
    g_losses.Lost(packet->GetUid(), found == causes.end() ? "ip" : found->second);
}

void
ArpDropped(Ptr<const Packet> packet)
{
    g_losses.Lost(packet->GetUid(), "arp");
}

void
FrameDropped(WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
{
    const std::string cause = reason == WIFI_MAC_DROP_FAILED_ENQUEUE     ? "queue_full"
                              : reason == WIFI_MAC_DROP_EXPIRED_LIFETIME ? "lifetime"
                              : reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT ? "retries"
                                                                            : "mac";
    g_losses.Lost(mpdu->GetPacket()->GetUid(), cause);
}

/** The messages of the routing protocols, by the port of UDP. */
void
IpSent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    const auto copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    UdpHeader udp;
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER || copy->PeekHeader(udp) == 0)
    {
        return;
    }
    const uint16_t port = udp.GetDestinationPort();
    g_routing += port == 654 || port == 698 || port == 269;
}

/** Sends a packet of a flow, and the next one after its interval. */
void
Send(Ptr<Socket> socket, Flow flow)
{
    const Ptr<Packet> packet = Create<Packet>(flow.bytes);
    g_losses.Sent(packet->GetUid());
    if (socket->Send(packet) < 0)
    {
        g_losses.Lost(packet->GetUid(), "no_route");
    }
    Simulator::Schedule(Seconds(flow.interval), &Send, socket, flow);
}

/** Broadcasts a beacon, and the next one after a random interval. */
void
SendBeacon(Ptr<Socket> socket, uint32_t bytes, Ptr<UniformRandomVariable> interval)
{
    g_beacons++;
    socket->Send(Create<Packet>(bytes));
    Simulator::Schedule(Seconds(interval->GetValue()), &SendBeacon, socket, bytes, interval);
}

/** Takes what arrives, and counts it. */
void
HearBeacon(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
        g_heard++;
    }
}

void
StartBeacons(const NodeContainer& nodes, const Options& options)
{
    const uint16_t port = 7072;
    const auto interval = CreateObject<UniformRandomVariable>();
    interval->SetAttribute("Min", DoubleValue(options.beaconMin));
    interval->SetAttribute("Max", DoubleValue(options.beaconMax));
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        const auto socket = Socket::CreateSocket(*node, UdpSocketFactory::GetTypeId());
        socket->SetAllowBroadcast(true);
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        socket->Connect(InetSocketAddress(Ipv4Address::GetBroadcast(), port));
        socket->SetRecvCallback(MakeCallback(&HearBeacon));
        // As in SWANS, the first one comes after an interval, too.
        Simulator::ScheduleWithContext((*node)->GetId(),
                                       Seconds(interval->GetValue()),
                                       &SendBeacon,
                                       socket,
                                       options.beacons,
                                       interval);
    }
}

void
Trace(const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        const auto ip = (*node)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Drop", MakeCallback(&IpDropped));
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&IpSent));
        (*node)->GetObject<ArpL3Protocol>()->TraceConnectWithoutContext("Drop", MakeCallback(&ArpDropped));
        ip->GetInterface(1)->GetArpCache()->TraceConnectWithoutContext("Drop", MakeCallback(&ArpDropped));
        const auto device = DynamicCast<WifiNetDevice>((*node)->GetDevice(0));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&FrameDropped));
    }
}

NetDeviceContainer
InstallRadio(const NodeContainer& nodes, const Options& options)
{
    // Above the sensing threshold a frame keeps the medium busy and interferes; above the preamble threshold it is
    // received. YansWifiChannel knows nothing below RxSensitivity, so that must be the sensing threshold.
    const bool isSwans = options.beacons > 0;
    const DoubleValue power(isSwans ? 15 : 24.5);
    const DoubleValue sense(isSwans ? options.senseDbm : -78.07);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (isSwans)
    {
        channel.AddPropagationLoss("ns3::FriisPropagationLossModel", "Frequency", DoubleValue(2.4e9));
    }
    else
    {
        channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                                   "Frequency",
                                   DoubleValue(914e6),
                                   "HeightAboveZ",
                                   DoubleValue(1.5));
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", power);
    phy.Set("TxPowerEnd", power);
    phy.Set("RxSensitivity", sense);
    phy.Set("CcaEdThreshold", sense);
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                  "MinimumRssi",
                                  DoubleValue(isSwans ? options.receiveDbm : -64.38));

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    const StringValue rate(isSwans ? "DsssRate1Mbps" : "DsssRate2Mbps");
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 rate,
                                 "ControlMode",
                                 rate,
                                 "NonUnicastMode",
                                 rate,
                                 "RtsCtsThreshold",
                                 UintegerValue(options.rts ? 0 : 3000));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

void
InstallRouting(const NodeContainer& nodes, const Options& options)
{
    InternetStackHelper stack;
    AodvHelper aodv;
    OlsrHelper olsr;
    DsdvHelper dsdv;
    if (options.protocol == "AODV")
    {
        aodv.Set("EnableHello", BooleanValue(options.hello));
        stack.SetRoutingHelper(aodv);
    }
    else if (options.protocol == "OLSR")
    {
        stack.SetRoutingHelper(olsr);
    }
    else if (options.protocol == "DSDV")
    {
        stack.SetRoutingHelper(dsdv);
    }
    stack.Install(nodes);
    if (options.protocol == "DSR")
    {
        DsrHelper dsr;
        DsrMainHelper main;
        main.Install(dsr, nodes);
    }
}

/** The peak of this process's resident memory, KiB. */
long
PeakKb()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/** Each node knows the link addresses of all others for good. */
void
ResolveAll(const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        const auto cache = (*node)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        for (auto other = nodes.Begin(); other != nodes.End(); ++other)
        {
            if (*node != *other)
            {
                const auto address = (*other)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
                ArpCache::Entry* entry = cache->Add(address);
                entry->SetMacAddress((*other)->GetDevice(0)->GetAddress());
                entry->MarkPermanent();
            }
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    const auto started = std::chrono::steady_clock::now();
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("movement", "ns-2 movement file", options.movement);
    cmd.AddValue("flows", "flow file", options.flows);
    cmd.AddValue("protocol", "AODV, OLSR, DSDV or DSR", options.protocol);
    cmd.AddValue("nodes", "number of nodes", options.nodes);
    cmd.AddValue("seed", "run number of the random streams", options.seed);
    cmd.AddValue("duration", "simulated seconds", options.duration);
    cmd.AddValue("hello", "AODV HELLO messages", options.hello);
    cmd.AddValue("arp", "ARP; otherwise each node knows all link addresses", options.arp);
    cmd.AddValue("arp-dead",
                 "seconds for which a neighbour that did not answer ARP is not asked again, and packets to it are lost",
                 options.arpDead);
    cmd.AddValue("rts", "RTS and CTS around all unicast frames; otherwise around none", options.rts);
    cmd.AddValue("beacons", "bytes of a beacon; 0 for none", options.beacons);
    cmd.AddValue("beacon-min", "shortest interval between beacons, seconds", options.beaconMin);
    cmd.AddValue("beacon-max", "longest interval between beacons, seconds", options.beaconMax);
    cmd.AddValue("receive-dbm", "beacons: weaker frames are not received", options.receiveDbm);
    cmd.AddValue("sense-dbm", "beacons: weaker frames do not interfere", options.senseDbm);
    cmd.Parse(argc, argv);

    RngSeedManager::SetRun(options.seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
    Config::SetDefault("ns3::ArpCache::DeadTimeout", TimeValue(Seconds(options.arpDead)));

    NodeContainer nodes;
    nodes.Create(options.nodes);
    Ns2MobilityHelper(options.movement).Install();
    const NetDeviceContainer devices = InstallRadio(nodes, options);
    InstallRouting(nodes, options);
    Ipv4AddressHelper addresses("10.0.0.0", "255.0.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Assigning addresses puts a second queue on top of the device's; ns-2 has only the one of 50 packets.
    TrafficControlHelper().Uninstall(devices);
    if (options.beacons > 0)
    {
        StartBeacons(nodes, options);
    }
    else
    {
        Trace(nodes);
    }
    if (!options.arp)
    {
        ResolveAll(nodes);
    }

    const uint16_t port = 9;
    const std::vector<Flow> flows = ReadFlows(options.flows);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    std::vector<bool> listens(options.nodes, false);
    for (const Flow& flow : flows)
    {
        if (!listens.at(flow.destination))
        {
            listens.at(flow.destination) = true;
            Ptr<Application> app = sink.Install(nodes.Get(flow.destination)).Get(0);
            app->TraceConnectWithoutContext(
                "Rx",
                Callback<void, Ptr<const Packet>, const Address&>(
                    [](Ptr<const Packet> packet, const Address&) { g_losses.Received(packet->GetUid()); }));
        }
        const auto socket = Socket::CreateSocket(nodes.Get(flow.source), UdpSocketFactory::GetTypeId());
        socket->Connect(InetSocketAddress(interfaces.GetAddress(flow.destination), port));
        Simulator::ScheduleWithContext(flow.source, Seconds(flow.start), &Send, socket, flow);
    }

    const auto built = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(options.duration));
    Simulator::Run();
    const auto ended = std::chrono::steady_clock::now();
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    std::cout << "{\"simulator\": \"ns-3.37\", \"protocol\": \"" << options.protocol << "\", \"nodes\": " << options.nodes
              << ", \"seed\": " << options.seed << ", \"duration_s\": " << options.duration
              << ", \"setup_s\": " << seconds(started, built) << ", \"run_s\": " << seconds(built, ended)
              << ", \"events\": " << Simulator::GetEventCount() << ", \"sent\": " << g_losses.GetSent()
              << ", \"delivered\": " << g_losses.GetReceived() << ", \"routing_packets\": " << g_routing
              << ", \"beacons\": " << g_beacons << ", \"heard\": " << g_heard << ", \"peak_kb\": " << PeakKb()
              << ", \"lost\": " << g_losses.Json() << "}" << std::endl;
    // Tearing a thousand nodes down takes long and has nothing to do with the run.
    std::quick_exit(0);
}
