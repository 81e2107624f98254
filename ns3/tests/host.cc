// SPDX-License-Identifier: GPL-2.0-only
#include "host.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>

namespace {

constexpr uint64_t AIR = 1'000'000;
constexpr uint64_t RETRIES = 10'000'000;
constexpr uint16_t APPLICATION_PORT = 5000;

[[noreturn]] void Die(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(2);
}

uint16_t Sum(const uint8_t* bytes, std::size_t length, uint32_t sum) {
    for (std::size_t i = 0; i < length; i++) {
        sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    }
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<uint16_t>(sum);
}

void Put32(uint8_t* at, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
    }
}

void Put16(uint8_t* at, std::size_t value) {
    at[0] = static_cast<uint8_t>(value >> 8);
    at[1] = static_cast<uint8_t>(value);
}

std::vector<uint8_t> Datagram(uint32_t source, uint32_t destination, uint16_t number, uint8_t ttl) {
    std::vector<uint8_t> p(20 + 8 + 64);
    p[0] = 0x45;
    Put16(p.data() + 4, number);
    p[8] = ttl;
    p[9] = 17;
    Put32(p.data() + 12, source);
    Put32(p.data() + 16, destination);
    Put16(p.data() + 22, APPLICATION_PORT);
    Seal(p);
    return p;
}

} // namespace

uint16_t Port(const std::vector<uint8_t>& p) {
    return p.size() >= 28 && p[9] == 17 ? static_cast<uint16_t>(p[22] << 8 | p[23]) : 0;
}

bool ChecksumOk(const std::vector<uint8_t>& p) {
    const auto length = static_cast<uint32_t>(p.size() - 20);
    const bool absent = p[26] == 0 && p[27] == 0;
    return !absent && Sum(p.data() + 12, p.size() - 12, 17 + length) == 0xffff && Sum(p.data(), 20, 0) == 0xffff;
}

void Seal(std::vector<uint8_t>& p) {
    const auto length = static_cast<uint32_t>(p.size() - 20);
    Put16(p.data() + 2, p.size());
    Put16(p.data() + 10, 0);
    Put16(p.data() + 10, static_cast<uint16_t>(~Sum(p.data(), 20, 0)));
    Put16(p.data() + 24, length);
    Put16(p.data() + 26, 0);
    Put16(p.data() + 26, static_cast<uint16_t>(~Sum(p.data() + 12, p.size() - 12, 17 + length)));
}

uint32_t AddressOf(uint32_t node) { return 0x0a000001 + node; }

Library::Library(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) {
        Die(dlerror());
    }
    const auto describe =
        reinterpret_cast<const wayhop_protocol_library* (*)(uint32_t)>(dlsym(library, "wayhop_protocol"));
    m_library = describe == nullptr ? nullptr : describe(WAYHOP_ABI_VERSION);
    if (m_library == nullptr) {
        Die("no library of this version");
    }
}

const wayhop_protocol_library& Library::operator*() const { return *m_library; }

const wayhop_protocol_library* Library::operator->() const { return m_library; }

std::vector<wayhop_value> Library::Values(const std::map<std::string, std::string>& changes) const {
    static std::deque<std::string> texts; // values point to them
    std::vector<wayhop_value> values;
    for (std::size_t i = 0; i < m_library->parameter_count; i++) {
        const wayhop_parameter& parameter = m_library->parameters[i];
        const auto change = changes.find(parameter.key);
        const std::string& text = texts.emplace_back(change == changes.end() ? parameter.preset : change->second);
        wayhop_value value{};
        value.integer = text == "true" ? 1 : std::atoll(text.c_str());
        value.number = std::atof(text.c_str());
        value.text = parameter.type == WAYHOP_TEXT ? text.c_str() : nullptr;
        values.push_back(value);
    }
    return values;
}

/** The functions that wayhop.h gives to libraries. */
struct Calls {
    /** A context, and whose it is. */
    struct Context {
        wayhop_cx cx;
        Host* host;
    };

    static Host& Of(const wayhop_cx* cx) { return *reinterpret_cast<const Context*>(cx)->host; }
    static Host::Packet Take(const wayhop_cx* cx, wayhop_packet p) {
        auto node = Of(cx).m_packets.extract(p.handle);
        if (node.empty()) {
            Die("a packet was used twice");
        }
        return std::move(node.mapped());
    }
    static wayhop_packet Insert(Host& host, Host::Packet bytes) {
        host.m_packets.emplace(host.m_nextPacket, std::move(bytes));
        return {host.m_nextPacket++};
    }

    static wayhop_packet Alloc(const wayhop_cx* cx, size_t length) { return Insert(Of(cx), Host::Packet(length)); }
    static wayhop_packet Copy(const wayhop_cx* cx, wayhop_packet p) {
        return Insert(Of(cx), Of(cx).m_packets.at(p.handle));
    }
    static uint8_t* Bytes(const wayhop_cx* cx, wayhop_packet p, size_t* length) {
        Host::Packet& bytes = Of(cx).m_packets.at(p.handle);
        *length = bytes.size();
        return bytes.data();
    }
    static void Send(const wayhop_cx* cx, wayhop_packet p, const wayhop_tx* tx) {
        Of(cx).Carry(cx->node, Take(cx, p), *tx);
    }
    static void Deliver(const wayhop_cx* cx, wayhop_packet p) {
        Of(cx).Note(cx->node, Host::End::Delivered, Take(cx, p));
    }
    static void Drop(const wayhop_cx* cx, wayhop_packet p, uint32_t reason) {
        Of(cx).Note(cx->node, Host::End::Dropped, Take(cx, p), reason);
    }
    static void Consume(const wayhop_cx* cx, wayhop_packet p) {
        Of(cx).Note(cx->node, Host::End::Consumed, Take(cx, p));
    }
    static void SetTimer(const wayhop_cx* cx, uint64_t key, uint64_t at) {
        ClearTimer(cx, key);
        Host& host = Of(cx);
        const uint32_t node = cx->node;
        host.m_timers[node][key] = {std::max(at, host.m_now), host.m_sequence};
        host.At(std::max(at, host.m_now), [&host, node, key] {
            host.m_timers[node].erase(key);
            host.Call(node, [&](void* engine, const wayhop_cx* c) { (*host.m_library).timer(engine, c, key); });
        });
    }
    static void ClearTimer(const wayhop_cx* cx, uint64_t key) {
        Host& host = Of(cx);
        const auto timer = host.m_timers[cx->node].find(key);
        if (timer != host.m_timers[cx->node].end()) {
            host.m_queue.erase(timer->second);
            host.m_timers[cx->node].erase(timer);
        }
    }
    static wayhop_calls All() {
        wayhop_calls calls{};
        calls.size = sizeof calls;
        calls.abi_version = WAYHOP_ABI_VERSION;
        calls.alloc = Alloc;
        calls.copy = Copy;
        calls.bytes = Bytes;
        calls.send = Send;
        calls.deliver = Deliver;
        calls.drop = Drop;
        calls.consume = Consume;
        calls.set_timer = SetTimer;
        calls.clear_timer = ClearTimer;
        calls.open = [](const wayhop_cx*, const wayhop_socket*) {};
        return calls;
    }
};

namespace {

const wayhop_calls g_calls = Calls::All();

const wayhop_host g_host = {
    sizeof(wayhop_host),
    WAYHOP_ABI_VERSION,
    [](const char* text) { std::fprintf(stderr, "%s\n", text); },
    [](const char* message) { Die(message); },
};

} // namespace

Host::Host(const Library& library, const std::vector<wayhop_value>& values, uint32_t nodes, uint64_t seed)
    : m_library(library), m_values(values), m_seed(seed), m_engines(nodes), m_lives(nodes), m_timers(nodes) {
    wayhop_run run{};
    run.size = sizeof run;
    run.seed = seed;
    run.nodes = nodes;
    run.host = &g_host;
    run.values = m_values.data();
    run.json = "{}";
    m_run = library->run_begin(&run);
    for (uint32_t i = 0; i < nodes; i++) {
        Create(i);
        if (i > 0) {
            Link(i - 1, i, true);
        }
    }
}

Host::~Host() {
    for (void* engine : m_engines) {
        m_library->destroy(engine);
    }
    m_library->run_end(m_run);
}

void Host::Create(uint32_t node) {
    wayhop_node description{};
    description.size = sizeof description;
    description.node = node;
    description.addr = wayhop_ipv4(AddressOf(node));
    description.prefix_length = 8;
    description.interfaces = 1;
    description.life = m_lives[node]++;
    description.now_ns = m_now;
    description.host = &g_host;
    description.values = m_values.data();
    description.json = "{}";
    char problem[256] = "";
    m_engines[node] = m_library->create(m_run, &description, problem, sizeof problem);
    if (m_engines[node] == nullptr) {
        Die(problem);
    }
    Call(node, [this](void* engine, const wayhop_cx* cx) { m_library->start(engine, cx); });
}

void Host::Call(uint32_t node, const std::function<void(void*, const wayhop_cx*)>& call) {
    Calls::Context context{};
    context.host = this;
    context.cx.calls = &g_calls;
    context.cx.now_ns = m_now;
    context.cx.addr = wayhop_ipv4(AddressOf(node));
    context.cx.node = node;
    context.cx.acknowledges = acknowledges ? 1 : 0;
    call(m_engines[node], &context.cx);
}

void Host::At(uint64_t time, std::function<void()> action) {
    m_queue.emplace(std::pair{time, m_sequence++}, std::move(action));
}

void Host::Until(double seconds) {
    const auto end = static_cast<uint64_t>(seconds * 1e9);
    while (!m_queue.empty() && m_queue.begin()->first.first <= end) {
        auto first = m_queue.extract(m_queue.begin());
        m_now = first.key().first;
        first.mapped()();
    }
    m_now = end;
}

void Host::Link(uint32_t a, uint32_t b, bool up) {
    for (const auto& link : {std::pair{a, b}, std::pair{b, a}}) {
        up ? static_cast<void>(m_links.insert(link)) : static_cast<void>(m_links.erase(link));
    }
}

void Host::Carry(uint32_t from, Packet bytes, const wayhop_tx& tx) {
    Note(from, End::Sent, bytes, 0, tx.next_hop);
    const uint32_t to = wayhop_ipv4_number(tx.next_hop);
    bool arrives = false;
    for (uint32_t node = 0; node < m_engines.size() && !full; node++) {
        if (m_links.count({from, node}) == 0 || (to != WAYHOP_BROADCAST && to != AddressOf(node))) {
            continue;
        }
        arrives = true;
        At(m_now + AIR, [this, from, node, to, bytes] { Arrive(node, from, bytes, to == WAYHOP_BROADCAST); });
    }
    if (tx.has_report == 0) {
        return;
    }
    wayhop_tx_report report{};
    report.report = tx.report;
    report.next_hop = tx.next_hop;
    report.has_report = 1;
    report.tries = arrives ? 1 : 7;
    report.status = full            ? WAYHOP_TX_QUEUE_FULL
                    : !acknowledges ? WAYHOP_TX_UNKNOWN
                    : arrives       ? WAYHOP_TX_ACKED
                                    : WAYHOP_TX_NO_ACK;
    const bool back = report.status == WAYHOP_TX_QUEUE_FULL || report.status == WAYHOP_TX_NO_ACK;
    At(m_now + (arrives || full ? AIR : RETRIES), [this, from, report, back, bytes]() mutable {
        report.packet = back ? Calls::Insert(*this, bytes) : wayhop_packet{};
        Call(from, [&](void* engine, const wayhop_cx* cx) { m_library->tx_status(engine, cx, &report); });
    });
}

void Host::Arrive(uint32_t node, uint32_t from, const Packet& bytes, bool broadcast) {
    wayhop_rx rx{};
    rx.from = wayhop_ipv4(AddressOf(from));
    rx.broadcast = broadcast ? 1 : 0;
    const wayhop_packet packet = Calls::Insert(*this, bytes);
    Call(node, [&](void* engine, const wayhop_cx* cx) { m_library->frame(engine, cx, packet, &rx); });
}

void Host::Hear(uint32_t node, uint32_t from, const Packet& bytes) { Arrive(node, from, bytes, true); }

void Host::Send(uint32_t from, uint32_t to, uint16_t number, uint8_t ttl) {
    const wayhop_packet packet = Calls::Insert(*this, Datagram(AddressOf(from), AddressOf(to), number, ttl));
    Call(from, [&](void* engine, const wayhop_cx* cx) { m_library->outbound(engine, cx, packet); });
}

void Host::Broadcast(uint32_t from, uint16_t number, uint8_t ttl) {
    // That of the prefix: models forward no other.
    const wayhop_packet packet = Calls::Insert(*this, Datagram(AddressOf(from), 0x0affffff, number, ttl));
    Call(from, [&](void* engine, const wayhop_cx* cx) { m_library->outbound(engine, cx, packet); });
}

void Host::Interface(uint32_t node, bool up) {
    Call(node, [&](void* engine, const wayhop_cx* cx) {
        m_library->link(engine, cx, 0, up ? WAYHOP_LINK_UP : WAYHOP_LINK_DOWN);
    });
}

void Host::Restart(uint32_t node) {
    m_library->destroy(m_engines[node]);
    for (const auto& [key, timer] : m_timers[node]) {
        m_queue.erase(timer);
    }
    m_timers[node].clear();
    Create(node);
}

namespace {

/** Collects what an engine shows. */
struct Inspector {
    wayhop_inspector inspector;
    std::map<std::string, std::string> routes;
    std::set<uint64_t> held;
};

Inspector Inspect(const Library& library, void* engine, uint64_t now) {
    Inspector all{};
    all.inspector.size = sizeof all.inspector;
    all.inspector.row = [](const wayhop_inspector* to, const char*, const char* const* columns,
                           const char* const* values, size_t count) {
        std::string& row = reinterpret_cast<Inspector*>(const_cast<wayhop_inspector*>(to))->routes[values[0]];
        for (size_t i = 1; i < count; i++) {
            row += std::string(columns[i]) + "=" + values[i] + " ";
        }
    };
    all.inspector.held = [](const wayhop_inspector* to, const char*, wayhop_packet packet) {
        reinterpret_cast<Inspector*>(const_cast<wayhop_inspector*>(to))->held.insert(packet.handle);
    };
    library->inspect(engine, now, &all.inspector);
    return all;
}

} // namespace

std::map<std::string, std::string> Host::Routes(uint32_t node) {
    return Inspect(m_library, m_engines[node], m_now).routes;
}

std::size_t Host::Held(uint32_t node) { return Inspect(m_library, m_engines[node], m_now).held.size(); }

std::size_t Host::Leaked() {
    std::size_t held = 0;
    for (uint32_t node = 0; node < m_engines.size(); node++) {
        held += Held(node);
    }
    return m_packets.size() - held;
}

void Host::Note(uint32_t node, End end, const Packet& bytes, uint32_t reason, wayhop_addr nextHop) {
    m_events.push_back({m_now, node, end, bytes, reason, nextHop});
}

const std::vector<Host::Event>& Host::Events() const { return m_events; }

std::size_t Host::Count(End end, int node) const {
    std::size_t count = 0;
    for (const Event& event : m_events) {
        const bool here = node < 0 || event.node == static_cast<uint32_t>(node);
        count += event.end == end && here && Port(event.bytes) == APPLICATION_PORT ? 1 : 0;
    }
    return count;
}

uint64_t Host::Hash() const {
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](uint64_t value) {
        for (int i = 0; i < 8; i++) {
            hash = (hash ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
        }
    };
    for (const Event& event : m_events) {
        add(event.at);
        add(event.node);
        add(static_cast<uint64_t>(event.end));
        add(event.reason);
        add(wayhop_ipv4_number(event.nextHop));
        for (const uint8_t byte : event.bytes) {
            add(byte);
        }
    }
    return hash;
}
