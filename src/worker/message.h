/* What sluiced and sluice-worker say to each other, over a SOCK_SEQPACKET socket pair: one JSON
 * object a message, descriptors beside it by SCM_RIGHTS. Clients of the jobs socket speak the same,
 * so a job is the plainest message of all and needs no "type":
 *
 *     front                                  worker
 *     setup (device, threads) + fd      ──►      fd: its settings, and the file for @name in chains;
 *                                                a second one: the files of second pictures
 *                                                (config_print_worker)
 *                                       ◄──  kept       before anything else: the worker's pid. Its
 *                                                       parent is its keeper (keeper.h)
 *     check (chain, format, input)      ──►
 *                                       ◄──  working    meanwhile: how many programs are ready
 *                                       ◄──  checked    or what is wrong, and where
 *                                       ◄──  moved      later: what is ready for the device
 *     job (chain, format, input) + 2 fds──►
 *                                       ◄──  began      it reads the input; only if the job asks
 *                                       ◄──  need-output (result_of, plane) for each further file:
 * of a output (result_of, plane) + fd    ──►      further result, or where a picture format gets a
 *                                                file per plane
 *                                       ◄──  done (result, planes, results_of, report)
 *     describe + 1 fd                   ──►
 *                                       ◄──  described  stages and devices are in the file, as JSON
 *     ping                              ──►
 *                                       ◄──  pong       at once, whatever the jobs do
 *
 * The first output travels with the job; a further result, and each further plane of a result in a
 * picture format, asks for one more, in their order, while it is encoded. So the worker never names
 * a file and never sees a directory. `done` lists the files: of which result each is, counted from
 * 0, and its plane, "" for a result that is one file.
 * The format "auto" of a job is png, or npz where several planes come out.
 *
 * Several results of one picture have their chains in one text with ; between them, and so have
 * their formats, extensions and media types. One format is that of all.
 *
 * Whatever arrives is taken for hostile: sizes and ranges are checked, unknown and repeated fields
 * are refused, descriptors that do not belong are closed. Nothing is kept between calls; a socket
 * may be written by several threads (a message is sent whole or not at all), read by one. */
#ifndef SLUICE_WORKER_MESSAGE_H
#define SLUICE_WORKER_MESSAGE_H

#include "base/fault.h"
#include "base/text.h"
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_BYTES_MAX  65536
#define MESSAGE_FDS_MAX    2
#define MESSAGE_PLANES_MAX  256
#define MESSAGE_RESULTS_MAX 16 /* of one picture; chain.h's limit */

/* The worker's end of the socket pair is this descriptor. */
#define MESSAGE_WORKER_FD 3

/* The signal by which the front has a keeper kill its worker. The keeper ends after the worker. */
#define MESSAGE_KILL_SIGNAL SIGALRM

enum message_kind {
    MESSAGE_JOB,
    MESSAGE_SETUP,
    MESSAGE_CHECK,
    MESSAGE_WORKING,
    MESSAGE_CHECKED,
    MESSAGE_BEGAN,
    MESSAGE_NEED_OUTPUT,
    MESSAGE_OUTPUT,
    MESSAGE_DONE,
    MESSAGE_DESCRIBE,
    MESSAGE_DESCRIBED,
    MESSAGE_PING,
    MESSAGE_PONG,
    MESSAGE_KEPT,
    MESSAGE_MOVED,
    MESSAGE_KINDS
};

/* A message. The table in message.c says which members each kind has; other members stay as
 * message_init sets them: NULL, 0, position −1. Texts of a message to be sent are borrowed; those
 * of a received one are valid until message_finish. */
struct message {
    enum message_kind kind;
    int64_t id; /* of the job or check, chosen by the asker */

    /* setup */
    const char *device; /* as --device takes it; in `checked` the name of the device in use */
    int64_t threads;    /* jobs at once */
    int64_t wipe; /* 1: the kernel caches are emptied first, since a worker died while it started */

    /* kept */
    int64_t pid;

    /* check and job */
    const char *chain, *format;
    const char *input; /* options of decoding: "partial=1"; NULL: as usual */
    int64_t time;      /* job: nanoseconds after which the worker stops it; 0: no limit */
    int64_t say_began; /* job: 1: the worker says when it begins to read the input */

    /* working and moved: programs that are ready, of those that the check takes */
    int64_t prepared, to_prepare;

    /* checked and moved: the kind of device that runs the chain: "native", "gpu", …, "reference";
     * NULL: none, or not known yet. `moved` is about an earlier check; its `result` says why the
     * chain stays where it is. Without a tier it is about the device, which cannot be opened. */
    const char *tier;

    /* checked */
    const char *why;   /* the device computes the chain wrongly, and the fallback runs it: how;
                          NULL: the device runs it */
    const char *level; /* what the sandbox consists of: "whole: landlock 7, seccomp, limits" */

    /* checked and done; output, without a descriptor: why there is none */
    const char *result;  /* "ok", or the name of a fault's code */
    const char *text;    /* the fault's text */
    const char *subject; /* what `text` and `position` are about: "chain", "format", "input" */
    int64_t position, length;
    struct faults faults;       /* all mistakes in the chain, where there may be several */
    const char *step;           /* what the job was doing when it failed */
    const char *extension;      /* of files in those formats */
    int64_t builds, cache_hits; /* since the start */
    int64_t buffer_bytes;       /* device memory held now */
    int64_t client_kernels;     /* programs compiled for chains that are not configured */

    /* need-output and output: the result, counted from 0, and the plane's name; done: those of all
     * files in their order */
    int64_t result_of;
    const char *plane;
    const char *planes[MESSAGE_PLANES_MAX];
    unsigned char of[MESSAGE_PLANES_MAX];
    size_t n_planes;

    /* done: what was written, how many nanoseconds the worker took, and the job's report: a json_t
     * made by worker/describe.h, whose numbers (never negative) and warnings are checked on
     * arrival. NULL: none. Borrowed in a message to be sent, owned by a received one. */
    const char *media_type;
    int64_t total;
    void *report;

    int fds[MESSAGE_FDS_MAX]; /* received: owned until taken; to be sent: borrowed */
    size_t n_fds;

    void *json; /* received: owns the texts */
};

void message_init(struct message *message, enum message_kind kind);

/* The same as members of an initialiser, for messages to be sent. */
#define MESSAGE_INIT(of_kind) .kind = (of_kind), .position = -1, .fds = {-1, -1}

/* Closes descriptors that were not taken, and frees the texts. For received messages. */
void message_finish(struct message *message);

/* Hands a received descriptor to the caller; −1 when there is none at that index. */
int message_take_fd(struct message *message, size_t index);

/* Appends the message as JSON. FAULT_LIMIT: it is too large for a message. */
int message_encode(const struct message *message, struct text *json, struct fault *fault);

/* Reads a message from JSON; message_receive sets n_fds. FAULT_DATA says what is wrong. */
int message_decode(struct message *message, const char *json, size_t size, struct fault *fault);

/* Sends an encoded message with borrowed descriptors. FAULT_BUSY: a non-blocking socket is full;
 * FAULT_IO: the other side is gone. */
int message_send_encoded(int socket, const struct text *json, const int *fds, size_t n_fds,
                         struct fault *fault);

/* Encodes and sends. */
int message_send(int socket, const struct message *message, struct fault *fault);

/* Receives a message, which message_finish must end when this returns 0. FAULT_BUSY: nothing has
 * arrived at a non-blocking socket. FAULT_NO_INPUT: the other side has closed the socket.
 * FAULT_DATA: not a valid message; it was dropped with its descriptors. */
int message_receive(int socket, struct message *message, struct fault *fault);

/* Looks at the first unread message of a non-blocking socket, without reading it. After
 * MESSAGE_NONE the caller must not read: a message that comes meanwhile may have descriptors, and
 * any call on a stranger's descriptor, even close, may wait for ever. */
enum message_head {
    MESSAGE_NONE,
    MESSAGE_PLAIN, /* a message without descriptors, or the end */
    MESSAGE_DESCRIPTORS,
};
enum message_head message_look(int socket);

/* Receives bytes, at most *size of them, and descriptors without reading them. The caller owns the
 * descriptors. */
int message_receive_bytes(int socket, char *buffer, size_t *size, int fds[MESSAGE_FDS_MAX],
                          size_t *n_fds, struct fault *fault);

/* True for a valid name of a stage in a report: "sobel", or "luminance+sobel" for stages that share
 * a kernel. */
bool message_is_stage_label(const char *label);

/* Warning number `index` of the report about the input, in printable ASCII; NULL after the last. */
const char *message_warning(const struct message *message, size_t index);

/* A number of the report; 0 without one of that name. */
double message_figure(const struct message *message, const char *name);

/* The result in `checked` and `done`, from a fault and to a fault. An unknown word becomes
 * FAULT_INTERNAL. */
void message_set_fault(struct message *message, const struct fault *fault);
int message_get_fault(const struct message *message, struct fault *fault);

/* All faults of the message, at least the one. */
void message_get_faults(const struct message *message, struct faults *faults);

/* "job", "setup", … */
const char *message_kind_name(enum message_kind kind);

/* True for a name of a plane that may be part of a file name: 1 to 31 of A-Z a-z 0-9 _ -; fields of
 * messages may be empty, too. */
bool message_is_plane_name(const char *name);

#endif
