/* sluice-worker: runs jobs that arrive as messages. sluiced starts it; users do not. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "version.h"
#include "worker/keeper.h"
#include "worker/message.h"
#include "worker/serve.h"
#include "worker/signals.h"

static bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        puts("sluice-worker " SLUICE_VERSION);
        return 0;
    }
    bool kept = argc == 2 && strcmp(argv[1], KEEPER_KEPT) == 0;
    if ((argc > 1 && !kept) || !is_socket(MESSAGE_WORKER_FD)) {
        fputs("sluice-worker: it is started by sluiced and has no use of its own\n", stderr);
        return 64;
    }
    log_show_time();
    log_never_wait();
    log_init("sluice-worker", LOG_LEVEL_WARNING);
    signals_forget_inherited();
    signals_settle();
    keeper_stay_behind(argv, MESSAGE_WORKER_FD);
    /* PoCL's cache then lies below ours, so that we may empty it */
    unsetenv("POCL_CACHE_DIR");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the socket's end of file tells the same, but later */
    /* programs that a driver starts (PoCL: ld) gain no rights */
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) { /* drivers print banners to stdout */
        log_error("stdout cannot be moved aside");
        return 74;
    }
    return serve(MESSAGE_WORKER_FD);
}
