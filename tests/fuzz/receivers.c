#include "receivers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <ucontext.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/serve/receiver.h"
#include "fuzz.h"

/* Of AddressSanitizer, which must know the stack; missing without it. */
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size)
    __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size)
    __attribute__((weak));

#define STACK (512 << 10)

struct fiber {
    uv_process_t *process;
    uv_exit_cb on_exit;
    int fd; /* its end of the socket pair */
    bool ended;
    ucontext_t context;
    void *stack, *fake;
    LIST_ENTRY(fiber) in_list;
};

static LIST_HEAD(, fiber) fibers = LIST_HEAD_INITIALIZER(fibers);
static struct fiber *current;
static ucontext_t loop_context;
static void *loop_fake;
static const void *loop_bottom;
static size_t loop_size;

/* ---- from the loop to a receiver and back ---- */

static void leave(void)
{
    struct fiber *fiber = current;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(fiber->ended ? NULL : &fiber->fake, loop_bottom, loop_size);
    swapcontext(&fiber->context, &loop_context);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(fiber->fake, &loop_bottom, &loop_size);
}

static void enter(struct fiber *fiber)
{
    current = fiber;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&loop_fake, fiber->stack, STACK);
    swapcontext(&loop_context, &fiber->context);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(loop_fake, NULL, NULL);
    current = NULL;
}

__attribute__((noreturn)) static void end(void)
{
    current->ended = true;
    leave();
    abort();
}

/* Until there is something on the receiver's own socket. Clients' sockets never block. */
static void wait_for(int fd, short events)
{
    while (fd == current->fd && poll(&(struct pollfd){.fd = fd, .events = events}, 1, 0) != 1)
        leave();
}

/* ---- the receiver itself, with other words for what waits or is of the whole process ---- */

#undef RECEIVER_FD
#define RECEIVER_FD current->fd
#define message_receive_bytes(fd, ...)                                                             \
    (wait_for(fd, POLLIN), message_receive_bytes(fd, __VA_ARGS__))
#define message_send_encoded(fd, ...) (wait_for(fd, POLLOUT), message_send_encoded(fd, __VA_ARGS__))
#define poll(fds, count, time)        ((void)(time), leave(), poll(fds, count, 0))
#define prctl(...)                    ((void)0)
#define signal(number, handler)       ((void)0)
#define _exit(status)                 end()
#include "daemon/serve/receiver.c"
#undef poll

static void run(void)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(NULL, &loop_bottom, &loop_size);
    receiver_run();
    end();
}

/* ---- in place of libuv's ---- */

int uv_spawn(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *options)
{
    struct fiber *fiber = calloc(1, sizeof *fiber);
    void *stack = malloc(STACK);
    if (!fiber || !stack)
        fuzz_fail("no memory for a receiver");
    *fiber = (struct fiber){.process = process,
                            .on_exit = options->exit_cb,
                            .fd = fcntl(options->stdio[3].data.fd, F_DUPFD_CLOEXEC, 0),
                            .stack = stack};
    getcontext(&fiber->context);
    fiber->context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
    makecontext(&fiber->context, run, 0);
    LIST_INSERT_HEAD(&fibers, fiber, in_list);
    return uv_idle_init(loop, (uv_idle_t *)process); /* a handle that can be closed */
}

int uv_process_kill(uv_process_t *process, int number)
{
    struct fiber *fiber;
    LIST_FOREACH (fiber, &fibers, in_list)
        if (fiber->process == process)
            fiber->ended = true;
    (void)number;
    return 0;
}

void receivers_turn(void)
{
    struct fiber *fiber, *next;
    for (fiber = LIST_FIRST(&fibers); fiber; fiber = next) {
        next = LIST_NEXT(fiber, in_list);
        if (!fiber->ended)
            enter(fiber);
        if (!fiber->ended)
            continue;
        LIST_REMOVE(fiber, in_list);
        close(fiber->fd);
        fiber->on_exit(fiber->process, 0, 0);
        free(fiber->stack);
        free(fiber);
    }
}
