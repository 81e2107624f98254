/* The flooding of examples/c, with a choice of mistakes at node 1 after 3 s. */
#define wayhop_protocol flood_protocol
#include "flood.c"
#undef wayhop_protocol
#include <signal.h>
#include <unistd.h>

static const wayhop_parameter with_fault[] = {
    {"ttl", WAYHOP_INTEGER, 0, "16", "1", "255", NULL, "Hops"},
    {"jitter_ms", WAYHOP_NUMBER, 0, "10", "0", "1000", NULL, "Wait"},
    {"fault", WAYHOP_TEXT, 0, "none", NULL, NULL, NULL, "What goes wrong"},
};
static char fault[32];
static uintptr_t nowhere;
static const wayhop_cx *old;
static const wayhop_host *host;

static void *faulty_create(void *run, const wayhop_node *node, char *problem, size_t size) {
    strncpy(fault, node->values[2].text, sizeof fault - 1);
    host = node->host;
    if (strcmp(fault, "create") == 0) {
        strncpy(problem, "no memory today", size);
        return NULL;
    }
    return create(run, node, problem, size);
}

static void faulty_frame(void *engine, const wayhop_cx *cx, wayhop_packet p, const wayhop_rx *rx) {
    wayhop_tx tx = wayhop_tx_broadcast();
    size_t length;
    if (cx->node != 1 || cx->now_ns < 3000000000u) {
        frame(engine, cx, p, rx);
    } else if (strcmp(fault, "segv") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(fault, "abort") == 0) {
        abort();
    } else if (strcmp(fault, "exit") == 0) {
        exit(3);
    } else if (strcmp(fault, "nothing") == 0) {
        exit(0);
    } else if (strcmp(fault, "fpe") == 0) {
        raise(SIGFPE);
    } else if (strcmp(fault, "ill") == 0) {
        raise(SIGILL);
    } else if (strcmp(fault, "wild") == 0) {
        *(volatile char *)nowhere = 1;
    } else if (strcmp(fault, "hang") == 0) {
        for (;;) usleep(1000);
    } else if (strcmp(fault, "fail") == 0) {
        host->fail("ran out of ideas");
    } else if (strcmp(fault, "twice") == 0) {
        wayhop_drop(cx, p, WAYHOP_POLICY);
        wayhop_send(cx, p, &tx);
    } else if (strcmp(fault, "handle") == 0) {
        p.handle ^= 12345;
        wayhop_consume(cx, p);
    } else if (strcmp(fault, "length") == 0) {
        wayhop_bytes(cx, p, &length)[3] ^= 1;
        wayhop_send(cx, p, &tx);
    } else if (strcmp(fault, "interface") == 0) {
        tx.iface = 9;
        wayhop_send(cx, p, &tx);
    } else if (strcmp(fault, "gap") == 0) {
        wayhop_insert(cx, p, 100000, 4);
    } else if (strcmp(fault, "leak") == 0) {
        return;
    } else if (strcmp(fault, "stale") == 0) {
        if (old) cx->calls->random(old + 1);
        old = cx;
        wayhop_consume(cx, p);
    } else {
        frame(engine, cx, p, rx);
    }
}

static wayhop_protocol_library faulty;

WAYHOP_EXPORT const wayhop_protocol_library *wayhop_protocol(uint32_t abi_version) {
#ifdef REFUSES
    return NULL;
#endif
    faulty = *flood_protocol(abi_version);
    faulty.name = "faulty";
    faulty.parameters = with_fault;
    faulty.parameter_count = 3;
    faulty.create = faulty_create;
    faulty.frame = faulty_frame;
#ifdef VERSION
    faulty.abi_version = VERSION;
#endif
#ifdef SIZE
    faulty.size = SIZE;
#endif
#ifdef CRASHES
    abort();
#endif
    return &faulty;
}
