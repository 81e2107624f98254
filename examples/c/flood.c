/* Flooding with duplicate suppression: every node repeats every packet once, after a random wait.
 *
 * Data travels in IP packets of protocol 253 (RFC 3692: experiments). Between the IP header and the
 * payload is a header of 4 bytes: the payload's own protocol, the hops left, and a number by which
 * nodes recognise packets that they have seen. */
#include <stdlib.h>

#include "wayhop.h"

enum { PROTOCOL = 253, HEADER = 4, SEEN = 4096 };

struct engine {
    uint32_t own;        /* this node's address */
    uint16_t next;       /* number of its next packet */
    uint8_t ttl;         /* the parameters */
    uint64_t jitter_ns;
    uint64_t seen[SEEN]; /* packets that came by, at places given by a hash */
};

static const wayhop_parameter parameters[] = {
    {"ttl", WAYHOP_INTEGER, 0, "16", "1", "255", NULL, "Hops that a packet may travel"},
    {"jitter_ms", WAYHOP_NUMBER, 0, "10", "0", "1000", NULL, "Longest wait before a node repeats a packet"},
};
static const wayhop_message_type types[] = {{0, "flood"}};

static void put16(uint8_t *p, unsigned n) {
    p[0] = (uint8_t)(n >> 8);
    p[1] = (uint8_t)n;
}
static uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Writes the length of a packet and the checksum of its IP header (RFC 1071). */
static void close_header(uint8_t *ip, size_t length) {
    uint32_t sum = 0;
    put16(ip + 2, (unsigned)length);
    put16(ip + 10, 0);
    for (int i = 0; i < (ip[0] & 15) * 4; i += 2) sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~sum & 0xffff);
}

/* Whether this packet came by before; remembers it. */
static int is_known(struct engine *e, uint32_t source, uint16_t number) {
    uint64_t key = (uint64_t)source << 16 | number;
    uint64_t *place = &e->seen[(key * 0x9e3779b97f4a7c15u) >> 52];
    if (*place == key) return 1;
    *place = key;
    return 0;
}

static void repeat(struct engine *e, const wayhop_cx *cx, wayhop_packet p) {
    wayhop_tx tx = wayhop_tx_broadcast();
    tx.priority = WAYHOP_DATA;
    tx.delay_ns = e->jitter_ns ? wayhop_random(cx) % e->jitter_ns : 0;
    wayhop_send(cx, p, &tx);
}

static void *create(void *run, const wayhop_node *node, char *problem, size_t size) {
    struct engine *e = calloc(1, sizeof *e);
    (void)run, (void)problem, (void)size;
    if (!e) return NULL;
    e->own = wayhop_ipv4_number(node->addr);
    e->ttl = (uint8_t)node->values[0].integer;
    e->jitter_ns = (uint64_t)(node->values[1].number * 1e6);
    return e;
}

static void start(void *engine, const wayhop_cx *cx) {
    struct engine *e = engine;
    e->next = (uint16_t)wayhop_random(cx); /* not the numbers of an earlier life */
    wayhop_open_ip(cx, PROTOCOL);
}

/* A packet of an application: give it the header, and send it. */
static void outbound(void *engine, const wayhop_cx *cx, wayhop_packet p) {
    struct engine *e = engine;
    size_t length, ip_header = (size_t)(wayhop_bytes(cx, p, &length)[0] & 15) * 4;
    uint8_t *ip;
    wayhop_insert(cx, p, ip_header, HEADER);
    ip = wayhop_bytes(cx, p, &length);
    ip[ip_header] = ip[9];
    ip[ip_header + 1] = e->ttl;
    put16(ip + ip_header + 2, e->next);
    ip[9] = PROTOCOL;
    close_header(ip, length);
    is_known(e, e->own, e->next++);
    repeat(e, cx, p);
}

/* A packet from the air: deliver it, or repeat it once. */
static void frame(void *engine, const wayhop_cx *cx, wayhop_packet p, const wayhop_rx *rx) {
    struct engine *e = engine;
    size_t length;
    uint8_t *ip = wayhop_bytes(cx, p, &length);
    size_t ip_header = (size_t)(ip[0] & 15) * 4;
    (void)rx;
    if (ip[9] != PROTOCOL || length < ip_header + HEADER) {
        wayhop_drop(cx, p, WAYHOP_MALFORMED);
        return;
    }
    if (is_known(e, get32(ip + 12), (uint16_t)(ip[ip_header + 2] << 8 | ip[ip_header + 3]))) {
        wayhop_drop(cx, p, WAYHOP_DUPLICATE);
        return;
    }
    if (get32(ip + 16) == e->own) {
        ip[9] = ip[ip_header];
        wayhop_remove(cx, p, ip_header, HEADER);
        ip = wayhop_bytes(cx, p, &length);
        close_header(ip, length);
        wayhop_deliver(cx, p);
    } else if (ip[8] <= 1 || ip[ip_header + 1] <= 1) {
        wayhop_drop(cx, p, WAYHOP_TTL_EXPIRED);
    } else {
        ip[8]--;
        ip[ip_header + 1]--;
        close_header(ip, length);
        repeat(e, cx, p);
    }
}

static void tx_status(void *engine, const wayhop_cx *cx, const wayhop_tx_report *report) {
    (void)engine;
    if (report->packet.handle) wayhop_drop(cx, report->packet, WAYHOP_MAC_RETRIES);
}
static void timer(void *engine, const wayhop_cx *cx, uint64_t key) { (void)engine, (void)cx, (void)key; }

static void classify(const wayhop_datagram *d, wayhop_classified *out) {
    (void)d;
    out->class_index = -1; /* every packet carries an application's data */
    out->types = 1;
}

static const wayhop_protocol_library library = {
    .abi_version = WAYHOP_ABI_VERSION, .size = sizeof(wayhop_protocol_library),
    .name = "flood", .full_name = "Flooding with duplicate suppression", .version = "1.0",
    .data_plane = WAYHOP_PER_PACKET, .header_room = HEADER,
    .carrier = WAYHOP_IP_PROTOCOL, .carrier_number = PROTOCOL,
    .parameters = parameters, .parameter_count = 2, .types = types, .type_count = 1,
    .classify = classify, .create = create, .destroy = free, .start = start, .outbound = outbound,
    .frame = frame, .tx_status = tx_status, .timer = timer,
};

const wayhop_protocol_library *wayhop_protocol(uint32_t abi_version) {
    return abi_version == WAYHOP_ABI_VERSION ? &library : NULL;
}
