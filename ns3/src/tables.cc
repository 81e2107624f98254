// SPDX-License-Identifier: GPL-2.0-only
#include "tables.h"

#include <ns3/output-stream-wrapper.h>

#include <sstream>
#include <string>
#include <vector>

namespace wayhop {

namespace {

std::vector<std::string> Words(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    return words;
}

std::vector<const char*> Pointers(const std::vector<std::string>& words) {
    std::vector<const char*> pointers;
    for (const auto& word : words) {
        pointers.push_back(word.c_str());
    }
    return pointers;
}

/** lower_snake_case: HopCount, hop_count. */
std::string ColumnName(const std::string& word) {
    std::string name;
    for (const char c : word) {
        if (c >= 'A' && c <= 'Z') {
            name += name.empty() ? "" : "_";
            name += static_cast<char>(c - 'A' + 'a');
        } else {
            name += c;
        }
    }
    return name;
}

} // namespace

void ShowRoutes(const ns3::Ipv4RoutingProtocol& model, const wayhop_inspector& inspector) {
    std::stringstream text;
    model.PrintRoutingTable(ns3::Create<ns3::OutputStreamWrapper>(&text), ns3::Time::S);
    std::vector<std::string> columns;
    for (std::string line; std::getline(text, line);) {
        std::vector<std::string> words = Words(line);
        if (!words.empty() && words[0] == "Destination") {
            for (auto& word : words) {
                word = ColumnName(word);
            }
            columns = words;
        } else if (!columns.empty() && words.size() == columns.size()) {
            inspector.row(&inspector, "routes", Pointers(columns).data(), Pointers(words).data(), words.size());
        }
    }
}

} // namespace wayhop
