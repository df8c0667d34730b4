#include "relay/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "relay/hub_internal.h"

#define CONNECT_TIME    5000  /* ms */
#define PING_INTERVAL   10000 /* ms; two that are not answered end the connection */
#define WRITE_TIME      60000 /* ms, and 1 s more for each MiB of `inline` */
#define PENDING_BYTES   (1 << 20)
#define CREDENTIALS_MAX 65536
#define BAD_CERTIFICATE "the certificate is refused: %.300s"
#define SERVERS_MAX     100

/* An error that every slot meets is logged again after so long. */
#define TOLD_AGAIN (60 * SECOND)

const char *hub_error_text(natsStatus status)
{
    natsStatus last = NATS_OK;
    const char *text = nats_GetLastError(&last);
    if (!text || !text[0] || last != status)
        return natsStatus_GetText(status);
    /* skips the line number that OpenSSL puts in front */
    const char *behind = text[0] == '(' ? strstr(text, "): ") : NULL;
    return behind ? behind + 3 : text;
}

char *hub_show_url(const char *url, char *shown, size_t size)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end ? scheme_end + 3 : url, *end = url + strcspn(url, "?#");
    int scheme = (int)(host - url);
    for (const char *at = host; *at && !strchr("/?#", *at); at++)
        if (*at == '@')
            host = at + 1;
    snprintf(shown, size, "%.*s%.*s", scheme, url, host < end ? (int)(end - host) : 0, host);
    return shown;
}

/* ---- callbacks of the library, on its own threads ---- */

static const char *last_error(natsConnection *nats)
{
    const char *text = NULL;
    natsConnection_GetLastError(nats, &text);
    return text && text[0] ? text : "the connection broke";
}

/* OpenSSL's text after it has checked a certificate; a handshake that breaks off is a problem of
 * the connection instead. */
static bool is_certificate(const char *text)
{
    return strstr(text, ":depth=") || strcasestr(text, "certificate");
}

static void on_error(natsConnection *nats, natsSubscription *subscription, natsStatus status,
                     void *user)
{
    struct hub *hub = user;
    const char *text = last_error(nats);
    if (hub->ending)
        return;
    hub->denied |= status == NATS_NOT_PERMITTED;
    if (strstr(text, "STREAM.MSG.GET"))
        hub->no_get = true;
    if (strcmp(text, hub->told) == 0 && clock_now() - hub->told_at < TOLD_AGAIN)
        return;
    snprintf(hub->told, sizeof hub->told, "%s", text);
    hub->told_at = clock_now();
    log_warning("hub: %s: %s", natsStatus_GetText(status), text);
}

static void on_disconnected(natsConnection *nats, void *user)
{
    struct hub *hub = user;
    hub->up = false;
    if (!hub->ending)
        log_warning("hub: the link is down: %s", last_error(nats));
}

static void on_connected(struct hub *hub, natsConnection *nats)
{
    char url[512] = "", shown[300];
    hub->connections++;
    hub->up = true;
    natsConnection_GetConnectedUrl(nats, url, sizeof url);
    log_info("hub: connected to %s", hub_show_url(url, shown, sizeof shown));
}

static void on_reconnected(natsConnection *nats, void *user)
{
    on_connected(user, nats);
}

static void on_closed(natsConnection *nats, void *user)
{
    struct hub *hub = user;
    hub->up = false;
    if (!hub->ending)
        log_error("hub: the server has closed the connection: %s", last_error(nats));
    hub->closed = true;
}

/* ---- options ---- */

static int open_named(const char *path, const char *key, int *fd, struct fault *fault)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0)
        return 0;
    return fault_set(fault, errno == EACCES || errno == EPERM ? FAULT_PERMISSION : FAULT_CONFIG,
                     "relay: %s: %.300s: %s", key, path, strerror(errno));
}

/* Reads USER:PASSWORD, which must be all that the line has. */
static bool split_password(char *text, char **password)
{
    *password = strchr(text, ':');
    if (!*password)
        return false;
    *(*password)++ = '\0';
    size_t length = strcspn(*password, "\r\n");
    bool alone = strspn(*password + length, "\r\n") == strlen(*password + length);
    (*password)[length] = '\0';
    return text[0] && length > 0 && alone && !strpbrk(text, " \r\n");
}

static int set_credentials(natsOptions *options, const char *path, struct fault *fault)
{
    struct bytes bytes = {0};
    char text[CREDENTIALS_MAX + 1], *password;
    natsStatus status;
    int fd, result = open_named(path, "credentials", &fd, fault);
    if (result != 0)
        return result;
    result = file_read(fd, CREDENTIALS_MAX, &bytes, fault);
    close(fd);
    if (result != 0)
        return result;
    snprintf(text, sizeof text, "%.*s", (int)bytes.size, (const char *)bytes.data);
    if (strstr(text, "BEGIN NATS USER JWT"))
        status = natsOptions_SetUserCredentialsFromFiles(options, path, NULL);
    else if (split_password(text, &password))
        status = natsOptions_SetUserInfo(options, text, password);
    else
        status = NATS_INVALID_ARG;
    explicit_bzero(text, sizeof text);
    explicit_bzero(bytes.data, bytes.size);
    bytes_finish(&bytes);
    if (status == NATS_OK)
        return 0;
    return fault_set(fault, FAULT_PERMISSION,
                     "relay: credentials: %.300s: neither NATS credentials (.creds) nor one line "
                     "USER:PASSWORD",
                     path);
}

static int set_tls(natsOptions *options, const struct relay_settings *settings, struct fault *fault)
{
    int fd;
    if (!settings->ca && !strstr(settings->servers, "tls://"))
        return 0;
    natsStatus status = natsOptions_SetSecure(options, true);
    if (settings->ca) {
        int result = open_named(settings->ca, "tls: ca", &fd, fault);
        if (result != 0)
            return result;
        close(fd);
        if (status == NATS_OK)
            status = natsOptions_LoadCATrustedCertificates(options, settings->ca);
    }
    if (status == NATS_OK)
        return 0;
    return fault_set(fault, FAULT_CONFIG, "relay: tls: %.300s", hub_error_text(status));
}

static natsStatus set_servers(natsOptions *options, const char *list)
{
    const char *servers[SERVERS_MAX];
    char *copy = strdup(list), *rest = NULL;
    int count = 0;
    if (!copy)
        return NATS_NO_MEMORY;
    for (char *at = strtok_r(copy, " ", &rest); at && count < SERVERS_MAX;
         at = strtok_r(NULL, " ", &rest))
        servers[count++] = at;
    natsStatus status = natsOptions_SetServers(options, servers, count);
    free(copy);
    return status;
}

static int make_options(struct hub *hub, const char *name, struct fault *fault)
{
    const struct relay_settings *settings = hub->settings;
    natsStatus s = natsOptions_Create(&hub->options);
    natsOptions *o = hub->options;
    int64_t write_time = WRITE_TIME + (int64_t)(settings->inline_max >> 20) * 1000;
    const natsStatus steps[] = {
        s != NATS_OK ? s : set_servers(o, settings->servers),
        natsOptions_SetName(o, name),
        natsOptions_SetTimeout(o, CONNECT_TIME),
        natsOptions_SetPingInterval(o, PING_INTERVAL),
        natsOptions_SetMaxPingsOut(o, 2),
        natsOptions_SetMaxReconnect(o, -1),
        natsOptions_SetReconnectWait(o, 1000),
        natsOptions_SetReconnectBufSize(o, PENDING_BYTES),
        natsOptions_SetFailRequestsOnDisconnect(o, true),
        natsOptions_SetWriteDeadline(o, write_time),
        natsOptions_SetErrorHandler(o, on_error, hub),
        natsOptions_SetDisconnectedCB(o, on_disconnected, hub),
        natsOptions_SetReconnectedCB(o, on_reconnected, hub),
        natsOptions_SetClosedCB(o, on_closed, hub),
        settings->inbox ? natsOptions_SetCustomInboxPrefix(o, settings->inbox) : NATS_OK,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] != NATS_OK)
            return fault_set(fault, FAULT_CONFIG, "relay: %.300s", hub_error_text(steps[i]));
    int result = settings->credentials ? set_credentials(o, settings->credentials, fault) : 0;
    return result ? result : set_tls(o, settings, fault);
}

/* ---- connections ---- */

/* FAULT_NO_DEVICE: no server answers, which may pass. Other faults would happen again. */
static int connect_once(struct hub *hub, natsConnection **nats, jsCtx **js, struct fault *fault)
{
    const char *servers = hub->settings->servers;
    char first[256], shown[300];
    *js = NULL;
    natsStatus status = natsConnection_Connect(nats, hub->options);
    if (status == NATS_OK && (status = natsConnection_JetStream(js, *nats, NULL)) == NATS_OK)
        return 0;
    natsConnection_Destroy(*nats);
    *nats = NULL;
    const char *text = hub_error_text(status);
    switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
        return fault_set(fault, FAULT_PERMISSION, "the server refuses the credentials: %.300s",
                         text);
    case NATS_SECURE_CONNECTION_WANTED:
        return fault_set(fault, FAULT_CONFIG, "relay: servers: the server does not offer TLS");
    default:
        if (status == NATS_SSL_ERROR && is_certificate(text))
            return fault_set(fault, FAULT_PERMISSION, BAD_CERTIFICATE, text);
        if (strcasestr(text, "authori") || strcasestr(text, "authenti"))
            return fault_set(fault, FAULT_PERMISSION, "the server refuses the credentials: %.300s",
                             text);
        snprintf(first, sizeof first, "%.*s", (int)strcspn(servers, " "), servers);
        return fault_set(fault, FAULT_NO_DEVICE, "no server answers at %s%s: %.200s",
                         hub_show_url(first, shown, sizeof shown),
                         strchr(servers, ' ') ? " and others" : "",
                         strstr(text, "(null)") ? "the TLS handshake breaks off" : text);
    }
}

/* libnats up to 3.10 at least sends no signature whose first byte is 0, so one connection in 256
 * with a credentials file is refused without reason. */
static int connect_thrice(struct hub *hub, natsConnection **nats, jsCtx **js, struct fault *fault)
{
    int result = connect_once(hub, nats, js, fault);
    for (int i = 0; i < 2 && result == FAULT_PERMISSION; i++) {
        clock_sleep(SECOND / 5);
        fault_clear(fault);
        result = connect_once(hub, nats, js, fault);
    }
    return result;
}

int hub_open(struct hub **hub, const struct relay_settings *settings, const char *name,
             uint64_t patience, bool (*stopped)(void *context), void *context, struct fault *fault)
{
    struct hub *h = calloc(1, sizeof *h);
    struct rlimit none = {0, 0};
    uint64_t end = clock_now() + patience;
    *hub = h;
    if (!h)
        return fault_set(fault, FAULT_MEMORY, "no memory for a connection");
    /* credentials are in memory, so no core dump may be written */
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    h->settings = settings;
    pthread_rwlock_init(&h->lock, NULL);
    int result = make_options(h, name, fault);
    for (int n = 0; result == 0 && (result = connect_thrice(h, &h->nats, &h->js, fault)) != 0;
         n++) {
        if (result != FAULT_NO_DEVICE || clock_now() >= end || stopped(context))
            break;
        if (n == 0)
            log_info("%s; tried again for %.0f s", fault->text, (double)patience * 1e-9);
        fault_clear(fault);
        for (int i = 0; i < 10 && !stopped(context); i++)
            clock_sleep(SECOND / 10);
        result = 0;
    }
    if (result == 0)
        on_connected(h, h->nats);
    else
        hub_close(hub);
    return result;
}

/* nats_Close is not called: in libnats 3.4 it frees what OpenSSL frees again at exit. */
void hub_close(struct hub **hub)
{
    struct hub *h = *hub;
    *hub = NULL;
    if (!h)
        return;
    h->ending = true;
    if (h->nats && h->up)
        natsConnection_FlushTimeout(h->nats, 2000);
    natsConnection_Close(h->nats);
    /* Waits for the library's last callback, since it uses `h`. */
    for (int i = 0; h->nats && !h->closed && i < 200; i++)
        clock_sleep(SECOND / 100);
    jsCtx_Destroy(h->js);
    natsConnection_Destroy(h->nats);
    natsOptions_Destroy(h->options);
    pthread_rwlock_destroy(&h->lock);
    free(h);
}

bool hub_is_up(const struct hub *hub)
{
    return hub->up;
}

bool hub_is_denied(const struct hub *hub)
{
    return hub->denied;
}

unsigned hub_connections(const struct hub *hub)
{
    return hub->connections;
}

int hub_mend(struct hub *hub, struct fault *fault)
{
    natsConnection *nats = NULL;
    jsCtx *js = NULL;
    const char *text = NULL;
    /* With a certificate that no trial can make right the library would try for ever. */
    if (!hub->up && natsConnection_GetLastError(hub->nats, &text) == NATS_SSL_ERROR && text &&
        is_certificate(text))
        return fault_set(fault, FAULT_PERMISSION, BAD_CERTIFICATE, text);
    if (!hub->closed)
        return 0;
    hub->closed = false; /* from here on the new connection is meant */
    int result = connect_thrice(hub, &nats, &js, fault);
    if (result != 0) {
        hub->closed = true;
        if (result == FAULT_PERMISSION)
            return result;
        fault_clear(fault); /* there will be another attempt */
        return 0;
    }
    pthread_rwlock_wrlock(&hub->lock);
    jsCtx_Destroy(hub->js);
    natsConnection_Destroy(hub->nats);
    hub->nats = nats;
    hub->js = js;
    pthread_rwlock_unlock(&hub->lock);
    on_connected(hub, nats);
    return 0;
}
