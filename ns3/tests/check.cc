// SPDX-License-Identifier: GPL-2.0-only
// Tests of the libraries without Wayhop: chains of nodes on the host of host.h. Usage: check DIRECTORY; check LIBRARY
// SEED prints the hash of one run, and check LIBRARY fatal makes ns-3 end the process.

#include "host.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace {

int g_passed = 0;
int g_failed = 0;

void Expect(bool condition, const std::string& what) {
    condition ? g_passed++ : g_failed++;
    std::printf("%s %s\n", condition ? "ok  " : "FAIL", what.c_str());
}

/** Sends packets from the first node to the last, ten a second. */
void Flow(Host& host, double from, int packets, uint32_t last) {
    for (int i = 0; i < packets; i++) {
        const double at = from + i / 10.0;
        host.Until(at);
        host.Send(0, last, static_cast<uint16_t>(at * 10));
    }
}

std::size_t Dropped(const Host& host, uint32_t reason) {
    std::size_t count = 0;
    for (const auto& event : host.Events()) {
        count += event.end == Host::End::Dropped && event.reason == reason ? 1 : 0;
    }
    return count;
}

/** When a node first sent this type of AODV's messages after a time (s); negative if never. */
double FirstMessage(const Host& host, uint32_t node, uint8_t type, double after) {
    for (const auto& event : host.Events()) {
        if (event.end == Host::End::Sent && event.node == node && event.at > after * 1e9 && Port(event.bytes) == 654 &&
            event.bytes[28] == type) {
            return static_cast<double>(event.at) / 1e9;
        }
    }
    return -1;
}

uint64_t RunOnce(const Library& library, uint64_t seed) {
    Host host(library, library.Values(), 5, seed);
    Flow(host, 1, 390, 4);
    return host.Hash();
}

/** The first line that a run in a process of its own prints, where addresses are others. */
std::string RunElsewhere(const std::string& self, const std::string& path, const std::string& argument) {
    const std::string command = "'" + self + "' '" + path + "' " + argument + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
    char line[64] = "";
    return std::fgets(line, sizeof line, out.get()) == nullptr ? "" : line;
}

void SameSeedSameRun(const std::string& self, const std::string& path, const Library& library) {
    char here[64];
    std::snprintf(here, sizeof here, "%016llx\n", static_cast<unsigned long long>(RunOnce(library, 7)));
    const std::string name = library->name;
    Expect(RunElsewhere(self, path, "7") == here, name + ": the same seed gives the same run in another process");
    std::snprintf(here, sizeof here, "%016llx\n", static_cast<unsigned long long>(RunOnce(library, 7)));
    Expect(RunElsewhere(self, path, "7") == here, name + ": and a second time in one process");
    Expect(RunElsewhere(self, path, "8") != here, name + ": another seed gives another run");
}

/** All models: a packet crosses three hops once routes are there, and what the nodes say is well-formed. */
void Chain(const Library& library, double converged) {
    const std::string name = library->name;
    Host host(library, library.Values(), 4);
    Flow(host, converged, 50, 3);
    host.Until(converged + 40);
    Expect(host.Count(Host::End::Delivered, 3) == 50 && host.Count(Host::End::Delivered) == 50,
           name + ": packets arrive over three hops");
    bool ttl = true;
    bool sums = true;
    std::size_t messages = 0;
    for (const auto& event : host.Events()) {
        const bool message = Port(event.bytes) == library->carrier_number;
        messages += message ? 1 : 0;
        sums &= !message || ChecksumOk(event.bytes);
        ttl &= event.end != Host::End::Delivered || event.bytes[8] == 62;
    }
    Expect(ttl, name + ": each relay has taken one off the TTL");
    Expect(messages > 0 && sums, name + ": messages have checksums");
    Expect(host.Leaked() == 0, name + ": no packet is lost track of");
    host.Send(0, 3, 1000, 1);
    host.Until(converged + 50);
    const std::size_t late = Dropped(host, WAYHOP_TTL_EXPIRED);
    Expect(late == 1, name + ": a packet whose TTL runs out is dropped for that");
}

/** All models: a node that starts again later takes part again. */
void Restart(const Library& library, double converged) {
    const std::string name = library->name;
    Host host(library, library.Values(), 3);
    host.Until(30);
    host.Restart(1);
    Flow(host, 30 + 2 * converged, 20, 2);
    host.Until(60 + 2 * converged);
    Expect(host.Count(Host::End::Delivered, 2) == 20, name + ": a node that started again forwards");
    host.Interface(1, false);
    host.Until(61 + 2 * converged);
    host.Interface(1, true);
    Flow(host, 70 + 4 * converged, 10, 2);
    host.Until(100 + 4 * converged);
    const auto reached = host.Count(Host::End::Delivered, 2);
    Expect(reached > 20, name + ": and after its interface was down");
    Expect(host.Leaked() == 0, name + ": with no packet lost track of");
}

/** All models: messages that were damaged. A fault would end this process, as ns-3 does for most of them. */
void Garbage(const Library& library) {
    Host host(library, library.Values(), 3);
    host.Until(30);
    Flow(host, 30, 10, 2);
    std::vector<std::vector<uint8_t>> messages;
    for (const auto& event : host.Events()) {
        if (event.end == Host::End::Sent && event.node == 0 && Port(event.bytes) == library->carrier_number) {
            messages.push_back(event.bytes);
        }
    }
    std::mt19937 random(1);
    constexpr std::size_t headers = 28;
    for (int i = 0; i < 5000; i++) {
        auto message = messages[random() % messages.size()];
        if (random() % 3 == 0) {
            message.resize(headers + random() % (message.size() - headers + 20));
        }
        for (uint32_t changes = random() % 4; changes > 0 && message.size() > headers; changes--) {
            message[headers + random() % (message.size() - headers)] = static_cast<uint8_t>(random());
        }
        Seal(message);
        host.Hear(1, 0, message);
        host.Until(31 + i / 100.0);
    }
    const std::string name = library->name;
    Expect(Dropped(host, WAYHOP_MALFORMED) > 100, name + ": malformed messages are dropped");
    Expect(host.Leaked() == 0, name + ": with no packet lost track of");
}

void AodvLinkFeedback(const Library& library) {
    constexpr double cut = 10.05;
    for (const bool hello : {false, true}) {
        for (const bool feedback : {true, false}) {
            Host host(library, library.Values({{"EnableHello", hello ? "true" : "false"}}), 4);
            host.acknowledges = feedback;
            Flow(host, 1, 91, 3);
            host.Until(cut);
            host.Link(1, 2, false);
            Flow(host, cut, 100, 3);
            const double last = cut + 9.9;
            host.Until(last + 10);
            const double noticed = FirstMessage(host, 1, 3, cut);
            const std::string when = noticed < 0 ? "never" : "after " + std::to_string(noticed - cut) + " s";
            std::printf("     Hello %s, feedback %s: noticed %s\n", hello ? "on" : "off", feedback ? "on" : "off",
                        when.c_str());
            // With feedback, after the next packet's retries: 0.1 s and 10 ms. Without, each packet that it forwards
            // makes ns-3's AODV believe for ActiveRouteTimeout, 3 s, that the neighbour is there; then Hellos count.
            const bool expected = feedback ? noticed > cut && noticed < cut + 0.12
                                  : hello  ? noticed > last + 2
                                           : noticed < 0;
            Expect(expected,
                   "aodv: a relay notices a broken link at once if the link layer reports it, else late or never");
            Expect(host.Leaked() == 0, "aodv: with no packet lost track of");
        }
    }
    Host host(library, library.Values({{"EnableHello", "false"}}), 4);
    Flow(host, 1, 40, 3);
    host.full = true;
    Flow(host, 5, 2, 3);
    Expect(Dropped(host, WAYHOP_QUEUE_FULL) > 0, "aodv: a full queue is the cause of a drop");
    host.full = false;
    host.Interface(1, false);
    host.Interface(1, true);
    Flow(host, 20, 20, 3);
    host.Until(22);
    host.Link(1, 2, false);
    Flow(host, 22, 30, 3);
    const double noticed = FirstMessage(host, 1, 3, 22);
    Expect(noticed > 0 && noticed < 22.2, "aodv: feedback works after the interface was down");
}

/** A source hears of a lost frame only if the next hop counts as a neighbour. Sending to it does not make it one. */
void AodvSourceFeedback(const Library& library) {
    constexpr double cut = 10.05;
    for (const bool hello : {false, true}) {
        Host host(library, library.Values({{"EnableHello", hello ? "true" : "false"}}), 2);
        Flow(host, 1, 91, 1);
        host.Until(cut);
        host.Link(0, 1, false);
        Flow(host, cut, 50, 1);
        host.Until(cut + 30);
        const std::size_t lost = Dropped(host, WAYHOP_MAC_RETRIES);
        std::printf("     Hello %s: a source loses %zu of 50 packets to a next hop that is gone\n", hello ? "on" : "off",
                    lost);
        Expect(hello ? lost >= 1 && lost <= 2 : lost == 50,
               "aodv: a source notices a lost next hop by link feedback only if there are Hellos");
        Expect(host.Leaked() == 0, "aodv: with no packet lost track of");
    }
}

void AodvQueue(const Library& library) {
    Host host(library, library.Values({{"MaxQueueLen", "4"}}), 2);
    host.Until(1);
    for (uint16_t number = 1; number <= 6; number++) {
        host.Send(0, 9, number);
    }
    Expect(host.Held(0) == 4, "aodv: packets wait for a route");
    Expect(Dropped(host, WAYHOP_BUFFER_FULL) == 2, "aodv: the oldest make room");
    host.Until(60);
    Expect(Dropped(host, WAYHOP_DISCOVERY_FAILED) == 4, "aodv: the others end when nobody answers");
    Expect(host.Leaked() == 0, "aodv: no packet is lost track of");
}

void AodvBroadcast(const Library& library) {
    Host host(library, library.Values(), 3);
    host.Link(0, 2, true); // a triangle: everybody hears it more than once
    host.Until(1);
    host.Broadcast(0, 1, 5);
    host.Until(2);
    Expect(host.Count(Host::End::Delivered, 1) == 1 && host.Count(Host::End::Delivered, 2) == 1,
           "aodv: a broadcast is delivered once");
    Expect(Dropped(host, WAYHOP_DUPLICATE) > 0, "aodv: and its duplicates are dropped");
}

/** RFC 3561 sends to 255.255.255.255, ns-3 to the subnet's broadcast address. */
void AodvLimitedBroadcast(const Library& library) {
    Host host(library, library.Values({{"EnableHello", "false"}, {"TtlStart", "5"}}), 3);
    host.Link(0, 1, false);
    host.Until(1);
    host.Send(0, 2, 1);
    host.Until(1.1);
    for (const auto& event : std::vector(host.Events())) {
        if (event.node == 0 && Port(event.bytes) == 654) {
            auto request = event.bytes;
            std::fill(request.begin() + 16, request.begin() + 20, uint8_t{255});
            Seal(request);
            host.Hear(1, 0, request);
        }
    }
    host.Until(1.2);
    Expect(FirstMessage(host, 2, 2, 1) > 0, "aodv: a request to 255.255.255.255 is heard, passed on and answered");
}

void DsdvQueue(const Library& library) {
    Host host(library, library.Values({{"MaxQueuedPacketsPerDst", "2"}, {"MaxQueueTime", "5s"}}), 2);
    host.Until(1);
    for (uint16_t number = 1; number <= 3; number++) {
        host.Send(0, 9, number);
    }
    Expect(host.Held(0) == 2 && Dropped(host, WAYHOP_BUFFER_FULL) == 1, "dsdv: packets wait for a route");
    host.Until(7);
    host.Send(0, 9, 4); // the queue is purged when it is used
    host.Until(8);
    Expect(Dropped(host, WAYHOP_BUFFER_TIMEOUT) == 2, "dsdv: those that it gives up in silence are found");
    Expect(host.Leaked() == 0, "dsdv: no packet is lost track of");
}

/** 130 nodes fill more than one packet: the model's message is split, and put together again. */
void DsdvFragments(const Library& library) {
    Host host(library, library.Values({{"PeriodicUpdateInterval", "2s"}, {"SettlingTime", "1s"}}), 135);
    for (uint32_t a = 0; a < 134; a++) {
        host.Link(a, 134, true);
    }
    host.Until(4);
    std::size_t fragments = 0;
    for (const auto& event : host.Events()) {
        fragments += event.end == Host::End::Sent && (event.bytes[6] & 0x3f) != 0 ? 1 : 0;
    }
    Expect(fragments > 0, "dsdv: a long message is sent in fragments");
    Expect(host.Routes(0).size() >= 134, "dsdv: which arrive");
}

void FatalError(const std::string& self, const std::string& path) {
    const std::string said = RunElsewhere(self, path, "fatal 2>&1 | tail -n 1");
    Expect(said == "ns-3 stopped with a fatal error\n", "a fatal error of ns-3's reaches the host");
}

void Parameters(const Library& library) {
    const std::string name = library->name;
    char problem[256] = "";
    const std::string time = name == "ns3:dsdv" ? "SettlingTime" : "HelloInterval";
    const auto check = [&](const std::string& value) {
        return library->check(library.Values({{time, value}}).data(), problem, sizeof problem);
    };
    Expect(library->check(library.Values().data(), problem, sizeof problem) == 0, name + ": the defaults are valid");
    Expect(check("500ms") == 0, name + ": a time");
    const std::map<std::string, uint32_t> types{{"EnableHello", WAYHOP_BOOLEAN},
                                                {"TtlStart", WAYHOP_INTEGER},
                                                {"WeightedFactor", WAYHOP_NUMBER},
                                                {"HelloInterval", WAYHOP_TEXT}};
    for (std::size_t i = 0; i < library->parameter_count; i++) {
        const wayhop_parameter& parameter = library->parameters[i];
        const std::string key = parameter.key;
        const auto type = types.find(key);
        Expect(type == types.end() || type->second == parameter.type, name + ": the type of " + key);
        const bool enumerates = key == "Willingness";
        Expect(enumerates == (parameter.choices != nullptr), name + ": the choices of " + key);
    }
    for (const char* wrong : {"soon", "-1s", "3 parsecs", "1e300s", ""}) {
        Expect(check(wrong) == 1 && problem[0] != '\0', name + ": no time: \"" + wrong + "\"");
    }
}

} // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc == 3) {
        const Library library(argv[1]);
        if (std::string(argv[2]) == "fatal") {
            // Not checked before, as Wayhop does.
            Host(library, library.Values({{"HelloInterval", "soon"}}), 1);
        }
        std::printf("%016llx\n",
                    static_cast<unsigned long long>(RunOnce(library, std::strtoull(argv[2], nullptr, 10))));
        return 0;
    }
    if (argc != 2) {
        std::fprintf(stderr, "usage: check DIRECTORY | check LIBRARY SEED\n");
        return 2;
    }
    const std::string stem = std::string(argv[1]) + "/libwayhop-ns3-";
    const Library aodv(stem + "aodv.so");
    const Library olsr(stem + "olsr.so");
    const Library dsdv(stem + "dsdv.so");
    for (const Library* library : {&aodv, &olsr, &dsdv}) {
        Parameters(*library);
        Chain(*library, library == &aodv ? 1 : 50);
        Garbage(*library);
        Restart(*library, library == &aodv ? 1 : 50);
    }
    AodvLinkFeedback(aodv);
    AodvSourceFeedback(aodv);
    AodvQueue(aodv);
    AodvBroadcast(aodv);
    AodvLimitedBroadcast(aodv);
    DsdvQueue(dsdv);
    DsdvFragments(dsdv);
    SameSeedSameRun(argv[0], stem + "aodv.so", aodv);
    SameSeedSameRun(argv[0], stem + "olsr.so", olsr);
    SameSeedSameRun(argv[0], stem + "dsdv.so", dsdv);
    FatalError(argv[0], stem + "aodv.so");
    std::printf("%d passed, %d failed\n", g_passed, g_failed);
    return g_failed == 0 ? 0 : 1;
}
