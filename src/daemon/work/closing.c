#include "daemon/work/closing.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL (1 << 20) /* bytes, which take 0.3 ms */

struct closing {
    uv_work_t work;
    int fd;
};

static bool is_small(int fd)
{
    const int fixed = F_SEAL_WRITE | F_SEAL_GROW; /* without, it may grow between fstat and close */
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & fixed) == fixed && fstat(fd, &status) == 0 &&
           status.st_blocks <= SMALL / 512;
}

static void do_close(uv_work_t *work)
{
    close(((struct closing *)work)->fd);
}

static void after_close(uv_work_t *work, int status)
{
    free(work);
}

void closing_take(uv_loop_t *loop, int *fd)
{
    int taken = *fd;
    *fd = -1;
    if (taken < 0)
        return;
    struct closing *closing = is_small(taken) ? NULL : malloc(sizeof *closing);
    if (closing)
        closing->fd = taken;
    if (!closing || uv_queue_work(loop, &closing->work, do_close, after_close) != 0) {
        free(closing);
        close(taken);
    }
}
