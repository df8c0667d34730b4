/* Strangers' descriptors: received, looked at, copied and closed in a process of its own, since any
 * call on one, its close too, may wait for ever (a FUSE file system asks whoever mounted it). The
 * program is sluiced itself with RECEIVER_ARGUMENT; receptions.h starts such processes, and kills
 * those that do not answer.
 *
 *     front                           receiver
 *     RECEIVER_TAKE or RECEIVER_STAY
 *       + client's socket ──►
 *                              ◄──  parcel [+ sealed memory file] [+ output]     for each message
 *                              ◄──  receipt     no message was there, or came for LINGER
 *     only where a parcel's receipt says that the input is to be copied, which then is the last:
 *     RECEIVER_COPY or RECEIVER_DROP ──►
 *                              ◄──  receipt, `going_on`     now and then
 *                              ◄──  receipt [+ the copy]
 *     RECEIVER_BURY + client's socket ──►    it is closed, with all that it holds unread
 *                              ◄──  receipt
 *
 * With a receipt that does not announce another one, whatever the receiver has not handed on is
 * closed: that it came proves that nothing of it hangs. What is handed on is memory that nobody can
 * change, and an output on a file system of this machine. */
#ifndef SLUICE_DAEMON_SERVE_RECEIVER_H
#define SLUICE_DAEMON_SERVE_RECEIVER_H

#include "base/fault.h"
#include "worker/message.h"
#include <stdint.h>

#define RECEIVER_NAME     "sluice-receiver"
#define RECEIVER_ARGUMENT "receive-descriptors"
#define RECEIVER_FD       3          /* where the process finds its end of the socket pair */
#define RECEIVER_PIECE    (1u << 20) /* bytes of a copy that are told of */

enum receiver_order {
    RECEIVER_TAKE = 't', /* all messages that are there */
    RECEIVER_STAY = 's', /* and those that follow: a process switch less for each */
    RECEIVER_COPY = 'c',
    RECEIVER_DROP = 'd',
    RECEIVER_BURY = 'b',
};

struct receipt {
    struct fault fault; /* of the message, as message_receive_bytes has it; or of the copy */
    struct fault files; /* what is wrong with its descriptors */
    uint64_t size;      /* of the input; of the copy: bytes so far */
    uint32_t length;    /* of the message whose bytes follow; 0: none does */
    bool has_input, has_output; /* descriptors that came, whether they come with this or not */
    bool to_copy;               /* the input: it is no sealed memory file. An order is awaited */
    bool going_on;              /* another receipt follows */
};

/* A message with its receipt. */
struct parcel {
    struct receipt receipt;
    char bytes[MESSAGE_BYTES_MAX];
};

/* Does what the front asks until that closes the socket. The program's exit status. */
int receiver_run(void);

#endif
