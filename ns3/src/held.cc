// SPDX-License-Identifier: GPL-2.0-only
#include "held.h"

namespace wayhop {

void Held::Add(Entry entry) {
    const uint64_t number = entry.packet->GetUid();
    m_entries.emplace(number, std::move(entry));
}

std::optional<Held::Entry> Held::Take(const ns3::Packet& packet) {
    const auto found = m_entries.find(packet.GetUid());
    if (found == m_entries.end()) {
        return std::nullopt;
    }
    Entry entry = std::move(found->second);
    m_entries.erase(found);
    return entry;
}

void Held::Sweep(const std::function<void(const Entry&)>& take) {
    for (auto i = m_entries.begin(); i != m_entries.end();) {
        if (i->second.packet->GetReferenceCount() == 1) {
            take(i->second);
            i = m_entries.erase(i);
        } else {
            ++i;
        }
    }
}

void Held::Inspect(const wayhop_inspector& inspector) const {
    for (const auto& [number, entry] : m_entries) {
        inspector.held(&inspector, "queue", entry.handle);
    }
}

} // namespace wayhop
