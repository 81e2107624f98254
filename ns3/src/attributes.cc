// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"

#include <ns3/boolean.h>
#include <ns3/nstime.h>
#include <ns3/string.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>

namespace wayhop {

namespace {

/** The bounds in ns-3's description of a type: "uint16_t 0:65535". */
struct Bounds {
    std::string least;
    std::string most;
};

std::optional<Bounds> ParseBounds(const std::string& type) {
    const auto space = type.find(' ');
    const auto colon = type.find(':', space);
    if (space == std::string::npos || colon == std::string::npos) {
        return std::nullopt;
    }
    return Bounds{type.substr(space + 1, colon - space - 1), type.substr(colon + 1)};
}

/** The class of an attribute's values, without namespace, which some have, and parameters, which EnumValue has in later
 * versions. */
std::string ValueType(const ns3::AttributeChecker& checker) {
    const std::string name = checker.GetValueTypeName();
    const std::string prefix = "ns3::";
    const auto start = name.rfind(prefix, 0) == 0 ? prefix.size() : 0;
    return name.substr(start, name.find('<', start) - start);
}

/** Seconds, as ns-3 reads them. */
std::string Seconds(const ns3::Time& time) {
    std::ostringstream text;
    text.precision(15);
    text << time.GetSeconds() << "s";
    return text.str();
}

/** Whether ns-3 can read a time; it ends the process if it cannot. Nobody needs a negative one, or more than 30 years.
 */
bool IsTime(const std::string& text) {
    static const std::set<std::string> units{"", "s", "ms", "us", "ns", "min", "h", "d"};
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end != text.c_str() && units.count(end) == 1 && std::isfinite(number) && number >= 0 && number <= 1e9 &&
           ns3::Time(text) <= ns3::Seconds(1e9);
}

} // namespace

Attributes::Attributes(ns3::TypeId model) : m_model(model) {
    for (std::size_t i = 0; i < model.GetAttributeN(); i++) {
        const auto info = model.GetAttribute(i);
        if (ValueType(*info.checker) != "PointerValue") {
            Add(info);
        }
    }
}

void Attributes::Add(const ns3::TypeId::AttributeInformation& info) {
    const std::string type = ValueType(*info.checker);
    wayhop_parameter parameter{};
    parameter.key = Keep(info.name);
    parameter.about = Keep(info.help);
    parameter.type = WAYHOP_TEXT;
    std::string preset = info.initialValue->SerializeToString(info.checker);
    if (type == "BooleanValue") {
        parameter.type = WAYHOP_BOOLEAN;
    } else if (type == "TimeValue") {
        preset = Seconds(ns3::DynamicCast<const ns3::TimeValue>(info.initialValue)->Get());
    } else if (type == "EnumValue") {
        parameter.choices = Keep(info.checker->GetUnderlyingTypeInformation());
    } else if (type == "UintegerValue" || type == "IntegerValue" || type == "DoubleValue") {
        parameter.type = type == "DoubleValue" ? WAYHOP_NUMBER : WAYHOP_INTEGER;
        if (const auto bounds = ParseBounds(info.checker->GetUnderlyingTypeInformation())) {
            parameter.minimum = Keep(bounds->least);
            parameter.maximum = Keep(bounds->most);
        }
    }
    parameter.preset = Keep(preset);
    m_parameters.push_back(parameter);
}

const std::vector<wayhop_parameter>& Attributes::Parameters() const { return m_parameters; }

std::string Attributes::Text(std::size_t index, const wayhop_value& value) const {
    std::ostringstream text;
    switch (m_parameters[index].type) {
    case WAYHOP_BOOLEAN:
        return value.integer != 0 ? "true" : "false";
    case WAYHOP_INTEGER:
        text << value.integer;
        return text.str();
    case WAYHOP_NUMBER:
        text.precision(17);
        text << value.number;
        return text.str();
    default:
        return value.text;
    }
}

std::string Attributes::Check(const wayhop_value* values) const {
    for (std::size_t i = 0; i < m_parameters.size(); i++) {
        const std::string text = Text(i, values[i]);
        ns3::TypeId::AttributeInformation info;
        m_model.LookupAttributeByName(m_parameters[i].key, &info);
        if (ValueType(*info.checker) == "TimeValue" && !IsTime(text)) {
            return std::string(m_parameters[i].key) + " = \"" + text + "\" is not a time such as \"500ms\" or \"2s\"";
        }
        if (!info.checker->CreateValidValue(ns3::StringValue(text))) {
            return std::string(m_parameters[i].key) + " = \"" + text + "\": ns-3 does not accept it";
        }
    }
    return {};
}

ns3::ObjectFactory Attributes::Factory(const wayhop_value* values) const {
    ns3::ObjectFactory factory;
    factory.SetTypeId(m_model);
    for (std::size_t i = 0; i < m_parameters.size(); i++) {
        factory.Set(m_parameters[i].key, ns3::StringValue(Text(i, values[i])));
    }
    return factory;
}

const char* Attributes::Keep(std::string text) { return m_texts.emplace_back(std::move(text)).c_str(); }

} // namespace wayhop
