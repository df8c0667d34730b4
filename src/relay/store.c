#include "relay/store.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "version.h"

#define TRANSFER_TIME 60 /* seconds, plus one for each MiB */
#define CONNECT_TIME  10L

struct store {
    CURL *curl;
    bool (*stopped)(void *context);
    void *context;

    /* For one transfer. */
    int to, from;                       /* −1: none */
    uint64_t begun, moved, limit, size; /* `size` is that of what is sent */
    bool (*taken)(void *context, size_t bytes);
    enum store_answer answer; /* why we ended the transfer */
    struct fault *fault;
};

int store_create(struct store **store, bool (*stopped)(void *context), void *context,
                 struct fault *fault)
{
    struct store *s = calloc(1, sizeof *s);
    *store = s;
    if (s)
        *s = (struct store){.curl = curl_easy_init(), .stopped = stopped, .context = context};
    if (s && s->curl)
        return 0;
    store_destroy(store);
    return fault_set(fault, FAULT_MEMORY, "no memory for HTTP");
}

void store_destroy(struct store **store)
{
    if (*store)
        curl_easy_cleanup((*store)->curl);
    free(*store);
    *store = NULL;
}

/* ---- what curl calls while it transfers ---- */

static size_t on_received(char *bytes, size_t one, size_t count, void *user)
{
    struct store *store = user;
    size_t size = one * count;
    long status = 0;
    curl_easy_getinfo(store->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 != 2 || store->to < 0)
        return size; /* the text of an error page is dropped */
    if (store->moved + size > store->limit) {
        fault_set(store->fault, FAULT_LIMIT,
                  "more than %" PRIu64 " bytes; max_file is %" PRIu64 " (--max-file)", store->limit,
                  store->limit);
        store->answer = STORE_NEVER;
    } else if (!store->taken(store->context, size)) {
        fault_set(store->fault, FAULT_MEMORY, "pictures of other jobs take all memory there is");
        store->answer = STORE_LATER;
    } else if (file_write(store->to, bytes, size, store->fault) != 0) {
        store->answer = STORE_LATER;
    } else {
        store->moved += size;
        return size;
    }
    return 0; /* fewer bytes than offered: curl ends the transfer */
}

static size_t on_sending(char *bytes, size_t one, size_t count, void *user)
{
    struct store *store = user;
    size_t size = one * count, left = (size_t)(store->size - store->moved);
    ssize_t got = pread(store->from, bytes, size < left ? size : left, (off_t)store->moved);
    if (got < 0)
        return CURL_READFUNC_ABORT;
    store->moved += (uint64_t)got;
    return (size_t)got;
}

/* A body that is sent again on a new connection begins at its start. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
    struct store *store = user;
    if (origin != SEEK_SET || offset < 0)
        return CURL_SEEKFUNC_CANTSEEK;
    store->moved = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    struct store *store = user;
    curl_off_t bytes = up_total > 0 ? up_total : down_total > 0 ? down_total : down;
    uint64_t allowed = TRANSFER_TIME + ((uint64_t)bytes >> 20);
    if (store->stopped(store->context)) {
        fault_set(store->fault, FAULT_INTERRUPTED, "the relay is ending");
    } else if (clock_now() - store->begun > allowed * 1000000000) {
        fault_set(store->fault, FAULT_IO, "it took longer than %" PRIu64 " s", allowed);
    } else {
        return 0;
    }
    store->answer = STORE_LATER;
    return 1;
}

/* ---- a transfer ---- */

static void prepare(struct store *store, const char *url, struct fault *fault)
{
    CURL *curl = store->curl;
    curl_easy_reset(curl);
    store->to = store->from = -1;
    store->fault = fault;
    store->begun = clock_now();
    store->moved = 0;
    store->answer = STORE_DONE;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIME);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluice-relay/" SLUICE_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_received);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, store);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, store);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/* Failures may pass later, except answers that the same request would get again. */
static enum store_answer judge(struct store *store, CURLcode result, const char *verb,
                               enum fault_code code, struct fault *fault)
{
    long status = 0;
    if (store->answer != STORE_DONE)
        return store->answer;
    if (result != CURLE_OK) {
        fault_set(fault, FAULT_IO, "%s: %s", verb, curl_easy_strerror(result));
        return STORE_LATER;
    }
    curl_easy_getinfo(store->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 == 2)
        return STORE_DONE;
    bool later = status / 100 == 5 || status == 408 || status == 425 || status == 429;
    fault_set(fault, later ? FAULT_IO : code, "%s: the store answers %ld%s", verb, status,
              status / 100 == 3 ? "; redirects are not followed" : "");
    return later ? STORE_LATER : STORE_NEVER;
}

enum store_answer store_get(struct store *store, const char *url, int fd, uint64_t limit,
                            bool (*taken)(void *context, size_t bytes), struct fault *fault)
{
    prepare(store, url, fault);
    store->to = fd;
    store->limit = limit;
    store->taken = taken;
    CURLcode result = curl_easy_perform(store->curl);
    return judge(store, result, "GET", FAULT_NO_INPUT, fault);
}

static enum store_answer put_once(struct store *store, const char *url, int fd, uint64_t size,
                                  const char *media_type, bool unless_there, long *status,
                                  struct fault *fault)
{
    char type[200];
    struct curl_slist *headers = NULL;
    snprintf(type, sizeof type, "Content-Type: %s", media_type);
    headers = curl_slist_append(headers, type);
    headers = curl_slist_append(headers, "Expect:"); /* do not wait for "100 Continue" */
    if (unless_there)
        headers = curl_slist_append(headers, "If-None-Match: *");
    prepare(store, url, fault);
    store->from = fd;
    store->size = size;
    curl_easy_setopt(store->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(store->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(store->curl, CURLOPT_READFUNCTION, on_sending);
    curl_easy_setopt(store->curl, CURLOPT_READDATA, store);
    curl_easy_setopt(store->curl, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(store->curl, CURLOPT_SEEKDATA, store);
    curl_easy_setopt(store->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode result = curl_easy_perform(store->curl);
    curl_easy_getinfo(store->curl, CURLINFO_RESPONSE_CODE, status);
    enum store_answer answer = judge(store, result, "PUT", FAULT_CREATE, fault);
    curl_slist_free_all(headers);
    return answer;
}

/* 412: the result is there already, from an earlier delivery of the job, since nobody else has the
 * URL. 501: a store without If-None-Match, as some stores with S3 have it. */
enum store_answer store_put(struct store *store, const char *url, int fd, uint64_t size,
                            const char *media_type, struct fault *fault)
{
    long status = 0;
    enum store_answer answer = put_once(store, url, fd, size, media_type, true, &status, fault);
    if (answer == STORE_LATER && status == 501) {
        fault_clear(fault);
        answer = put_once(store, url, fd, size, media_type, false, &status, fault);
    }
    if (answer == STORE_NEVER && status == 412) {
        fault_clear(fault);
        return STORE_DONE;
    }
    return answer;
}
