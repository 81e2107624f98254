// Runs an ns-2 movement file with constant-bit-rate flows in ns-3.37 and prints one JSON object.
//
// The radio is 802.11b at 2 Mb/s with the ranges of the 914 MHz WaveLAN: 250 m to receive, 550 m to sense, under
// two-ray ground. Flows come as lines "source destination start_s interval_s bytes".

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/dsr-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"
#include "ns3/yans-wifi-helper.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

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

NetDeviceContainer
InstallRadio(const NodeContainer& nodes)
{
    // Above the sensing threshold a frame keeps the medium busy and interferes; above the preamble threshold it is
    // received. YansWifiChannel knows nothing below RxSensitivity, so that must be the sensing threshold.
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                               "Frequency",
                               DoubleValue(914e6),
                               "HeightAboveZ",
                               DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.Set("RxSensitivity", DoubleValue(-78.07));
    phy.Set("CcaEdThreshold", DoubleValue(-78.07));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(-64.38));

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    const StringValue rate("DsssRate2Mbps");
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 rate,
                                 "ControlMode",
                                 rate,
                                 "NonUnicastMode",
                                 rate,
                                 "RtsCtsThreshold",
                                 UintegerValue(0));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

void
InstallRouting(const NodeContainer& nodes, const std::string& protocol, bool hello)
{
    InternetStackHelper stack;
    if (protocol == "DSR")
    {
        stack.Install(nodes);
        DsrHelper dsr;
        DsrMainHelper main;
        main.Install(dsr, nodes);
        return;
    }
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    stack.SetRoutingHelper(aodv);
    stack.Install(nodes);
}

} // namespace

int
main(int argc, char* argv[])
{
    const auto started = std::chrono::steady_clock::now();
    std::string movement;
    std::string flowFile;
    std::string protocol = "AODV";
    uint32_t nodeCount = 50;
    uint32_t seed = 1;
    double duration = 100;
    bool hello = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("movement", "ns-2 movement file", movement);
    cmd.AddValue("flows", "flow file", flowFile);
    cmd.AddValue("protocol", "AODV or DSR", protocol);
    cmd.AddValue("nodes", "number of nodes", nodeCount);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.AddValue("duration", "simulated seconds", duration);
    cmd.AddValue("hello", "AODV HELLO messages", hello);
    cmd.Parse(argc, argv);

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));

    NodeContainer nodes;
    nodes.Create(nodeCount);
    Ns2MobilityHelper(movement).Install();
    const NetDeviceContainer devices = InstallRadio(nodes);
    InstallRouting(nodes, protocol, hello);
    Ipv4AddressHelper addresses("10.0.0.0", "255.0.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Assigning addresses puts a second queue on top of the device's; ns-2 has only the one of 50 packets.
    TrafficControlHelper().Uninstall(devices);

    const uint16_t port = 9;
    uint64_t sent = 0;
    uint64_t received = 0;
    const std::vector<Flow> flows = ReadFlows(flowFile);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    std::vector<bool> listens(nodeCount, false);
    for (const Flow& flow : flows)
    {
        if (!listens.at(flow.destination))
        {
            listens.at(flow.destination) = true;
            Ptr<Application> app = sink.Install(nodes.Get(flow.destination)).Get(0);
            app->TraceConnectWithoutContext(
                "Rx",
                Callback<void, Ptr<const Packet>, const Address&>(
                    [&received](Ptr<const Packet>, const Address&) { ++received; }));
        }
        UdpClientHelper client(interfaces.GetAddress(flow.destination), port);
        client.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        client.SetAttribute("Interval", TimeValue(Seconds(flow.interval)));
        client.SetAttribute("PacketSize", UintegerValue(flow.bytes));
        client.Install(nodes.Get(flow.source)).Start(Seconds(flow.start));
        if (flow.start < duration)
        {
            sent += 1 + static_cast<uint64_t>((duration - flow.start) / flow.interval);
        }
    }

    const auto built = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const auto ended = std::chrono::steady_clock::now();
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    std::cout << "{\"simulator\": \"ns-3.37\", \"protocol\": \"" << protocol << "\", \"nodes\": " << nodeCount
              << ", \"seed\": " << seed << ", \"duration_s\": " << duration
              << ", \"setup_s\": " << seconds(started, built) << ", \"run_s\": " << seconds(built, ended)
              << ", \"events\": " << Simulator::GetEventCount() << ", \"sent\": " << sent
              << ", \"delivered\": " << received << "}" << std::endl;
    // Tearing a thousand nodes down takes long and has nothing to do with the run.
    std::quick_exit(0);
}
