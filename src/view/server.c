#include "view/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "view/page.h"

#define CONNECTIONS_MAX  256
#define STRANGERS_MAX    32 /* connections that have not shown the token */
#define STRANGER_SECONDS 5  /* for the page's own files, or to show it */
#define IDLE_SECONDS     60
#define CONNECTION_BYTES (128 * 1024) /* of a request's header */
#define FORWARD_TICK     500          /* milliseconds */
#define BODY_MAX         65536        /* of a request's body, which is not read */

/* A connection. */
struct visitor {
    LIST_ENTRY(visitor) link;
    int fd;
    uint64_t since;
    bool known; /* it has shown the token */
};

struct server {
    struct viewer *view;
    struct MHD_Daemon *daemon;
    uint16_t port;
    char token[SERVER_TOKEN_SIZE];
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t closing_changed;
    bool closing;
    unsigned n_pages;
    bool ever_page;
    unsigned n_strangers;
    LIST_HEAD(, visitor) visitors; /* the newest first */
};

/* ---- connections ---- */

static void on_connection(void *server, struct MHD_Connection *mhd, void **visitor_,
                          enum MHD_ConnectionNotificationCode code)
{
    struct server *s = server;
    struct visitor *visitor = *visitor_;
    pthread_mutex_lock(&s->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED && (visitor = calloc(1, sizeof *visitor))) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        visitor->fd = info ? info->connect_fd : -1;
        visitor->since = clock_now();
        s->n_strangers++;
        LIST_INSERT_HEAD(&s->visitors, visitor, link);
        *visitor_ = visitor;
    } else if (code == MHD_CONNECTION_NOTIFY_CLOSED && visitor) {
        s->n_strangers -= !visitor->known;
        LIST_REMOVE(visitor, link);
        free(visitor);
        *visitor_ = NULL;
    }
    pthread_mutex_unlock(&s->lock);
}

static void know(struct server *s, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct visitor *visitor = info ? info->socket_context : NULL;
    pthread_mutex_lock(&s->lock);
    if (visitor && !visitor->known) {
        visitor->known = true;
        s->n_strangers--;
    }
    pthread_mutex_unlock(&s->lock);
}

/* The thread of a connection that is cut sees its end, and closes it. Where there are many, those
 * that had a second give way: a page that has only just come is not among them. */
void server_tick(struct server *s)
{
    struct visitor *visitor;
    uint64_t now = clock_now();
    pthread_mutex_lock(&s->lock);
    uint64_t patience = (s->n_strangers > STRANGERS_MAX ? 1 : STRANGER_SECONDS) * SECOND;
    LIST_FOREACH (visitor, &s->visitors, link)
        if (!visitor->known && now - visitor->since > patience)
            shutdown(visitor->fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
}

/* ---- who may ask ---- */

static const char *header(struct MHD_Connection *mhd, const char *name)
{
    return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

/* A name of the loopback with any port, since a port may be forwarded. */
static bool is_loopback(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 &&
            (host[length] == '\0' ||
             (host[length] == ':' &&
              strspn(host + length + 1, "0123456789") == strlen(host + length + 1))))
            return true;
    }
    return false;
}

static bool has_value(struct MHD_Connection *mhd, const char *name, const char *value)
{
    const char *given = header(mhd, name);
    return given && strcmp(given, value) == 0;
}

static bool is_own_page(struct MHD_Connection *mhd)
{
    static const char scheme[] = "http://";
    const char *host = header(mhd, MHD_HTTP_HEADER_HOST), *origin = header(mhd, "Origin");
    if (!host || !is_loopback(host))
        return false;
    if (origin && (strncmp(origin, scheme, sizeof scheme - 1) != 0 ||
                   strcmp(origin + sizeof scheme - 1, host) != 0))
        return false;
    return !header(mhd, "Sec-Fetch-Site") || has_value(mhd, "Sec-Fetch-Site", "same-origin") ||
           has_value(mhd, "Sec-Fetch-Site", "none");
}

/* Somebody who follows a link to the page, in a tab: one in the file that the desktop opens, or in
 * an editor's terminal. The site that had the link sees nothing of it. */
static bool is_visit(struct MHD_Connection *mhd, const char *path, const char *method)
{
    const char *host = header(mhd, MHD_HTTP_HEADER_HOST);
    return host && is_loopback(host) && !header(mhd, "Origin") && strcmp(method, "GET") == 0 &&
           strcmp(path, "/") == 0 && has_value(mhd, "Sec-Fetch-Mode", "navigate") &&
           has_value(mhd, "Sec-Fetch-Dest", "document");
}

/* Takes as long for a wrong token as for another one. */
static bool knows_token(const struct server *s, struct MHD_Connection *mhd)
{
    const char *token = header(mhd, "Sluice-Token");
    unsigned char different = 0;
    if (!token || strlen(token) != SERVER_TOKEN_SIZE - 1)
        return false;
    for (size_t i = 0; i < SERVER_TOKEN_SIZE - 1; i++)
        different |= (unsigned char)(token[i] ^ s->token[i]);
    return different == 0;
}

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *mhd, unsigned status, const char *type,
                                     bool is_page, struct MHD_Response *response)
{
    static const struct {
        const char *name, *value;
    } headers[] = {
        {"Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; "
                                    "form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
    };
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            is_page ? "no-cache" : "no-store");
    if (status == 405)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
    enum MHD_Result result = MHD_queue_response(mhd, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *mhd, unsigned status, const char *why)
{
    return send_response(mhd, status, "text/plain; charset=utf-8", false,
                         MHD_create_response_from_buffer(strlen(why), (void *)(uintptr_t)why,
                                                         MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_page(struct MHD_Connection *mhd, const char *path)
{
    for (const struct page_file *file = page_files; file->path; file++)
        if (strcmp(path, file->path) == 0)
            return send_response(mhd, 200, file->type, true,
                                 MHD_create_response_from_buffer(file->size,
                                                                 (void *)(uintptr_t)file->data,
                                                                 MHD_RESPMEM_PERSISTENT));
    return refuse(mhd, 404, "no such page\n");
}

/* ---- the stream that a page holds open ---- */

/* A line each second: the page sees the end of the command, and the command that of the page. */
static ssize_t beat(void *server, uint64_t position, char *buffer, size_t room)
{
    struct server *s = server;
    struct timespec until;
    pthread_mutex_lock(&s->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (!s->closing && position > 0)
        pthread_cond_timedwait(&s->closing_changed, &s->lock, &until);
    bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    if (closing || room == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    buffer[0] = '\n';
    return 1;
}

/* A stream of the daemon's, passed on. */
struct forward {
    struct server *server;
    int fd;
};

static ssize_t pass_on(void *forward, uint64_t position, char *buffer, size_t room)
{
    struct forward *f = forward;
    struct pollfd ready = {f->fd, POLLIN, 0};
    for (;;) {
        pthread_mutex_lock(&f->server->lock);
        bool closing = f->server->closing;
        pthread_mutex_unlock(&f->server->lock);
        if (closing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (poll(&ready, 1, FORWARD_TICK) <= 0)
            continue;
        ssize_t got = recv(f->fd, buffer, room, MSG_DONTWAIT);
        if (got > 0)
            return got;
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return MHD_CONTENT_READER_END_OF_STREAM;
    }
}

static void forward_ended(void *forward)
{
    struct forward *f = forward;
    file_close(&f->fd);
    free(f);
}

static enum MHD_Result send_stream(struct server *s, struct MHD_Connection *mhd,
                                   struct view_answer *answer)
{
    struct forward *f = malloc(sizeof *f);
    struct MHD_Response *response = NULL;
    if (f) {
        *f = (struct forward){s, answer->stream};
        response =
            MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, pass_on, f, forward_ended);
    }
    if (!response) {
        file_close(&answer->stream);
        free(f);
    }
    return send_response(mhd, answer->status, answer->type, false, response);
}

static void page_left(void *server)
{
    struct server *s = server;
    pthread_mutex_lock(&s->lock);
    s->n_pages--;
    pthread_mutex_unlock(&s->lock);
}

static enum MHD_Result hold_page(struct server *s, struct MHD_Connection *mhd)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64, beat, s, page_left);
    if (!response)
        return MHD_NO;
    pthread_mutex_lock(&s->lock);
    s->n_pages++;
    s->ever_page = true;
    pthread_mutex_unlock(&s->lock);
    return send_response(mhd, 200, "text/plain; charset=utf-8", false, response);
}

unsigned server_pages(struct server *s, bool *ever)
{
    pthread_mutex_lock(&s->lock);
    unsigned n_pages = s->n_pages;
    *ever = s->ever_page;
    pthread_mutex_unlock(&s->lock);
    return n_pages;
}

/* ---- requests ---- */

static const char *query(const struct view_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result answer_api(struct server *s, struct MHD_Connection *mhd, const char *path,
                                  const char *method)
{
    struct view_request request = {
        .path = path, .is_post = strcmp(method, "POST") == 0, .query = query, .connection = mhd};
    struct view_answer answer = {0};
    if (!knows_token(s, mhd))
        return refuse(mhd, 401,
                      "the token is missing or wrong: open the address that the command printed\n");
    know(s, mhd);
    if (strcmp(path, "alive") == 0 && !request.is_post)
        return hold_page(s, mhd);
    tune_answer(s->view, &request, &answer);
    if (answer.status == 0)
        watch_answer(s->view, &request, &answer);
    if (answer.status == 0)
        return refuse(mhd, 404, "no such path\n");
    if (answer.streams)
        return send_stream(s, mhd, &answer);
    return send_response(
        mhd, answer.status, answer.type, false,
        MHD_create_response_from_buffer(answer.size, answer.body, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result on_request(void *server, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    static const char api[] = "/api/";
    static char seen;
    struct server *s = server;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!*state) { /* the header is there, a body perhaps not */
        *state = &seen;
        return MHD_YES;
    }
    if (*size > 0) { /* no request needs a body; what is sent is not kept */
        bool too_much = *size > BODY_MAX;
        *size = 0;
        return too_much ? MHD_NO : MHD_YES;
    }
    if (!is_own_page(mhd) && !is_visit(mhd, url, method))
        return refuse(mhd, 403, "only the page itself may ask, at an address of this machine\n");
    if (!reads && strcmp(method, "POST") != 0)
        return refuse(mhd, 405, "GET, HEAD or POST\n");
    if (strncmp(url, api, sizeof api - 1) == 0)
        return answer_api(s, mhd, url + sizeof api - 1, method);
    return reads ? send_page(mhd, url) : refuse(mhd, 405, "GET or HEAD\n");
}

/* ---- life ---- */

static int make_token(struct server *s, struct fault *fault)
{
    uint8_t bytes[(SERVER_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return fault_set_errno(fault, FAULT_INTERNAL, "getrandom");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int listen_here(struct server *s, uint16_t port, int *fd, struct fault *fault)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int on = 1;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd >= 0)
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(*fd, CONNECTIONS_MAX) != 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &size) != 0) {
        if (errno == EADDRINUSE)
            return fault_set(fault, FAULT_USAGE,
                             "port %u of 127.0.0.1 is in use (--port 0 takes a free one)", port);
        return fault_set_errno(fault, FAULT_IO, "a socket on 127.0.0.1");
    }
    s->port = ntohs(address.sin_port);
    return 0;
}

int server_open(struct server **server, struct viewer *view, uint16_t port, struct fault *fault)
{
    struct server *s = calloc(1, sizeof *s);
    int fd = -1;
    *server = s;
    if (!s)
        return fault_set(fault, FAULT_MEMORY, "no memory for a server");
    s->view = view;
    LIST_INIT(&s->visitors);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->closing_changed, NULL);
    int result = make_token(s, fault);
    if (result == 0)
        result = listen_here(s, port, &fd, fault);
    if (result == 0)
        s->daemon =
            MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                                 MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG,
                             0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, log_library,
                             "view", MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                             (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
                             (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                             (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                             MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (result == 0 && !s->daemon)
        result = fault_set(fault, FAULT_INTERNAL, "libmicrohttpd does not start");
    if (result != 0) {
        file_close(&fd);
        server_close(server);
    }
    return result;
}

void server_close(struct server **server)
{
    struct server *s = *server;
    *server = NULL;
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->closing_changed);
    pthread_mutex_unlock(&s->lock);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    pthread_cond_destroy(&s->closing_changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

const char *server_token(const struct server *server)
{
    return server->token;
}
