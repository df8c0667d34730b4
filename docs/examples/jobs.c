/* jobs SOCKET FILE WIDTH HEIGHT: raw grey frames of a file through sluiced, one after the other.
 * A frame goes into a sealed memory file, which the daemon takes as it is. Build: cc jobs.c
 * -ljansson */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

/* Sends `fd` beside the text, or receives one; the two are the same but for the call. */
static ssize_t transfer(int daemon, char *text, size_t size, int *fd, int send)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {0};
    struct iovec part = {text, size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (send) {
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), fd, sizeof(int));
        return sendmsg(daemon, &message, MSG_NOSIGNAL);
    }
    ssize_t got = recvmsg(daemon, &message, MSG_CMSG_CLOEXEC);
    if (got > 0 && message.msg_controllen > 0)
        memcpy(fd, CMSG_DATA(&control.header), sizeof(int));
    return got;
}

int main(int argc, char **argv)
{
    static char text[65536], frame[1 << 26];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 5)
        return 64;
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    size_t size = strtoul(argv[3], NULL, 10) * strtoul(argv[4], NULL, 10);
    FILE *file = fopen(argv[2], "rb");
    int daemon = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    check(file && size <= sizeof frame, argv[2]);
    check(connect(daemon, (struct sockaddr *)&address, sizeof address) == 0, argv[1]);
    for (int number = 0; fread(frame, 1, size, file) == size; number++) {
        int fd = memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        check(write(fd, frame, size) == (ssize_t)size, "memfd");
        check(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0, "seals");
        int length = snprintf(text, sizeof text,
                              "{\"id\": %d, \"chain\": \"luminance,invert\", \"format\": \"raw\", "
                              "\"input\": \"raw=gray8:w=%s:h=%s\"}",
                              number, argv[3], argv[4]);
        check(transfer(daemon, text, (size_t)length, &fd, 1) == length, "sendmsg");
        close(fd);
        fd = -1;
        ssize_t got = transfer(daemon, text, sizeof text, &fd, 0);
        check(got > 0, "recvmsg");
        json_t *report = json_loadb(text, (size_t)got, 0, NULL);
        const char *result = json_string_value(json_object_get(report, "result"));
        check(result && strcmp(result, "ok") == 0 && fd >= 0, text);
        void *pixels = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        check(pixels != MAP_FAILED, "mmap");
        printf("frame %d: %zu bytes, %.3f ms\n", number, (size_t)lseek(fd, 0, SEEK_END),
               json_real_value(json_object_get(report, "total_s")) * 1e3);
        munmap(pixels, size);
        close(fd);
        json_decref(report);
    }
    return 0;
}
