/* Requests and answers over UDP: the application `request` of Wayhop in C. A node with a `server` is a
 * client: it sends a request, thinks about the answer for a random time, and sends the next one;
 * without an answer it tries again. A node without a `server` answers. */
#include <math.h>
#include <stdlib.h>

#include "wayhop.h"

enum { HEADER = 16, LONGEST = 1400, THOUGHT = 0, TIMEOUT = 1 }; /* bytes; keys of timers */
enum { SERVER, PORT, CLIENT_PORT, REQUEST, ANSWER, THINK, WAIT, TRIES, MAX }; /* parameters */
static const wayhop_parameter parameters[] = {
    {"server", WAYHOP_ADDRESS, 0, "", NULL, NULL, NULL, "Whom to ask; without it, a server"},
    {"port", WAYHOP_INTEGER, 0, "7070", "1", "65535", NULL, "The server's UDP port"},
    {"client_port", WAYHOP_INTEGER, 0, "7071", "1", "65535", NULL, "The UDP port of a client"},
    {"request_bytes", WAYHOP_INTEGER, 0, "64", "16", "1400", NULL, "Payload of a request, bytes"},
    {"answer_bytes", WAYHOP_INTEGER, 0, "1000", "16", "1400", NULL, "Payload of an answer, bytes"},
    {"think_s", WAYHOP_NUMBER, 0, "1", "0", "86400", NULL, "Mean time to the next request, s"},
    {"timeout_s", WAYHOP_NUMBER, 0, "2", "0.001", "86400", NULL, "How long a client waits, s"},
    {"tries", WAYHOP_INTEGER, 0, "3", "1", "1000", NULL, "How often a request is sent"},
    {"max_requests", WAYHOP_INTEGER, 0, "0", "0", NULL, NULL, "Requests per client; 0: any number"},
};
static const char *const notes[] = {"request_answered", "request_retried", "request_failed"};
struct app {
    const wayhop_value *values;
    wayhop_endpoint server;
    int is_client, is_waiting;
    uint32_t tries; /* of the request that waits, which was first sent at `since` */
    uint64_t since;
    uint64_t made, answered, failed, retries, served, waited_ns;
};

static uint64_t nanoseconds(double s) { return (uint64_t)(s * 1e9 + 0.5); }
static void put32(uint8_t *p, uint32_t n) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(n >> (24 - 8 * i));
}
static uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Sends a request (1) or an answer (2): its number, and the length of the answer. */
static void message(struct app *a, const wayhop_app_cx *cx, uint16_t port,
                    const wayhop_endpoint *to, uint8_t kind, uint32_t number, uint32_t answer) {
    uint8_t data[LONGEST] = {'W', 'R', 'E', 'Q', kind};
    size_t length = kind == 1 ? (size_t)a->values[REQUEST].integer : answer;
    put32(data + 8, number);
    put32(data + 12, answer);
    length = length < HEADER ? HEADER : length < LONGEST ? length : LONGEST;
    wayhop_app_send(cx, port, to, data, length);
}

static void think(struct app *a, const wayhop_app_cx *cx) { /* exponentially distributed */
    double unit = (double)(wayhop_app_random(cx) >> 11) / 9007199254740992.0;
    double s = -a->values[THINK].number * log(1 - unit);
    wayhop_app_set_timer(cx, THOUGHT, cx->now_ns + nanoseconds(s));
}

static void ask(struct app *a, const wayhop_app_cx *cx) {
    uint16_t port = (uint16_t)a->values[CLIENT_PORT].integer;
    a->tries++;
    message(a, cx, port, &a->server, 1, (uint32_t)a->made - 1, (uint32_t)a->values[ANSWER].integer);
    wayhop_app_set_timer(cx, TIMEOUT, cx->now_ns + nanoseconds(a->values[WAIT].number));
}

static void *create(const wayhop_app_node *node, char *problem, size_t size) {
    struct app *a = calloc(1, sizeof *a);
    (void)problem, (void)size;
    if (!a) return NULL;
    a->values = node->values;
    a->is_client = *node->values[SERVER].text != 0;
    a->server.addr = wayhop_ipv4((uint32_t)node->values[SERVER].integer);
    a->server.port = (uint16_t)node->values[PORT].integer;
    return a;
}

static void start(void *app, const wayhop_app_cx *cx) {
    struct app *a = app;
    wayhop_app_listen(cx, (uint16_t)a->values[a->is_client ? CLIENT_PORT : PORT].integer);
    if (a->is_client) think(a, cx);
}

static void datagram(void *app, const wayhop_app_cx *cx, uint16_t port, const wayhop_endpoint *from,
                     const uint8_t *data, size_t length) {
    struct app *a = app;
    uint8_t kind = a->is_client ? 2 : 1;
    const uint8_t head[8] = {'W', 'R', 'E', 'Q', kind};
    if (length < HEADER || memcmp(data, head, sizeof head) != 0) return;
    if (!a->is_client) {
        a->served++;
        message(a, cx, port, from, 2, get32(data + 8), get32(data + 12));
    } else if (a->is_waiting && get32(data + 8) == (uint32_t)(a->made - 1) &&
               wayhop_same_addr(from->addr, a->server.addr)) {
        a->is_waiting = 0;
        a->answered++;
        a->waited_ns += cx->now_ns - a->since;
        wayhop_app_clear_timer(cx, TIMEOUT);
        wayhop_app_note(cx, "request_answered", &a->server.addr, cx->now_ns - a->since);
        think(a, cx);
    }
}

static void timer(void *app, const wayhop_app_cx *cx, uint64_t key) {
    struct app *a = app;
    uint64_t most = (uint64_t)a->values[MAX].integer;
    if (key == THOUGHT && most && a->made >= most) return;
    if (key == THOUGHT) {
        a->is_waiting = 1, a->tries = 0, a->since = cx->now_ns, a->made++;
        ask(a, cx);
    } else if (a->is_waiting && a->tries < (uint32_t)a->values[TRIES].integer) {
        a->retries++;
        wayhop_app_note(cx, "request_retried", &a->server.addr, a->tries + 1);
        ask(a, cx);
    } else if (a->is_waiting) {
        a->is_waiting = 0;
        a->failed++;
        wayhop_app_note(cx, "request_failed", &a->server.addr, a->tries);
        think(a, cx);
    }
}

/* The node lost its memory. Its counters are the run's, and its numbers go on. */
static void restart(void *app) {
    struct app *a = app;
    if (a->is_waiting) a->is_waiting = 0, a->failed++;
}

static void figures(void *app, const wayhop_counters *c) {
    struct app *a = app;
    if (!a->is_client) {
        c->count(c, "requests_served", (double)a->served);
        return;
    }
    c->count(c, "requests", (double)a->made);
    c->count(c, "answered", (double)a->answered);
    c->count(c, "failed", (double)a->failed);
    c->count(c, "retries", (double)a->retries);
    c->count(c, "response_mean_ms", (double)a->waited_ns / 1e6 / (double)a->answered);
}

static const wayhop_application_library library = {
    .abi_version = WAYHOP_ABI_VERSION, .size = sizeof(wayhop_application_library),
    .name = "request-c", .about = "clients that ask a server over UDP, in C", .version = "1.0",
    .parameters = parameters, .parameter_count = sizeof parameters / sizeof *parameters,
    .notes = notes, .note_count = 3, .create = create, .destroy = free, .start = start,
    .datagram = datagram, .timer = timer, .restart = restart, .figures = figures,
};

const wayhop_application_library *wayhop_application(uint32_t abi_version) {
    return abi_version == WAYHOP_ABI_VERSION ? &library : NULL;
}
