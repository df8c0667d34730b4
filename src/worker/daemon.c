#include "worker/daemon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "worker/json_text.h"
#include "worker/message.h"

static int connect_fault(const char *path, struct fault *fault)
{
    int error = errno;
    struct stat status;
    if (error == EACCES || error == EPERM)
        return fault_set(
            fault, FAULT_PERMISSION,
            "%s: %s (the jobs socket; --socket or SLUICE_JOBS_SOCKET name another one)", path,
            strerror(error));
    if (error == EPROTOTYPE || (stat(path, &status) == 0 && !S_ISSOCK(status.st_mode)))
        return fault_set(fault, FAULT_NO_DEVICE,
                         "%s is no jobs socket; sluiced --jobs-socket PATH makes one", path);
    return fault_set(fault, FAULT_NO_DEVICE,
                     "no daemon at %s: %s (sluiced --jobs-socket PATH listens; --socket or "
                     "SLUICE_JOBS_SOCKET say where)",
                     path, strerror(error));
}

int daemon_connect(const char *path, int *fd, struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || !path[0])
        path = getenv("SLUICE_JOBS_SOCKET");
    if (!path || !path[0])
        path = "/run/sluice/jobs.sock";
    *fd = -1;
    if (strlen(path) >= sizeof address.sun_path)
        return fault_set(fault, FAULT_USAGE, "%s: a socket's path has at most %zu bytes", path,
                         sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s < 0)
        return fault_set_errno(fault, FAULT_IO, "socket");
    if (connect(s, (const struct sockaddr *)&address, sizeof address) != 0) {
        connect_fault(path, fault);
        close(s);
        return fault ? fault->code : FAULT_NO_DEVICE;
    }
    *fd = s;
    return 0;
}

int daemon_send(int socket, json_t *object, const int *fds, size_t n_fds, struct fault *fault)
{
    struct text text = {0};
    int result = 0;
    json_append(&text, object);
    if (text.failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a message");
    else if (message_send_encoded(socket, &text, fds, n_fds, NULL) != 0)
        result = fault_set(fault, FAULT_NO_DEVICE, "the daemon has hung up");
    text_finish(&text);
    return result;
}

int daemon_receive(int socket, json_t **object, int *fd, struct fault *fault)
{
    char buffer[MESSAGE_BYTES_MAX];
    int fds[MESSAGE_FDS_MAX];
    size_t size = sizeof buffer, n_fds;
    *object = NULL;
    *fd = -1;
    if (message_receive_bytes(socket, buffer, &size, fds, &n_fds, NULL) != 0)
        return fault_set(fault, FAULT_NO_DEVICE, "the daemon has hung up");
    if (n_fds > 0)
        *fd = fds[0];
    if (n_fds > 1)
        close(fds[1]);
    *object = json_loadb(buffer, size, 0, NULL);
    if (json_is_object(*object))
        return 0;
    json_decref(*object);
    *object = NULL;
    file_close(fd);
    return fault_set(fault, FAULT_INTERNAL, "the daemon said what is no JSON object");
}

int daemon_fault(const json_t *object, enum fault_code code, struct fault *fault)
{
    const char *text = json_string_value(json_object_get(object, "text"));
    const json_t *position = json_object_get(object, "position");
    return fault_set_at(fault, code, position ? (int)json_integer_value(position) : -1,
                        (int)json_integer_value(json_object_get(object, "length")), "%s",
                        text ? text : "the daemon does not say why");
}

int daemon_result(const json_t *object, struct fault *fault)
{
    const char *result = json_string_value(json_object_get(object, "result"));
    enum fault_code code = fault_by_name(result ? result : "");
    return code == FAULT_NONE ? 0 : daemon_fault(object, code, fault);
}

int daemon_ask(int socket, json_t *question, json_t **answer, struct fault *fault)
{
    int fd = -1, result = daemon_send(socket, question, NULL, 0, fault);
    *answer = NULL;
    if (result == 0)
        result = daemon_receive(socket, answer, &fd, fault);
    file_close(&fd);
    return result == 0 ? daemon_result(*answer, fault) : result;
}
