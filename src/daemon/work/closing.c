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
    const int fixed = F_SEAL_WRITE | F_SEAL_GROW; /* without, it may grow between fstat and close */
    int taken = *fd, seals = taken >= 0 ? fcntl(taken, F_GET_SEALS) : -1;
    struct stat status;
    *fd = -1;
    if (taken < 0)
        return;
    bool small = seals >= 0 && (seals & fixed) == fixed && fstat(taken, &status) == 0 &&
                 status.st_blocks <= SMALL / 512;
    struct closing *closing = small ? NULL : malloc(sizeof *closing);
    if (closing)
        closing->fd = taken;
    if (!closing || uv_queue_work(loop, &closing->work, do_close, after_close) != 0) {
        free(closing);
        close(taken);
    }
}
