// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_ATTRIBUTES_H
#define WAYHOP_NS3_ATTRIBUTES_H

#include "wayhop.h"

#include <ns3/object-factory.h>
#include <ns3/type-id.h>

#include <deque>
#include <string>
#include <vector>

namespace wayhop {

/** The attributes of a model as parameters of the protocol, with ns-3's names, defaults, ranges and texts. */
class Attributes {
  public:
    /** Those of this model that are values; not the pointers to its parts. */
    explicit Attributes(ns3::TypeId model);

    /** For the description of the library. */
    const std::vector<wayhop_parameter>& Parameters() const;
    /** What is wrong with these values; empty if nothing is. */
    std::string Check(const wayhop_value* values) const;
    /** Makes models with these values. */
    ns3::ObjectFactory Factory(const wayhop_value* values) const;

  private:
    void Add(const ns3::TypeId::AttributeInformation& info);
    /** The text that ns-3 reads for a value. */
    std::string Text(std::size_t index, const wayhop_value& value) const;
    /** A text that lives as long as this: the description holds pointers. */
    const char* Keep(std::string text);

    ns3::TypeId m_model;
    std::vector<wayhop_parameter> m_parameters;
    std::deque<std::string> m_texts;
};

} // namespace wayhop

#endif
