// SPDX-License-Identifier: GPL-2.0-only
#ifndef WAYHOP_NS3_TABLES_H
#define WAYHOP_NS3_TABLES_H

#include "wayhop.h"

#include <ns3/ipv4-routing-protocol.h>

namespace wayhop {

/** Shows the model's routing table. ns-3 gives it as text: a line with the names of the columns, then a line for each
 * row. */
void ShowRoutes(const ns3::Ipv4RoutingProtocol& model, const wayhop_inspector& inspector);

} // namespace wayhop

#endif
