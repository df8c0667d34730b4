#include "worker/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/message.h"

static pid_t worker;

static void on_kill(int number)
{
    int before = errno;
    kill(worker, SIGKILL);
    errno = before;
}

/* For kernels without CONFIG_PROC_CHILDREN: kills every process whose parent we are. */
static void kill_by_parent(void)
{
    DIR *stream = opendir("/proc");
    struct dirent *entry;
    while (stream && (entry = readdir(stream)) != NULL) {
        char path[300], text[400] = "";
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const char *name_end = strrchr(text, ')');
        if (name_end && sscanf(name_end, ") %*c %d", &parent) == 1 && parent == getpid())
            kill(atoi(entry->d_name), SIGKILL);
    }
    if (stream)
        closedir(stream);
}

/* Children of a child that died become ours; this goes on until there are none. */
static void kill_the_rest(void)
{
    char path[60];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int rounds = 0; waitpid(-1, NULL, WNOHANG) >= 0 || errno == EINTR; rounds++) {
        if (rounds > 1000) /* whoever still forks loses, and others need time to end */
            usleep(1000);
        FILE *file = fopen(path, "re");
        int pid;
        while (file && fscanf(file, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (file)
            fclose(file);
        else
            kill_by_parent();
    }
}

static void keep(pid_t front)
{
    struct sigaction action = {.sa_handler = on_kill, .sa_flags = SA_RESTART};
    int status = 0;
    pid_t ended;
    prctl(PR_SET_NAME, "sluice-keeper");
    sigaction(MESSAGE_KILL_SIGNAL, &action, NULL);
    prctl(PR_SET_PDEATHSIG, MESSAGE_KILL_SIGNAL);
    if (getppid() != front)
        on_kill(0);
    /* the worker's own: the front must see when the worker closes them */
    for (int fd = 0; fd < 64; fd++)
        close(fd);
    do
        ended = waitpid(-1, &status, 0);
    while (ended != worker && (ended > 0 || errno == EINTR));
    signal(MESSAGE_KILL_SIGNAL, SIG_IGN); /* its pid may belong to another process now */
    kill_the_rest();
    /* we end as it did */
    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0); /* one core file is enough */
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void keeper_stay_behind(int socket)
{
    struct fault fault = FAULT_INIT;
    pid_t front = getppid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    worker = fork();
    if (worker > 0)
        keep(front);
    const struct message kept = {MESSAGE_INIT(MESSAGE_KEPT), .pid = getpid()};
    if (worker == 0)
        message_send(socket, &kept, &fault);
    /* else the worker has no keeper, and the front is told of none */
}
