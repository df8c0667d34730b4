/* Bytes of a stranger, or of the page, to the server of sluice view, over the loopback. TOKEN in
 * them becomes the token. The first byte says in how many pieces they come and whether the client
 * reads. Whatever comes, what is answered is HTTP, nothing of the file that was not named is in it,
 * and nothing is left of a client that has gone. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "view/compute.h"
#include "view/server.h"

#define SECRET "nobody may read this"

static struct view_options options;
static struct viewer view = {.options = &options, .chain = "invert"};
static struct server *server;
static char folder[] = "/tmp/fuzz-view-XXXXXX";

static void write_file(const char *name, const char *text, size_t size)
{
    struct fault fault = FAULT_INIT;
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0)
        fuzz_fail("no file: %s", fault.text);
}

static void clean_up(void)
{
    char path[100];
    server_close(&server);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "secret" : "a.pgm");
        unlink(path);
    }
    rmdir(folder);
}

static void start(void)
{
    static const char picture[] = "P5 4 2 255\nabcdefgh";
    static char path[100], *operands[] = {path};
    struct fault fault = FAULT_INIT;
    struct inputs_rules rules = {0};
    struct engine_options engine;
    if (!mkdtemp(folder))
        fuzz_fail("no folder");
    write_file("a.pgm", picture, sizeof picture - 1);
    write_file("secret", SECRET, sizeof SECRET - 1);
    snprintf(path, sizeof path, "%s/a.pgm", folder);
    options.common = (struct common_options){.device = "native",
                                             .platform_index = -1,
                                             .device_index = -1,
                                             .max_pixels = 1 << 16,
                                             .max_file = 1 << 16,
                                             .memory = 4 << 20,
                                             .threads = 1};
    cli_engine_options(&options.common, &engine);
    view.files = calloc(1, sizeof *view.files);
    view.n_files = 1;
    if (decode_options_parse(&view.decode, NULL, "", &fault) != 0 ||
        inputs_gather(&view.inputs, operands, 1, &rules, &fault) != 0 ||
        compute_open(&view.compute, &view, &fault) != 0 ||
        engine_open(&view.engine, &engine, &fault) != 0 ||
        server_open(&server, &view, 0, &fault) != 0)
        fuzz_fail("no server: %s", fault.text);
    atexit(clean_up);
}

/* What the bytes mean: TOKEN is the token, so that more than its absence is reached. */
static struct bytes put_token(const uint8_t *data, size_t size)
{
    static const char word[] = "TOKEN";
    size_t length = sizeof word - 1, token = SERVER_TOKEN_SIZE - 1;
    struct bytes made = {malloc(size / length * token + size + 1), 0};
    for (size_t i = 0; i < size;) {
        bool is_word = size - i >= length && memcmp(data + i, word, length) == 0;
        memcpy(made.data + made.size, is_word ? (const void *)server_token(server) : data + i,
               is_word ? token : 1);
        made.size += is_word ? token : 1;
        i += is_word ? length : 1;
    }
    return made;
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *list = opendir(path);
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

/* Descriptors and threads. */
static size_t count_all(void)
{
    return count_entries("/proc/self/fd") + count_entries("/proc/self/task");
}

/* Returns when the server has a thread for the connection. */
static int visit(void)
{
    size_t before = count_all();
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(server_port(server)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINTR))
        fuzz_fail("no connection: %s", strerror(errno));
    for (int i = 0; i < 20000 && count_all() < before + 3; i++)
        usleep(50);
    return fd;
}

/* Reads what comes until nothing more does. `first`: an answer begins. */
static void read_answers(int fd, int wait, bool *first)
{
    static char buffer[65536];
    struct pollfd ready = {fd, POLLIN, 0};
    while (poll(&ready, 1, wait) > 0) {
        ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got <= 0)
            return;
        if (*first && memcmp(buffer, "HTTP/1.", got < 7 ? (size_t)got : 7) != 0)
            fuzz_fail("an answer begins with '%.*s'", (int)got, buffer);
        *first = false;
        if (memmem(buffer, (size_t)got, SECRET, sizeof SECRET - 1))
            fuzz_fail("a file that was not named");
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    if (!server)
        start();
    size_t before = count_all();
    uint8_t how = fuzz_take_byte(&bytes);
    struct bytes said = put_token(bytes.data, bytes.size);
    size_t n_pieces = 1 + how % 4, at = 0;
    bool first = true;
    int fd = visit();
    for (size_t i = 0; i < n_pieces; i++) {
        size_t end = said.size * (i + 1) / n_pieces;
        if (send(fd, said.data + at, end - at, MSG_NOSIGNAL) != (ssize_t)(end - at))
            break; /* it was cut */
        at = end;
        if (how & 0x10)
            read_answers(fd, 0, &first);
    }
    if (!(how & 0x20)) {
        shutdown(fd, SHUT_WR);
        read_answers(fd, 20, &first);
    }
    close(fd);
    bytes_finish(&said);
    /* A page's stream looks once a second. */
    size_t left = before + 1;
    for (int i = 0; i < 20000 && left > before; i++) {
        left = count_all();
        if (left > before)
            usleep(500);
    }
    if (left > before)
        fuzz_fail("a descriptor or a thread is left");
}
