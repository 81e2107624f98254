/*
 * Wayhop: routing protocols and applications as shared libraries, in C99 or anything that can export a C
 * function.
 *
 * A library exports a function, wayhop_protocol() or wayhop_application(), which returns a description:
 * names, parameters, messages and callbacks. Wayhop creates one engine per node and calls it with inputs
 * (packets, timers, link reports). The engine answers with effects: calls of the functions in `cx->calls`, for
 * which this header has short inline names such as wayhop_send().
 *
 *   cc -std=c99 -shared -fPIC -o libmine.so mine.c
 *   wayhop run scenario.toml --protocol ./libmine.so
 *
 * Rules
 *   - A protocol does no I/O, reads no clock but `cx->now_ns`, and draws random numbers with
 *     wayhop_random() only. Then the same scenario and seed give the same run.
 *   - `cx` and every pointer that a callback receives are valid until that callback returns.
 *   - Effects take effect, in order, after the callback has returned.
 *   - A packet begins with its IP header. An engine that receives or creates a packet owns it, until
 *     it passes it to wayhop_send(), wayhop_deliver(), wayhop_drop() or wayhop_consume(). Packets
 *     that it keeps must be reported by `inspect`. Wayhop counts.
 *   - Callbacks of one library never run concurrently, except `classify` and `decode`, which must be
 *     pure functions.
 *   - Checksums: the engine writes the IPv4 header checksum of packets that it creates or changes.
 *
 * License: MIT OR Apache-2.0, like Wayhop. Including this header makes a library no derived work of
 * anything else.
 */
#ifndef WAYHOP_H
#define WAYHOP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes only when old libraries would misbehave. Additions go to
 * the end of structures, whose `size` says how much of them the other side knows. */
#define WAYHOP_ABI_VERSION 1u

/* ---- Addresses ------------------------------------------------------------------------------- */

/* An IPv6 address, or an IPv4 address as IPv4-mapped (::ffff:a.b.c.d), in network byte order. */
typedef struct wayhop_addr {
    uint8_t bytes[16];
} wayhop_addr;

/* 255.255.255.255: all neighbours. */
#define WAYHOP_BROADCAST 0xffffffffu
/* Any interface: the one on which the neighbour was heard; all of them for a broadcast. */
#define WAYHOP_ANY_INTERFACE 255u

/* The address a.b.c.d, given as the number 0xaabbccdd. */
static inline wayhop_addr wayhop_ipv4(uint32_t number) {
    wayhop_addr a;
    memset(a.bytes, 0, sizeof a.bytes);
    a.bytes[10] = a.bytes[11] = 0xff;
    a.bytes[12] = (uint8_t)(number >> 24);
    a.bytes[13] = (uint8_t)(number >> 16);
    a.bytes[14] = (uint8_t)(number >> 8);
    a.bytes[15] = (uint8_t)number;
    return a;
}
/* Whether an address is an IPv4 address. */
static inline int wayhop_is_ipv4(wayhop_addr a) {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(a.bytes, mapped, sizeof mapped) == 0;
}
/* An IPv4 address as the number 0xaabbccdd. */
static inline uint32_t wayhop_ipv4_number(wayhop_addr a) {
    return (uint32_t)a.bytes[12] << 24 | (uint32_t)a.bytes[13] << 16 | (uint32_t)a.bytes[14] << 8 |
           a.bytes[15];
}
/* Whether two addresses are the same. */
static inline int wayhop_same_addr(wayhop_addr a, wayhop_addr b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* A packet. The handle becomes invalid when the packet is sent, delivered, dropped or consumed: using
 * it again ends the run with a message. Handle 0 is no packet. Handles are valid in the callbacks of
 * the engine that received or created the packet only. */
typedef struct wayhop_packet {
    uint64_t handle;
} wayhop_packet;

/* What the interface knows about a received packet. */
typedef struct wayhop_rx {
    wayhop_addr from;    /* the neighbour that transmitted it */
    float signal_dbm;    /* received power; NaN if unknown */
    float noise_dbm;     /* noise and interference; NaN if unknown */
    uint32_t rate_kbps;  /* rate of the frame's data part; 0 if unknown */
    uint8_t iface;       /* the interface that received it */
    uint8_t broadcast;   /* 1 if the frame was a broadcast */
    uint8_t reserved[2];
} wayhop_rx;

/* How a transmission ended: `status` of wayhop_tx_report. */
enum {
    WAYHOP_TX_ACKED = 0,      /* the neighbour acknowledged it */
    WAYHOP_TX_NO_ACK = 1,     /* no acknowledgement after all tries: the link counts as broken */
    WAYHOP_TX_QUEUE_FULL = 2, /* the interface queue had no room */
    WAYHOP_TX_RECALLED = 3,   /* wayhop_recall() took it out of the queue, unsent */
    WAYHOP_TX_UNKNOWN = 4     /* sent on a link without acknowledgements, as every broadcast is */
};

/* The end of a transmission. */
typedef struct wayhop_tx_report {
    uint64_t report;      /* the number given to wayhop_send(), if has_report */
    wayhop_packet packet; /* the packet comes back with NO_ACK, QUEUE_FULL and RECALLED; else handle 0 */
    wayhop_addr next_hop; /* the neighbour that it was for */
    uint8_t status;       /* WAYHOP_TX_... */
    uint8_t tries;        /* with NO_ACK: how often it was sent; 0 if the link address did not resolve */
    uint8_t iface;        /* the interface that sent it */
    uint8_t has_report;   /* 0 for packets that the node forwarded along this engine's routes */
    uint8_t reserved[4];
} wayhop_tx_report;

/* A route of this engine was used, or (WAYHOP_WANTS_ARRIVALS) a packet ended here. */
typedef struct wayhop_route_use {
    wayhop_addr source;
    wayhop_addr destination;
    wayhop_addr next_hop;      /* this node, for a packet that ended here */
    wayhop_addr previous_hop;  /* valid if has_previous_hop */
    uint8_t iface;
    uint8_t has_previous_hop;  /* 0 for this node's own packets and where it is unknown */
    uint8_t reserved[6];
} wayhop_route_use;

/* `change` of the callback `link`. */
enum {
    WAYHOP_LINK_UP = 0,     /* the interface carries packets again */
    WAYHOP_LINK_DOWN = 1,   /* it carries none: everything sent through it is lost */
    WAYHOP_LINK_CHANGED = 2 /* its link address, MTU or reporting changed */
};

/* A GPS fix (WGS 84). */
typedef struct wayhop_fix {
    double latitude_deg;
    double longitude_deg;
    float heading_deg;   /* clockwise from north; 0 if not moving */
    float speed_m_per_s;
} wayhop_fix;

/* The value of a parameter. */
typedef struct wayhop_value {
    int64_t integer;  /* WAYHOP_INTEGER, WAYHOP_BOOLEAN (0 or 1); an IPv4 WAYHOP_ADDRESS as a number */
    double number;    /* WAYHOP_NUMBER, WAYHOP_INTEGER */
    const char *text; /* WAYHOP_TEXT, WAYHOP_ADDRESS; else NULL */
} wayhop_value;

/* `kind` of wayhop_command. */
enum {
    WAYHOP_PURGE_ROUTES = 0,  /* forget the route to `destination`, or all, without telling anybody */
    WAYHOP_SET_PARAMETERS = 1 /* replace the parameters by `values` (all of them, already checked) */
};

/* An order from the scenario or from `wayhop ctl`. */
typedef struct wayhop_command {
    uint32_t kind;              /* WAYHOP_PURGE_ROUTES, ...; refuse unknown kinds */
    uint32_t has_destination;
    wayhop_addr destination;
    const wayhop_value *values; /* in the order of `parameters` of the library */
    const char *json;           /* the same as a JSON object */
} wayhop_command;

/* ---- Effects --------------------------------------------------------------------------------- */

/* The place in the interface queue: lower numbers leave first. */
enum { WAYHOP_CONTROL = 0, WAYHOP_HIGH = 1, WAYHOP_DATA = 2 };

/* How to send a packet. */
typedef struct wayhop_tx {
    wayhop_addr next_hop; /* the neighbour that is to receive it, or WAYHOP_BROADCAST */
    uint64_t delay_ns;    /* wait before it enters the queue (jitter) */
    uint64_t report;      /* with has_report: `tx_status` is called with this number when it ends */
    uint8_t has_report;
    uint8_t iface;        /* WAYHOP_ANY_INTERFACE leaves the choice to the node */
    uint8_t priority;     /* WAYHOP_CONTROL, WAYHOP_HIGH or WAYHOP_DATA */
    uint8_t reserved[5];
} wayhop_tx;

/* A routing message to all neighbours on all interfaces. */
static inline wayhop_tx wayhop_tx_broadcast(void) {
    wayhop_tx tx;
    memset(&tx, 0, sizeof tx);
    tx.next_hop = wayhop_ipv4(WAYHOP_BROADCAST);
    tx.iface = WAYHOP_ANY_INTERFACE;
    tx.priority = WAYHOP_CONTROL;
    return tx;
}
/* A packet to one neighbour, queued as data. */
static inline wayhop_tx wayhop_tx_unicast(wayhop_addr next_hop) {
    wayhop_tx tx = wayhop_tx_broadcast();
    tx.next_hop = next_hop;
    tx.priority = WAYHOP_DATA;
    return tx;
}

/* Why a packet ended. The names are those of the tables of a run. */
enum {
    WAYHOP_NO_ROUTE = 0,
    WAYHOP_DISCOVERY_FAILED = 1,
    WAYHOP_BUFFER_TIMEOUT = 2,
    WAYHOP_BUFFER_FULL = 3,
    WAYHOP_QUEUE_FULL = 4,
    WAYHOP_MAC_RETRIES = 5,
    WAYHOP_TTL_EXPIRED = 6,
    WAYHOP_LOOP = 7,
    WAYHOP_NO_OTHER_ROUTE = 8, /* NO_SALVAGE in tables */
    WAYHOP_REROUTE_LIMIT = 9,  /* SALVAGE_LIMIT in tables */
    WAYHOP_MALFORMED = 10,
    WAYHOP_DUPLICATE = 11,
    WAYHOP_POLICY = 12,
    WAYHOP_NO_LISTENER = 13,
    WAYHOP_TOO_LONG = 14
};

/* A row of the forwarding table. */
typedef struct wayhop_route {
    wayhop_addr destination;
    wayhop_addr next_hop;
    uint32_t metric;       /* the least wins */
    uint8_t prefix_length; /* 0 to 32 for IPv4, 0 to 128 for IPv6 */
    uint8_t iface;         /* WAYHOP_ANY_INTERFACE leaves the choice to the node */
    uint8_t reserved[2];
} wayhop_route;

/* What `open` listens to. The node gives arriving packets to `frame` instead of applications. */
enum {
    WAYHOP_UDP_PORT = 0,    /* datagrams to port `number` */
    WAYHOP_IP_PROTOCOL = 1, /* packets of IP protocol `number` */
    WAYHOP_GROUP = 2        /* packets to the multicast group `group`, with the other sockets */
};
typedef struct wayhop_socket {
    wayhop_addr group;
    uint16_t number;
    uint8_t kind;
    uint8_t iface; /* WAYHOP_ANY_INTERFACE for all */
    uint8_t reserved[4];
} wayhop_socket;

typedef struct wayhop_calls wayhop_calls;

/* The context of one callback. */
typedef struct wayhop_cx {
    const wayhop_calls *calls; /* the functions below */
    uint64_t now_ns;           /* nanoseconds since the run began: virtual or real time */
    wayhop_addr addr;          /* this node's IPv4 address */
    wayhop_addr addr6;         /* its IPv6 address; all zeros if it has none */
    uint32_t node;             /* its number in the scenario, from 0 */
    uint32_t queued;           /* packets in its interface queue when the callback began */
    uint8_t acknowledges;      /* 1 if the link layer acknowledges unicasts */
    uint8_t reserved[7];
} wayhop_cx;

/* Functions for use in callbacks. Use the inline names below. */
struct wayhop_calls {
    uint32_t size; /* sizeof(wayhop_calls) of this Wayhop */
    uint32_t abi_version;

    wayhop_packet (*alloc)(const wayhop_cx *, size_t length);
    wayhop_packet (*copy)(const wayhop_cx *, wayhop_packet);
    uint8_t *(*bytes)(const wayhop_cx *, wayhop_packet, size_t *length);
    void (*insert)(const wayhop_cx *, wayhop_packet, size_t at, size_t count);
    void (*remove)(const wayhop_cx *, wayhop_packet, size_t at, size_t count);
    void (*resize)(const wayhop_cx *, wayhop_packet, size_t length);

    void (*send)(const wayhop_cx *, wayhop_packet, const wayhop_tx *);
    void (*deliver)(const wayhop_cx *, wayhop_packet);
    void (*drop)(const wayhop_cx *, wayhop_packet, uint32_t reason);
    void (*consume)(const wayhop_cx *, wayhop_packet);

    void (*set_timer)(const wayhop_cx *, uint64_t key, uint64_t at_ns);
    void (*clear_timer)(const wayhop_cx *, uint64_t key);
    void (*open)(const wayhop_cx *, const wayhop_socket *);
    void (*install)(const wayhop_cx *, const wayhop_route *);
    void (*uninstall)(const wayhop_cx *, const wayhop_addr *destination, uint8_t prefix_length);
    void (*replace_routes)(const wayhop_cx *, const wayhop_route *, size_t count);
    void (*recall)(const wayhop_cx *, const wayhop_addr *next_hop);
    void (*refuse)(const wayhop_cx *, const char *reason);
    void (*note)(const wayhop_cx *, const char *what, const wayhop_addr *about, uint64_t value);
    uint64_t (*random)(const wayhop_cx *);
    int (*link_acknowledges)(const wayhop_cx *, const wayhop_addr *neighbour);
};

/* A new packet of `length` zero bytes. At most 65,535. */
static inline wayhop_packet wayhop_alloc(const wayhop_cx *cx, size_t length) {
    return cx->calls->alloc(cx, length);
}
/* A copy, which counts as the same packet in the tables of a run. */
static inline wayhop_packet wayhop_copy(const wayhop_cx *cx, wayhop_packet p) {
    return cx->calls->copy(cx, p);
}
/* A packet's bytes, from the IP header on, for reading and changing in place. Valid until the next
 * call that inserts, removes, resizes or passes on this packet, and until the callback returns. */
static inline uint8_t *wayhop_bytes(const wayhop_cx *cx, wayhop_packet p, size_t *length) {
    return cx->calls->bytes(cx, p, length);
}
/* Opens a gap of `count` zero bytes at offset `at`. 128 bytes in front of the packet are kept free, so
 * that inserting a header moves only the bytes before it. */
static inline void wayhop_insert(const wayhop_cx *cx, wayhop_packet p, size_t at, size_t count) {
    cx->calls->insert(cx, p, at, count);
}
/* Removes `count` bytes at offset `at`. */
static inline void wayhop_remove(const wayhop_cx *cx, wayhop_packet p, size_t at, size_t count) {
    cx->calls->remove(cx, p, at, count);
}
/* Cuts the end off, or appends zero bytes. */
static inline void wayhop_resize(const wayhop_cx *cx, wayhop_packet p, size_t length) {
    cx->calls->resize(cx, p, length);
}
/* Puts a packet into the interface queue. */
static inline void wayhop_send(const wayhop_cx *cx, wayhop_packet p, const wayhop_tx *tx) {
    cx->calls->send(cx, p, tx);
}
/* Gives a packet to this node's applications. */
static inline void wayhop_deliver(const wayhop_cx *cx, wayhop_packet p) {
    cx->calls->deliver(cx, p);
}
/* Ends a packet that cannot reach its destination, with the cause (WAYHOP_NO_ROUTE, ...). */
static inline void wayhop_drop(const wayhop_cx *cx, wayhop_packet p, uint32_t reason) {
    cx->calls->drop(cx, p, reason);
}
/* Ends a packet that has served its purpose: a routing message that was read. */
static inline void wayhop_consume(const wayhop_cx *cx, wayhop_packet p) {
    cx->calls->consume(cx, p);
}
/* Sets or moves the timer of this key. A time in the past means now. */
static inline void wayhop_set_timer(const wayhop_cx *cx, uint64_t key, uint64_t at_ns) {
    cx->calls->set_timer(cx, key, at_ns);
}
static inline void wayhop_clear_timer(const wayhop_cx *cx, uint64_t key) {
    cx->calls->clear_timer(cx, key);
}
/* Listens to a socket from now on. */
static inline void wayhop_open(const wayhop_cx *cx, const wayhop_socket *socket) {
    cx->calls->open(cx, socket);
}
/* Listens to a UDP port, or an IP protocol, on all interfaces. */
static inline void wayhop_open_udp(const wayhop_cx *cx, uint16_t port) {
    wayhop_socket s;
    memset(&s, 0, sizeof s);
    s.number = port;
    s.kind = WAYHOP_UDP_PORT;
    s.iface = WAYHOP_ANY_INTERFACE;
    cx->calls->open(cx, &s);
}
static inline void wayhop_open_ip(const wayhop_cx *cx, uint8_t protocol) {
    wayhop_socket s;
    memset(&s, 0, sizeof s);
    s.number = protocol;
    s.kind = WAYHOP_IP_PROTOCOL;
    s.iface = WAYHOP_ANY_INTERFACE;
    cx->calls->open(cx, &s);
}
/* Adds or replaces this engine's route to a prefix. */
static inline void wayhop_install(const wayhop_cx *cx, const wayhop_route *route) {
    cx->calls->install(cx, route);
}
static inline void wayhop_uninstall(const wayhop_cx *cx, const wayhop_addr *destination,
                                    uint8_t prefix_length) {
    cx->calls->uninstall(cx, destination, prefix_length);
}
/* Replaces all routes of this engine in one step. */
static inline void wayhop_replace_routes(const wayhop_cx *cx, const wayhop_route *routes, size_t count) {
    cx->calls->replace_routes(cx, routes, count);
}
/* Takes the packets that wait for this neighbour out of the interface queues. */
static inline void wayhop_recall(const wayhop_cx *cx, const wayhop_addr *next_hop) {
    cx->calls->recall(cx, next_hop);
}
/* Refuses the command that `command` was called with. */
static inline void wayhop_refuse(const wayhop_cx *cx, const char *reason) {
    cx->calls->refuse(cx, reason);
}
/* Writes a remark into the table `events` of the run. `what` is one of a fixed set of names. */
static inline void wayhop_note(const wayhop_cx *cx, const char *what, const wayhop_addr *about,
                               uint64_t value) {
    cx->calls->note(cx, what, about, value);
}
/* 64 random bits from this node's stream, the same in every run with this seed. */
static inline uint64_t wayhop_random(const wayhop_cx *cx) {
    return cx->calls->random(cx);
}
/* Whether the end of every unicast to this neighbour is reported. */
static inline int wayhop_link_acknowledges(const wayhop_cx *cx, const wayhop_addr *neighbour) {
    return cx->calls->link_acknowledges(cx, neighbour);
}

/* ---- The host -------------------------------------------------------------------------------- */

/* Functions for use at any time, from any thread. */
typedef struct wayhop_host {
    uint32_t size;
    uint32_t abi_version;
    /* Prints a line on standard error, with the protocol's name and the node in progress. */
    void (*log)(const char *text);
    /* Ends the run because the library cannot continue. The message is shown to the user, with the
     * node, the callback and the time. It does not return. */
    void (*fail)(const char *message);
} wayhop_host;

/* A run, for `run_begin`. In the lab and in the field each node is a process and a run of its own. */
typedef struct wayhop_run {
    uint32_t size;
    uint32_t nodes; /* nodes in this process: all of the scenario, or 1 in the lab and in the field */
    uint64_t seed;
    const wayhop_host *host;    /* valid for the whole run */
    const wayhop_value *values; /* the parameters, in the order of `parameters` of the library */
    const char *json;           /* the same as a JSON object */
} wayhop_run;

/* A node, for `create`. */
typedef struct wayhop_node {
    uint32_t size;
    uint32_t node;              /* its number in the scenario, from 0 */
    wayhop_addr addr;           /* its IPv4 address, the same on all interfaces */
    wayhop_addr addr6;          /* its IPv6 address; all zeros if it has none */
    uint8_t prefix_length;      /* of the IPv4 addresses in the mesh */
    uint8_t interfaces;         /* how many it has: numbers 0 to interfaces - 1 */
    uint8_t reserved[2];
    uint32_t life;              /* how often this node was created before in this run (outages) */
    uint64_t now_ns;
    const wayhop_host *host;    /* valid for the whole run */
    const wayhop_value *values; /* the parameters, in the order of `parameters` of the library */
    const char *json;           /* the same as a JSON object */
} wayhop_node;

/* Receives the tables and packets of an engine. */
typedef struct wayhop_inspector wayhop_inspector;
struct wayhop_inspector {
    uint32_t size;
    uint32_t reserved;
    /* A row of a table: `count` columns and their values as text. Use few, fixed names. */
    void (*row)(const wayhop_inspector *, const char *table, const char *const *columns,
                const char *const *values, size_t count);
    /* A packet that the engine holds, and where. */
    void (*held)(const wayhop_inspector *, const char *place, wayhop_packet);
};

/* ---- The library ----------------------------------------------------------------------------- */

/* `type` of a parameter. */
enum {
    WAYHOP_INTEGER = 0,
    WAYHOP_NUMBER = 1,
    WAYHOP_BOOLEAN = 2,
    WAYHOP_TEXT = 3,
    /* An IP address; the empty text for none. For an application, scenarios may name a node instead. */
    WAYHOP_ADDRESS = 4
};

/* A parameter: a key of [protocol] or [[applications]] in a scenario, checked before a run begins. */
typedef struct wayhop_parameter {
    const char *key;     /* letters, digits and _, with its unit: "hello_interval_s" */
    uint32_t type;       /* WAYHOP_INTEGER, ... */
    uint32_t flags;      /* WAYHOP_LIVE: can change while a node runs (WAYHOP_SET_PARAMETERS) */
    const char *preset;  /* the default: "3", "0.5", "true", "any text" */
    const char *minimum; /* of a number; NULL for none */
    const char *maximum; /* of a number; NULL for none */
    const char *choices; /* of a text: "one|two|three"; NULL for any */
    const char *about;   /* one sentence for the reference */
} wayhop_parameter;
enum { WAYHOP_LIVE = 1 };

/* A packet with the protocol's messages, as it was sent or captured. */
typedef struct wayhop_datagram {
    wayhop_addr source;
    wayhop_addr destination;
    const uint8_t *payload; /* behind the IP header, or behind the UDP header for a UDP port */
    size_t length;          /* of the payload as captured */
    size_t complete_length; /* of the payload as sent */
} wayhop_datagram;

/* A type of messages: the bit (0 to 15) in `types` of wayhop_classified, and its name in summaries. */
typedef struct wayhop_message_type {
    uint32_t bit;
    const char *name;
} wayhop_message_type;

/* What is in a packet. */
typedef struct wayhop_classified {
    int32_t class_index; /* an index into `classes`; -1 for a packet with application data */
    uint32_t types;      /* bits of the messages in it */
} wayhop_classified;

/* `data_plane` of wayhop_protocol_library. */
enum {
    /* The engine handles every packet, decrements the TTL, forwards and delivers (DSR). On real hosts
     * `frame` receives packets of the sockets that the engine opened in `start` only. */
    WAYHOP_PER_PACKET = 0,
    /* The engine installs routes; the node or the kernel forwards. `outbound` receives packets without
     * a route, `frame` what arrives for its sockets. */
    WAYHOP_FORWARDING = 1
};

/* `interests` of wayhop_protocol_library. */
enum {
    WAYHOP_WANTS_OVERHEARD = 1,  /* call `overheard` */
    WAYHOP_WANTS_ROUTE_USED = 2, /* call `route_used` */
    WAYHOP_WANTS_ARRIVALS = 4,   /* ... for packets that end here, too */
    WAYHOP_WANTS_IPV6 = 8        /* IPv6 packets, too */
};

/* A routing protocol. Names and arrays must stay valid until the process ends. */
typedef struct wayhop_protocol_library {
    uint32_t abi_version; /* WAYHOP_ABI_VERSION */
    uint32_t size;        /* sizeof(wayhop_protocol_library) */

    const char *name;          /* in scenarios and tables: a-z, 0-9, '-' and ':', from a letter on: "flood" */
    const char *full_name;     /* "Flooding with duplicate suppression" */
    const char *specification; /* "RFC 4728"; NULL for none */
    const char *version;       /* of the library, recorded with each run; NULL for none */

    uint32_t data_plane;           /* WAYHOP_PER_PACKET or WAYHOP_FORWARDING */
    uint32_t interests;            /* WAYHOP_WANTS_... */
    uint64_t position_interval_ns; /* how often to call `position`; 0 for never */
    uint32_t header_room;          /* bytes that the protocol's headers add to most packets */

    /* The packets that carry its messages: WAYHOP_UDP_PORT or WAYHOP_IP_PROTOCOL, and the number. */
    uint16_t carrier_number;
    uint8_t carrier;
    uint8_t reserved;

    const wayhop_parameter *parameters;
    size_t parameter_count;
    const char *const *classes; /* classes of routing packets, at most 16; add new ones at the end */
    size_t class_count;
    const wayhop_message_type *types;
    size_t type_count;

    /* What is in a packet; NULL: every packet has class 0 and no types. A library without classes and
     * types leaves its packets to a built-in protocol with the same carrier, if there is one. */
    void (*classify)(const wayhop_datagram *, wayhop_classified *out);
    /* Writes the messages of a packet as a JSON array of objects with a "type" each, with snprintf's
     * rules: at most `size` bytes with the final zero; returns the full length. NULL: no decoder. */
    size_t (*decode)(const wayhop_datagram *, char *json, size_t size);
    /* Checks values that must fit together: returns 0, or writes what is wrong and returns 1.
     * Types and ranges have been checked. NULL: nothing to check. */
    int (*check)(const wayhop_value *values, char *problem, size_t size);

    /* Before the first engine of a run and after the last; what run_begin returns is the `run` of
     * `create`. One run at a time in a process. Either may be NULL. */
    void *(*run_begin)(const wayhop_run *);
    void (*run_end)(void *run);

    /* An engine for a node, just before `start`; NULL: the run ends with the message in `problem`. */
    void *(*create)(void *run, const wayhop_node *, char *problem, size_t size);
    void (*destroy)(void *engine);

    /* Inputs. Only `create`, `start`, `outbound`, `frame`, `tx_status` and `timer` are required. */
    void (*start)(void *engine, const wayhop_cx *);
    void (*outbound)(void *engine, const wayhop_cx *, wayhop_packet);
    void (*frame)(void *engine, const wayhop_cx *, wayhop_packet, const wayhop_rx *);
    void (*overheard)(void *engine, const wayhop_cx *, const uint8_t *packet, size_t length,
                      const wayhop_addr *next_hop, const wayhop_rx *);
    void (*tx_status)(void *engine, const wayhop_cx *, const wayhop_tx_report *);
    void (*timer)(void *engine, const wayhop_cx *, uint64_t key);
    void (*route_used)(void *engine, const wayhop_cx *, const wayhop_route_use *);
    void (*link)(void *engine, const wayhop_cx *, uint32_t iface, uint32_t change);
    void (*position)(void *engine, const wayhop_cx *, const wayhop_fix *);
    void (*command)(void *engine, const wayhop_cx *, const wayhop_command *);
    /* Shows tables and held packets. It must not change the engine. Required for engines that keep
     * packets. */
    void (*inspect)(void *engine, uint64_t now_ns, const wayhop_inspector *);
} wayhop_protocol_library;

/* ---- Applications ---------------------------------------------------------------------------- */

/* An application is a program above the routing protocol, on some nodes of a scenario: it sends and
 * receives datagrams and streams, sets timers and counts. A library exports wayhop_application() for
 * one, wayhop_protocol() for a protocol, or both. The rules are those of protocols, with one more:
 * several runs may take turns in a process, so keep all state in what `create` returns. */

/* An address and a UDP or TCP port. */
typedef struct wayhop_endpoint {
    wayhop_addr addr;
    uint16_t port;
    uint8_t reserved[6];
} wayhop_endpoint;

/* The endpoint of an address and a port. */
static inline wayhop_endpoint wayhop_at(wayhop_addr addr, uint16_t port) {
    wayhop_endpoint e;
    memset(&e, 0, sizeof e);
    e.addr = addr;
    e.port = port;
    return e;
}

/* How to send a datagram. */
typedef struct wayhop_outgoing {
    wayhop_endpoint to; /* WAYHOP_BROADCAST reaches the neighbours, on every interface */
    uint16_t port;      /* from this UDP port, which the application listens to */
    uint8_t ttl;        /* hops */
    uint8_t tos;        /* Type of Service, or traffic class */
    uint8_t reserved[4];
} wayhop_outgoing;

/* A stream (TCP). The application numbers those that it opens, the host those that it accepts. No
 * number is used twice. */
typedef struct wayhop_stream {
    uint64_t number;
    uint8_t accepted; /* 1 for a stream that another node opened */
    uint8_t reserved[7];
} wayhop_stream;

/* A stream that the application opens with this number. */
static inline wayhop_stream wayhop_opened(uint64_t number) {
    wayhop_stream s;
    memset(&s, 0, sizeof s);
    s.number = number;
    return s;
}

/* `kind` of wayhop_stream_event. */
enum {
    WAYHOP_STREAM_ACCEPTED = 0,  /* `peer` has connected to `port` */
    WAYHOP_STREAM_CONNECTED = 1, /* wayhop_app_connect() succeeded: `peer` is the other end */
    WAYHOP_STREAM_DATA = 2,      /* `length` bytes of `data` arrived */
    WAYHOP_STREAM_PATTERN = 3,   /* `length` bytes arrived from a flow of the scenario, without data */
    WAYHOP_STREAM_ROOM = 4,      /* bytes have left: there is room for `length` more */
    WAYHOP_STREAM_CLOSED = 5     /* the stream is gone: `cause` */
};
/* `cause` of WAYHOP_STREAM_CLOSED. */
enum {
    WAYHOP_STREAM_FINISHED = 0,    /* the other end closed it, and all that it sent has arrived */
    WAYHOP_STREAM_UNREACHABLE = 1, /* nobody listens there, or nobody answered in time */
    WAYHOP_STREAM_BROKEN = 2
};
typedef struct wayhop_stream_event {
    wayhop_stream stream;
    uint32_t kind;
    uint32_t cause;
    wayhop_endpoint peer; /* ACCEPTED and CONNECTED */
    uint16_t port;        /* ACCEPTED */
    uint8_t reserved[6];
    const uint8_t *data;
    size_t length;
} wayhop_stream_event;
/* Bytes that a new stream takes before it reports WAYHOP_STREAM_ROOM. */
#define WAYHOP_STREAM_START 262144u

typedef struct wayhop_app_calls wayhop_app_calls;

/* The context of one callback of an application. */
typedef struct wayhop_app_cx {
    const wayhop_app_calls *calls; /* the functions below */
    uint64_t now_ns;               /* since the run began; on a real host since the application began */
    wayhop_addr addr;              /* this node's address */
} wayhop_app_cx;

/* Functions for use in callbacks of applications. Use the inline names below. */
struct wayhop_app_calls {
    uint32_t size; /* sizeof(wayhop_app_calls) of this Wayhop */
    uint32_t abi_version;

    void (*listen)(const wayhop_app_cx *, uint16_t port);
    void (*send)(const wayhop_app_cx *, const wayhop_outgoing *, const void *data, size_t length);
    void (*set_timer)(const wayhop_app_cx *, uint64_t key, uint64_t at_ns);
    void (*clear_timer)(const wayhop_app_cx *, uint64_t key);
    void (*note)(const wayhop_app_cx *, const char *what, const wayhop_addr *about, uint64_t value);
    uint64_t (*random)(const wayhop_app_cx *);
    void (*listen_stream)(const wayhop_app_cx *, uint16_t port);
    void (*connect)(const wayhop_app_cx *, uint64_t number, const wayhop_endpoint *to);
    void (*write)(const wayhop_app_cx *, const wayhop_stream *, const void *data, size_t length);
    void (*close)(const wayhop_app_cx *, const wayhop_stream *);
    void (*answer)(const wayhop_app_cx *, uint64_t program, const char *json, const void *data,
                   size_t length);
};

/* Receives the datagrams to a UDP port from now on. */
static inline void wayhop_app_listen(const wayhop_app_cx *cx, uint16_t port) {
    cx->calls->listen(cx, port);
}
/* Sends a datagram from one of the application's ports, with a TTL of 64. */
static inline void wayhop_app_send(const wayhop_app_cx *cx, uint16_t port, const wayhop_endpoint *to,
                                   const void *data, size_t length) {
    wayhop_outgoing o;
    memset(&o, 0, sizeof o);
    o.to = *to;
    o.port = port;
    o.ttl = 64;
    cx->calls->send(cx, &o, data, length);
}
/* Sets or moves the timer of this key. A time in the past means now. */
static inline void wayhop_app_set_timer(const wayhop_app_cx *cx, uint64_t key, uint64_t at_ns) {
    cx->calls->set_timer(cx, key, at_ns);
}
static inline void wayhop_app_clear_timer(const wayhop_app_cx *cx, uint64_t key) {
    cx->calls->clear_timer(cx, key);
}
/* Adds a row to the table `events` of the run. `what` is one of `notes` of the library. */
static inline void wayhop_app_note(const wayhop_app_cx *cx, const char *what, const wayhop_addr *about,
                                   uint64_t value) {
    cx->calls->note(cx, what, about, value);
}
/* 64 random bits of this application's stream, the same in every run with this seed. */
static inline uint64_t wayhop_app_random(const wayhop_app_cx *cx) {
    return cx->calls->random(cx);
}
/* Accepts streams to a TCP port from now on. */
static inline void wayhop_app_listen_stream(const wayhop_app_cx *cx, uint16_t port) {
    cx->calls->listen_stream(cx, port);
}
/* Opens the stream wayhop_opened(number); `stream` is called when it is connected or has failed. */
static inline void wayhop_app_connect(const wayhop_app_cx *cx, uint64_t number,
                                      const wayhop_endpoint *to) {
    cx->calls->connect(cx, number, to);
}
/* Writes to a stream. Up to 16 MiB per call; write no more than there is room for. */
static inline void wayhop_app_write(const wayhop_app_cx *cx, const wayhop_stream *stream,
                                    const void *data, size_t length) {
    cx->calls->write(cx, stream, data, length);
}
/* Closes a stream once everything has been sent. */
static inline void wayhop_app_close(const wayhop_app_cx *cx, const wayhop_stream *stream) {
    cx->calls->close(cx, stream);
}
/* Answers a command, with a JSON object and, if `length` is not 0, bytes. */
static inline void wayhop_app_answer(const wayhop_app_cx *cx, uint64_t program, const char *json,
                                     const void *data, size_t length) {
    cx->calls->answer(cx, program, json, data, length);
}

/* A node with an application, for `create`. */
typedef struct wayhop_app_node {
    uint32_t size;
    uint32_t node;              /* its number in the scenario; UINT32_MAX if the host does not know it */
    wayhop_addr addr;           /* its address */
    uint64_t now_ns;
    const wayhop_host *host;    /* valid until the process ends */
    const wayhop_value *values; /* the parameters, in the order of `parameters` of the library */
    const char *json;           /* the same as a JSON object */
} wayhop_app_node;

/* Receives the counters of an application. */
typedef struct wayhop_counters wayhop_counters;
struct wayhop_counters {
    uint32_t size;
    uint32_t reserved;
    /* A counter: letters a to z, digits and _, with its unit at the end ("delay_mean_ms"). NaN means
     * that it is undefined. */
    void (*count)(const wayhop_counters *, const char *name, double value);
};

/* An application. Names and arrays must stay valid until the process ends. */
typedef struct wayhop_application_library {
    uint32_t abi_version; /* WAYHOP_ABI_VERSION */
    uint32_t size;        /* sizeof(wayhop_application_library) */

    const char *name;    /* in tables: a-z, 0-9 and '-', from a letter on: "request-c" */
    const char *about;   /* a noun phrase: "clients that ask a server" */
    const char *version; /* of the library; NULL for none */

    const wayhop_parameter *parameters;
    size_t parameter_count;
    const char *const *notes; /* every `what` of wayhop_app_note(): a-z, 0-9 and _ */
    size_t note_count;

    /* As for protocols; NULL: nothing to check. */
    int (*check)(const wayhop_value *values, char *problem, size_t size);
    /* An application for a node, just before `start`; NULL: the run ends with the message in `problem`. */
    void *(*create)(const wayhop_app_node *, char *problem, size_t size);
    void (*destroy)(void *app);

    /* Inputs. Only `create` and `start` are required. */
    void (*start)(void *app, const wayhop_app_cx *);
    void (*datagram)(void *app, const wayhop_app_cx *, uint16_t port, const wayhop_endpoint *from,
                     const uint8_t *data, size_t length);
    void (*stream)(void *app, const wayhop_app_cx *, const wayhop_stream_event *);
    void (*timer)(void *app, const wayhop_app_cx *, uint64_t key);
    void (*position)(void *app, const wayhop_app_cx *, const wayhop_fix *);
    /* The neighbours of the routing protocol, about once per second where the host can ask it. */
    void (*neighbours)(void *app, const wayhop_app_cx *, const wayhop_addr *, size_t count);
    /* A command from a program, as a JSON object with optional bytes; wayhop_app_answer() answers it. */
    void (*command)(void *app, const wayhop_app_cx *, uint64_t program, const char *json,
                    const uint8_t *data, size_t length);
    /* The node was down and is back with its memory. Overdue timers fire now. */
    void (*resume)(void *app, const wayhop_app_cx *);
    /* The node lost its memory; `start` follows when it is back. NULL: the application is destroyed,
     * and created again before `start`. Implement it to keep counters. */
    void (*restart)(void *app);
    /* The application ends. Unless `in_order` is 1, what it sends is lost. */
    void (*end)(void *app, const wayhop_app_cx *, int in_order);
    /* Reports what it has counted so far. It must not change the application. */
    void (*figures)(void *app, const wayhop_counters *);
} wayhop_application_library;

/* ---- Exports --------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define WAYHOP_EXPORT __declspec(dllexport)
#else
#define WAYHOP_EXPORT __attribute__((visibility("default")))
#endif

/* The functions that a library exports: one of them, or both. `abi_version` is that of the Wayhop that
 * loads it. They return NULL if the library cannot work with it. */
WAYHOP_EXPORT const wayhop_protocol_library *wayhop_protocol(uint32_t abi_version);
WAYHOP_EXPORT const wayhop_application_library *wayhop_application(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif
