// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"
#include "clock.h"
#include "engine.h"
#include "model.h"
#include "wayhop.h"

#include <ns3/boolean.h>
#include <ns3/global-value.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>

#include <cstdio>
#include <exception>

namespace wayhop {

namespace {

/** The model with its parameters; made once. */
struct Library {
    Model model{TheModel()};
    Attributes attributes{model.type};
};

const Library& TheLibrary() {
    static const Library library;
    return library;
}

const wayhop_host* g_host = nullptr;
std::terminate_handler g_before = nullptr;

/** ns-3 ends the process by std::terminate after a fatal error, which it prints. */
void Terminate() { g_host->fail("ns-3 stopped with a fatal error"); }

void* RunBegin(const wayhop_run* run) {
    g_host = run->host;
    g_before = std::set_terminate(Terminate);
    // Before the first node: real hosts look at checksums.
    ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
    // A seed has to be between 1 and this.
    constexpr uint64_t largest = 4'294'944'442;
    ns3::RngSeedManager::SetSeed(static_cast<uint32_t>(run->seed % largest + 1));
    ns3::RngSeedManager::SetRun(run->seed / largest);
    const auto clock = ns3::CreateObject<HostClock>();
    ns3::Simulator::SetImplementation(clock);
    const Library& library = TheLibrary();
    return new Engine::Setup{
        clock,
        library.attributes.Factory(run->values),
        library.model.port,
        library.model.isWellFormed,
        library.model.assignStreams,
        library.model.routes,
    };
}

void RunEnd(void* setup) {
    delete static_cast<Engine::Setup*>(setup);
    ns3::Simulator::Destroy();
    std::set_terminate(g_before);
}

int Check(const wayhop_value* values, char* problem, size_t size) {
    const std::string wrong = TheLibrary().attributes.Check(values);
    std::snprintf(problem, size, "%s", wrong.c_str());
    return wrong.empty() ? 0 : 1;
}

Engine& Of(void* engine) { return *static_cast<Engine*>(engine); }

wayhop_protocol_library Describe() {
    const Library& library = TheLibrary();
    const Model& model = library.model;
    wayhop_protocol_library d{};
    d.abi_version = WAYHOP_ABI_VERSION;
    d.size = sizeof d;
    d.name = model.name;
    d.full_name = model.fullName;
    d.specification = model.specification;
    d.version = NS3_VERSION;
    d.data_plane = model.routes == nullptr ? WAYHOP_PER_PACKET : WAYHOP_FORWARDING;
    d.carrier = WAYHOP_UDP_PORT;
    d.carrier_number = model.port;
    d.parameters = library.attributes.Parameters().data();
    d.parameter_count = library.attributes.Parameters().size();
    d.classes = model.classes.data();
    d.class_count = model.classes.size();
    d.types = model.types.data();
    d.type_count = model.types.size();
    d.classify = model.classify;
    d.check = Check;
    d.run_begin = RunBegin;
    d.run_end = RunEnd;
    d.create = [](void* run, const wayhop_node* node, char*, size_t) -> void* {
        return new Engine(*static_cast<Engine::Setup*>(run), *node);
    };
    d.destroy = [](void* engine) { delete static_cast<Engine*>(engine); };
    d.start = [](void* engine, const wayhop_cx* cx) { Of(engine).Start(cx); };
    d.outbound = [](void* engine, const wayhop_cx* cx, wayhop_packet packet) { Of(engine).Outbound(cx, packet); };
    d.frame = [](void* engine, const wayhop_cx* cx, wayhop_packet packet, const wayhop_rx* rx) {
        Of(engine).Frame(cx, packet, *rx);
    };
    d.tx_status = [](void* engine, const wayhop_cx* cx, const wayhop_tx_report* report) {
        Of(engine).TxStatus(cx, *report);
    };
    d.timer = [](void* engine, const wayhop_cx* cx, uint64_t) { Of(engine).Timer(cx); };
    d.link = [](void* engine, const wayhop_cx* cx, uint32_t iface, uint32_t change) {
        if (change != WAYHOP_LINK_CHANGED) {
            Of(engine).Link(cx, iface, change == WAYHOP_LINK_UP);
        }
    };
    d.inspect = [](void* engine, uint64_t now, const wayhop_inspector* inspector) {
        Of(engine).Inspect(now, *inspector);
    };
    return d;
}

} // namespace

} // namespace wayhop

const wayhop_protocol_library* wayhop_protocol(uint32_t abi_version) {
    static const wayhop_protocol_library description = wayhop::Describe();
    return abi_version == WAYHOP_ABI_VERSION ? &description : nullptr;
}
