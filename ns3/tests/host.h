// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_TESTS_HOST_H
#define WAYHOP_NS3_TESTS_HOST_H

#include "wayhop.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/** A library and the texts of its parameters. */
class Library {
  public:
    /** Loads a library. */
    explicit Library(const std::string& path);

    /** Its description. */
    const wayhop_protocol_library& operator*() const;
    /** As operator*. */
    const wayhop_protocol_library* operator->() const;
    /** Its default parameters, with these changed. */
    std::vector<wayhop_value> Values(const std::map<std::string, std::string>& changes = {}) const;

  private:
    const wayhop_protocol_library* m_library;
};

/**
 * The host's side of wayhop.h: a few nodes, 10.0.0.1 and up, on a medium that loses nothing. A frame takes 1 ms to each
 * neighbour; a unicast to a node out of reach fails after 10 ms.
 */
class Host {
  public:
    /** What a node did with a packet. */
    enum class End { Sent, Delivered, Dropped, Consumed };

    /** One of these. */
    struct Event {
        uint64_t at;
        uint32_t node;
        End end;
        std::vector<uint8_t> bytes;
        uint32_t reason;     ///< Why it was dropped.
        wayhop_addr nextHop; ///< To whom it was sent.
    };

    /** Nodes of this library, with these parameters. */
    Host(const Library& library, const std::vector<wayhop_value>& values, uint32_t nodes, uint64_t seed = 1);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /** Whether unicasts are acknowledged, and losses reported. */
    bool acknowledges{true};
    /** Whether every packet meets a full interface queue. */
    bool full{false};

    /** Two nodes hear each other or do not. */
    void Link(uint32_t a, uint32_t b, bool up);
    /** Lets time pass until then. */
    void Until(double seconds);
    /** An application sends a UDP datagram. The number is its identification. */
    void Send(uint32_t from, uint32_t to, uint16_t number, uint8_t ttl = 64);
    /** To all. */
    void Broadcast(uint32_t from, uint16_t number, uint8_t ttl);
    /** A node hears these bytes as a broadcast of a neighbour's. */
    void Hear(uint32_t node, uint32_t from, const std::vector<uint8_t>& bytes);
    /** The interface of a node goes down or comes up. */
    void Interface(uint32_t node, bool up);
    /** A node loses its state and starts again. */
    void Restart(uint32_t node);
    /** Its routing table: destination, then the row as "column=value ...". */
    std::map<std::string, std::string> Routes(uint32_t node);
    /** How many packets a node holds. */
    std::size_t Held(uint32_t node);

    /** All that happened. */
    const std::vector<Event>& Events() const;
    /** How many of an application's packets came to this end at a node; at all nodes without one. */
    std::size_t Count(End end, int node = -1) const;
    /** Packets that belong to no one: neither ended, nor held by a node that reports it, nor on the air. */
    std::size_t Leaked();
    /** A hash over all events. */
    uint64_t Hash() const;

  private:
    friend struct Calls;
    using Packet = std::vector<uint8_t>;

    void At(uint64_t time, std::function<void()> action);
    void Call(uint32_t node, const std::function<void(void*, const wayhop_cx*)>& call);
    void Create(uint32_t node);
    void Note(uint32_t node, End end, const Packet& bytes, uint32_t reason = 0, wayhop_addr nextHop = {});
    void Arrive(uint32_t node, uint32_t from, const Packet& bytes, bool broadcast);
    void Carry(uint32_t from, Packet bytes, const wayhop_tx& tx);

    const Library& m_library;
    std::vector<wayhop_value> m_values;
    uint64_t m_seed;
    void* m_run{nullptr};
    uint64_t m_now{0};
    uint64_t m_sequence{0};
    std::map<std::pair<uint64_t, uint64_t>, std::function<void()>> m_queue;
    std::set<std::pair<uint32_t, uint32_t>> m_links;
    std::map<uint64_t, Packet> m_packets;
    uint64_t m_nextPacket{1};
    std::vector<void*> m_engines;
    std::vector<uint32_t> m_lives;
    std::vector<std::map<uint64_t, std::pair<uint64_t, uint64_t>>> m_timers;
    std::vector<Event> m_events;
};

/** The UDP port that a datagram is for; 0 if it is none. */
uint16_t Port(const std::vector<uint8_t>& packet);
/** Whether the checksums of a datagram are there and right. */
bool ChecksumOk(const std::vector<uint8_t>& packet);
/** Corrects the lengths and checksums of a datagram. */
void Seal(std::vector<uint8_t>& packet);
/** The address of a node. */
uint32_t AddressOf(uint32_t node);

#endif
