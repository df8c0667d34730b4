/* What a worker that was taken over says to the front: messages in any order, a hang-up, a death.
 * One instruction a line: a message as JSON, "H" hangs up, "K" and "S" die by SIGKILL and SIGSEGV,
 * "J" a client comes with a job, "C" the client that came first leaves. However it goes, each job
 * ends once, and nothing is left of it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/serve/client_job.h"
#include "front.h"
#include "fuzz.h"
#include "worker/message.h"

#define JOBS_MAX 8

static struct {
    struct client_job *jobs[JOBS_MAX];
    unsigned n_jobs;
} clients;

static void on_ended(struct client_job *job, const struct message *report)
{
    (void)report;
    struct client_job **slot = job->how.client;
    if (*slot != job)
        fuzz_fail("a job ended twice");
    client_job_destroy(slot);
}

static void add_job(struct fuzz_front *front, struct account *account)
{
    if (clients.n_jobs == JOBS_MAX)
        return;
    struct client_job **slot = &clients.jobs[clients.n_jobs];
    struct fault fault = FAULT_INIT;
    struct request request = {.id = -1, .chain = "sobel", .format = "png"};
    struct client_job_how how = {.origin = "jobs",
                                 .id = "1",
                                 .flow = &account->flow,
                                 .account = account,
                                 .request = &request,
                                 .in_fd = memfd_create("fuzz", MFD_CLOEXEC),
                                 .out_fd = -1,
                                 .several = clients.n_jobs % 2,
                                 .ended = on_ended,
                                 .client = slot};
    clients.n_jobs++;
    client_job_start(slot, &front->service, &how, &fault);
}

static void say(const char *line, size_t length)
{
    struct message message;
    struct fault fault = FAULT_INIT;
    if (message_decode(&message, line, length, &fault) == 0)
        front_workers_say(&message);
    message_finish(&message);
}

static void follow(struct fuzz_front *front, struct account *account, const char *line,
                   size_t length)
{
    if (length != 1)
        say(line, length);
    else if (line[0] == 'H')
        front_workers_hang_up();
    else if (line[0] == 'K' || line[0] == 'S')
        front_workers_die(line[0] == 'K' ? 9 : 11);
    else if (line[0] == 'J')
        add_job(front, account);
    else if (line[0] == 'C')
        client_job_cancel(&clients.jobs[0]);
    front_turn(front, 2);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    struct fuzz_front front;
    int fd = front_next_fd();
    front_begin(&front, true);
    struct account *account = account_of(&front.service.shares, 1000);
    clients.n_jobs = 0;
    for (int i = 0; i < 200 && bytes.size > 0; i++) {
        size_t length;
        char *line = fuzz_take_text(&bytes, '\n', &length);
        follow(&front, account, line, length);
        free(line);
    }
    for (unsigned i = 0; i < clients.n_jobs; i++)
        client_job_cancel(&clients.jobs[i]);
    front_turn(&front, 4);
    account_leave(account);
    front_end(&front);
    if (!front_is_empty(&front))
        fuzz_fail("something is left of jobs that have ended");
    if (front_next_fd() != fd)
        fuzz_fail("a descriptor is left");
}
