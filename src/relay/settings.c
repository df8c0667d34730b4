#include "relay/settings.h"

#include <ctype.h>
#include <string.h>

#include "base/number.h"

#define AT(member) offsetof(struct relay_settings, member)

static int parse_relay_jobs(const char *text, void *to, struct fault *fault)
{
    return setting_parse_count(text, to, 100, fault);
}

/* For lists and mappings of the file, which the environment has as one text. */
static int parse_text(const char *text, void *to, struct fault *fault)
{
    *(const char **)to = text;
    return 0;
}

const struct setting relay_settings_table[] = {
    {PARAM(TEXT, "servers", AT(servers),
           "list of NATS servers, nats://HOST:PORT or tls://HOST:PORT; in the environment "
           "with blanks between them"),
     .parse = parse_text},
    {PARAM(TEXT, "credentials", AT(credentials),
           "file with NATS credentials (.creds), or with one line USER:PASSWORD")},
    {PARAM(TEXT, "tls", AT(ca),
           "file of the CA certificates that servers are checked with; in the file {ca: "
           "FILE}; else the system's"),
     .variable = "SLUICE_RELAY_TLS_CA", .parse = parse_text},
    {PARAM(TEXT, "stream", AT(stream), "stream that jobs are taken from", DEFAULT("JOBS"))},
    {PARAM(TEXT, "consumer", AT(consumer), "its consumer, which all machines share",
           DEFAULT("fleet"))},
    {PARAM(INTEGER, "jobs", AT(jobs_wanted),
           "jobs that this machine holds at once; auto, or 0: limits.jobs and two more, so that "
           "transfers overlap computing",
           RANGE(0, 100), DEFAULT("auto")),
     .parse = parse_relay_jobs},
    {PARAM(INTEGER, "deliveries", AT(deliveries),
           "times that a job is tried; then, without a verdict, it goes to the stream DEAD "
           "and fails",
           RANGE(1, 1000), DEFAULT("5"))},
    {PARAM(SIZE, "inline", AT(inline_max),
           "largest picture or result that is part of a message; larger ones go by URL",
           RANGE(1024, 8 << 20), DEFAULT("8MB"))},
    {PARAM(TEXT, "get", AT(get),
           "list of prefixes of the URLs that pictures may be fetched from; none: no URLs"),
     .parse = parse_text},
    {PARAM(TEXT, "put", AT(put),
           "list of prefixes of the URLs that results may be stored at; none: no URLs"),
     .parse = parse_text},
    {PARAM(TEXT, "name", AT(name), "this machine's name in results; else its host name")},
    {PARAM(TEXT, "metrics", AT(metrics),
           "file for metrics in Prometheus' text format, written every 10s")},
    {PARAM(TEXT, "inbox", AT(inbox), "prefix of subjects for answers; else _INBOX")},
    {{0}},
};

void relay_settings_complete(struct relay_settings *relay, unsigned jobs)
{
    relay->jobs = relay->jobs_wanted > 0 ? (unsigned)relay->jobs_wanted : jobs + 2;
}

/* Names become parts of NATS subjects, which dots separate. */
static bool is_token(const char *text, const char *also)
{
    size_t length = strlen(text), good = 0;
    while (text[good] && (isalnum((unsigned char)text[good]) || strchr(also, text[good])))
        good++;
    return length > 0 && length < 65 && good == length;
}

/* [USER@]HOST[:PORT], where an IPv6 address stands in brackets. */
static bool is_authority(const char *text, size_t length)
{
    const char *at = memchr(text, '@', length), *end = text + length;
    const char *host = at ? at + 1 : text;
    size_t size = strcspn(host, *host == '[' ? "]" : ": /?#") + (*host == '[');
    int64_t port;
    if (host >= end || size == 0 || host + size > end)
        return false;
    return host + size == end ||
           (host[size] == ':' &&
            number_parse_integer(host + size + 1, (size_t)(end - host) - size - 1, &port) &&
            port >= 1 && port <= 65535);
}

/* Whether every item of the list is a URL with one of the two schemes. */
static bool is_url_list(const char *list, const char *plain, const char *secure)
{
    for (size_t length; list && *list; list += length) {
        list += strspn(list, " ");
        length = strcspn(list, " ");
        const char *scheme = strncmp(list, secure, strlen(secure)) == 0 ? secure : plain;
        const char *host = list + strlen(scheme);
        if (length > 0 && (strncmp(list, scheme, strlen(scheme)) != 0 ||
                           !is_authority(host, strcspn(host, " /?#"))))
            return false;
    }
    return true;
}

int relay_settings_check(const struct relay_settings *relay, size_t *at, const char **key,
                         struct fault *fault)
{
    static const char tokens[] = "1 to 64 of A-Z a-z 0-9 _ -";
    const struct {
        const char *key, *text, *expected;
        bool good;
    } checks[] = {
        {"servers", relay->servers, "nats://HOST:PORT or tls://HOST:PORT",
         is_url_list(relay->servers, "nats://", "tls://")},
        {"get", relay->get, "prefixes such as https://HOST/PATH/",
         is_url_list(relay->get, "http://", "https://")},
        {"put", relay->put, "prefixes such as https://HOST/PATH/",
         is_url_list(relay->put, "http://", "https://")},
        {"stream", relay->stream, tokens, is_token(relay->stream, "_-")},
        {"consumer", relay->consumer, tokens, is_token(relay->consumer, "_-")},
        {"name", relay->name, "1 to 64 of A-Z a-z 0-9 . _ -",
         !relay->name || is_token(relay->name, "._-")},
        {"inbox", relay->inbox, "1 to 64 of A-Z a-z 0-9 . _ -, without a dot at its end",
         !relay->inbox ||
             (is_token(relay->inbox, "._-") && relay->inbox[strlen(relay->inbox) - 1] != '.')},
    };
    while (*at < sizeof checks / sizeof *checks) {
        size_t i = (*at)++;
        *key = checks[i].key;
        if (!checks[i].good) /* the text is not printed, because a URL may contain a password */
            return fault_set(fault, FAULT_CONFIG, "relay: %s: expected %s", checks[i].key,
                             checks[i].expected);
    }
    return 0;
}
