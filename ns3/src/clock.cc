// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#include "model.h"

#include <algorithm>

namespace wayhop {

ns3::TypeId HostClock::GetTypeId() {
    static ns3::TypeId tid = ns3::TypeId(TypeName("HostClock")).SetParent<ns3::SimulatorImpl>();
    return tid;
}

void HostClock::Enter(uint32_t context, uint64_t now) {
    m_context = context;
    m_now = now;
}

void HostClock::RunDue() {
    Queue& queue = m_queues[m_context];
    while (!queue.empty() && queue.begin()->first.first <= m_now) {
        ns3::Ptr<ns3::EventImpl> event = queue.begin()->second;
        queue.erase(queue.begin());
        m_count++;
        event->Invoke(); // a cancelled one does nothing
    }
}

std::optional<uint64_t> HostClock::Earliest(uint32_t context) const {
    const auto queue = m_queues.find(context);
    if (queue == m_queues.end() || queue->second.empty()) {
        return std::nullopt;
    }
    return queue->second.begin()->first.first;
}

void HostClock::Forget(uint32_t context) { m_queues.erase(context); }

ns3::EventId HostClock::Insert(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) {
    const uint64_t at = m_now + static_cast<uint64_t>(std::max<int64_t>(delay.GetNanoSeconds(), 0));
    const uint32_t uid = m_nextUid++;
    // The reference that the caller holds is ours now.
    ns3::Ptr<ns3::EventImpl> owned(event, false);
    m_queues[context].emplace(Key{at, uid}, owned);
    return ns3::EventId(owned, at, context, uid);
}

ns3::EventId HostClock::Schedule(const ns3::Time& delay, ns3::EventImpl* event) {
    return Insert(m_context, delay, event);
}

void HostClock::ScheduleWithContext(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) {
    Insert(context, delay, event);
}

ns3::EventId HostClock::ScheduleNow(ns3::EventImpl* event) { return Insert(m_context, ns3::Time(0), event); }

ns3::EventId HostClock::ScheduleDestroy(ns3::EventImpl* event) {
    const ns3::EventId id(ns3::Ptr<ns3::EventImpl>(event, false), m_now, m_context, ns3::EventId::UID::DESTROY);
    m_atEnd.push_back(id);
    return id;
}

void HostClock::Destroy() {
    while (!m_atEnd.empty()) {
        const ns3::EventId id = m_atEnd.front();
        m_atEnd.pop_front();
        id.PeekEventImpl()->Invoke();
    }
    m_queues.clear();
}

void HostClock::Remove(const ns3::EventId& id) {
    if (id.GetUid() == ns3::EventId::UID::DESTROY) {
        m_atEnd.remove(id);
    } else if (!IsExpired(id)) {
        m_queues[id.GetContext()].erase(Key{id.GetTs(), id.GetUid()});
        id.PeekEventImpl()->Cancel();
    }
}

void HostClock::Cancel(const ns3::EventId& id) {
    // Unlike ns-3's own, a cancelled event leaves the queue: no node is woken for nothing.
    Remove(id);
}

bool HostClock::IsExpired(const ns3::EventId& id) const {
    if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled()) {
        return true;
    }
    if (id.GetUid() == ns3::EventId::UID::DESTROY) {
        return std::find(m_atEnd.begin(), m_atEnd.end(), id) == m_atEnd.end();
    }
    const auto queue = m_queues.find(id.GetContext());
    return queue == m_queues.end() || queue->second.count(Key{id.GetTs(), id.GetUid()}) == 0;
}

ns3::Time HostClock::Now() const { return ns3::NanoSeconds(m_now); }

ns3::Time HostClock::GetDelayLeft(const ns3::EventId& id) const {
    return ns3::NanoSeconds(IsExpired(id) || id.GetTs() < m_now ? 0 : id.GetTs() - m_now);
}

ns3::Time HostClock::GetMaximumSimulationTime() const {
    // Half of what fits (146 years): models add it to the current time, which is not 0 for a node that starts later.
    return ns3::NanoSeconds(int64_t{1} << 62);
}

uint32_t HostClock::GetContext() const { return m_context; }

uint64_t HostClock::GetEventCount() const { return m_count; }

uint32_t HostClock::GetSystemId() const { return 0; }

// The host runs the events, and decides when it is over.

bool HostClock::IsFinished() const { return false; }

void HostClock::Run() {}

void HostClock::Stop() {}

HostClock::StopResult HostClock::Stop(const ns3::Time& delay) {
    static_cast<void>(delay);
    return StopResult();
}

void HostClock::SetScheduler(ns3::ObjectFactory factory) { static_cast<void>(factory); }

} // namespace wayhop
