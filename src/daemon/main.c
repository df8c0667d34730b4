/* sluiced: the daemon's front. It never parses a pixel, and loads neither OpenCL nor a codec. */
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/front.h"
#include "daemon/options.h"
#include "daemon/state.h"
#include "param/options.h"

/* A job of many planes has a descriptor for each; the usual soft limit is for programs that use
 * select(2). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    struct daemon_options options;
    struct settings settings;
    struct fault fault = FAULT_INIT;
    int state_fd;
    int status = daemon_options_read(&options, &settings, argc, argv);
    if (status >= 0)
        return status;
    log_init("sluiced", settings.log_level);
    raise_descriptor_limit();
    if (state_open(settings.state, &state_fd, &fault) != 0)
        return options_complain("sluiced", "state", &fault);
    status = front_run(&settings);
    close(state_fd);
    return status;
}
