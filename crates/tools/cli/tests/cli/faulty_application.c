/* The application of examples/c, with a choice of mistakes. */
#define wayhop_application request_application
#include "request.c"
#undef wayhop_application
#include <signal.h>
#include <unistd.h>

enum { COUNT = sizeof parameters / sizeof *parameters };
static wayhop_parameter with_fault[COUNT + 1];
static wayhop_application_library faulty;
static const wayhop_app_cx *old;
static volatile int *volatile nowhere;

static int is_fault(const struct app *a, const char *fault) {
    return strcmp(a->values[COUNT].text, fault) == 0;
}

static void *faulty_create(const wayhop_app_node *node, char *problem, size_t size) {
    void *app = create(node, problem, size);
    if (!is_fault(app, "create")) return app;
    strncpy(problem, "no memory today", size);
    free(app);
    return NULL;
}

static void faulty_timer(void *app, const wayhop_app_cx *cx, uint64_t key) {
    struct app *a = app;
    wayhop_stream s = wayhop_opened(1);
    /* Not raise(): Rust's handler, which looks for full stacks, returns from it once. */
    if (is_fault(a, "segv")) *nowhere = 1;
    if (is_fault(a, "fpe")) raise(SIGFPE);
    if (is_fault(a, "abort")) abort();
    if (is_fault(a, "exit")) exit(0);
    while (is_fault(a, "hang")) usleep(1000);
    if (is_fault(a, "note")) wayhop_app_note(cx, "surprise", &a->server.addr, 1);
    if (is_fault(a, "port")) wayhop_app_listen(cx, 0);
    if (is_fault(a, "long")) wayhop_app_send(cx, 7071, &a->server, a, 100000);
    if (is_fault(a, "null")) wayhop_app_write(cx, &s, NULL, 9);
    if (is_fault(a, "answer")) wayhop_app_answer(cx, 1, "[1]", NULL, 0);
    if (is_fault(a, "stale") && old) cx->calls->random(old + 1);
    old = cx;
    timer(app, cx, key);
}

static void faulty_figures(void *app, const wayhop_counters *c) {
    if (is_fault(app, "counter")) c->count(c, "Mean delay", 1);
    figures(app, c);
}

WAYHOP_EXPORT const wayhop_application_library *wayhop_application(uint32_t abi_version) {
    static const wayhop_parameter fault = {"fault", WAYHOP_TEXT, 0, "", NULL, NULL, NULL, "A mistake"};
    faulty = *request_application(abi_version);
    memcpy(with_fault, parameters, sizeof parameters);
    with_fault[COUNT] = fault;
    faulty.parameters = with_fault;
    faulty.parameter_count = COUNT + 1;
    faulty.create = faulty_create;
    faulty.timer = faulty_timer;
    faulty.figures = faulty_figures;
    return &faulty;
}
