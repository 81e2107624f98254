// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_MODEL_H
#define WAYHOP_NS3_MODEL_H

#include "wayhop.h"

#include <ns3/object.h>
#include <ns3/type-id.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wayhop {

/** What this library has to know about the routing model that it is built for: model-aodv.cc, model-olsr.cc or
 * model-dsdv.cc. */
struct Model {
    const char* name;          ///< In scenarios.
    const char* fullName;      ///< For people.
    const char* specification; ///< Where the protocol is specified.
    uint16_t port;             ///< The UDP port of its messages.
    std::vector<const char*> classes;
    std::vector<wayhop_message_type> types;
    /** The class and the types of a datagram; the index of a class is the bit of its type. */
    void (*classify)(const wayhop_datagram*, wayhop_classified*);
    /** Whether the model can read a message, given from its UDP header on: ns-3 ends the process, or reads what is not
     * there, if not. */
    bool (*isWellFormed)(const uint8_t* datagram, std::size_t length);
    /** ns-3's class. */
    ns3::TypeId type;
    /** Keys its random numbers. */
    void (*assignStreams)(ns3::Ptr<ns3::Object> model, int64_t stream);
    /** Its routes, for the host to forward by; null if the model is asked about each packet. */
    std::vector<wayhop_route> (*routes)(ns3::Ptr<ns3::Object> model){nullptr};
};

/** Length of a UDP header. */
constexpr std::size_t UDP_HEADER = 8;

/** The model of this library. */
Model TheModel();

/** What ns-3 calls a class of this library: one process may load the libraries of several models, and ns-3 allows no
 * name twice. */
inline std::string TypeName(const char* name) { return std::string("wayhop::") + TheModel().name + "::" + name; }

} // namespace wayhop

#endif
