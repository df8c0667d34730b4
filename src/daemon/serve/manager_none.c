/* For builds without libsystemd: there is never a manager. */
#include "daemon/serve/manager.h"

void manager_init(void)
{
}

bool manager_listens(void)
{
    return false;
}

uint64_t manager_watchdog(void)
{
    return 0;
}

void manager_say(const char *format, ...)
{
    (void)format;
}

bool manager_has_socket(int type)
{
    (void)type;
    return false;
}

bool manager_gave_sockets(void)
{
    return false;
}

int manager_take_socket(int type, char *path, size_t size)
{
    (void)type;
    (void)path;
    (void)size;
    return -1;
}

void manager_drop_sockets(void)
{
}
