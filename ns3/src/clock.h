// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_CLOCK_H
#define WAYHOP_NS3_CLOCK_H

#include <ns3/simulator-impl.h>

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

namespace wayhop {

/**
 * ns-3's scheduler on a clock that is not ns-3's. The host says what time it is, simulated or real, whenever it calls a
 * node; each node (ns-3: context) has a queue of its own, and the host wakes the node at the time of its earliest
 * event.
 */
class HostClock : public ns3::SimulatorImpl {
  public:
    /** Type. */
    static ns3::TypeId GetTypeId();

    /** From now on it is \p now (ns), and events belong to this node. */
    void Enter(uint32_t context, uint64_t now);
    /** Runs the events of the current node that are due, also those that become due by it. */
    void RunDue();
    /** When the earliest event of a node is due (ns). */
    std::optional<uint64_t> Earliest(uint32_t context) const;
    /** Cancels all events of a node. */
    void Forget(uint32_t context);

    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    /** The type that Stop(delay) has in this ns-3: none up to 3.40. */
    using StopResult = decltype(std::declval<ns3::SimulatorImpl>().Stop(ns3::Time()));
    StopResult Stop(const ns3::Time& delay) override;
    ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) override;
    ns3::EventId ScheduleNow(ns3::EventImpl* event) override;
    ns3::EventId ScheduleDestroy(ns3::EventImpl* event) override;
    void Remove(const ns3::EventId& id) override;
    void Cancel(const ns3::EventId& id) override;
    bool IsExpired(const ns3::EventId& id) const override;
    void Run() override;
    ns3::Time Now() const override;
    ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
    ns3::Time GetMaximumSimulationTime() const override;
    void SetScheduler(ns3::ObjectFactory factory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  private:
    /** Time in ns, then order of scheduling. */
    using Key = std::pair<uint64_t, uint32_t>;
    using Queue = std::map<Key, ns3::Ptr<ns3::EventImpl>>;

    ns3::EventId Insert(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event);

    std::map<uint32_t, Queue> m_queues;
    std::list<ns3::EventId> m_atEnd;
    uint64_t m_now{0};
    uint32_t m_context{0xffffffff};
    uint32_t m_nextUid{ns3::EventId::UID::VALID};
    uint64_t m_count{0};
};

} // namespace wayhop

#endif
