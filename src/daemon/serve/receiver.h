/* A receiver: a process that receives clients' messages with descriptors, checks the descriptors,
 * copies inputs and closes everything. It is not done in the front, because any call on a foreign
 * descriptor, even close, may wait for ever (on FUSE the process that mounted it answers). The
 * program is sluiced itself with RECEIVER_ARGUMENT; receptions.h starts receivers, and kills those
 * that do not answer.
 *
 *     front                           receiver
 *     RECEIVER_TAKE or RECEIVER_STAY
 *       + client's socket ──►
 *                              ◄──  parcel [+ sealed memory file] [+ output]     for each message
 *                              ◄──  receipt: the socket has no further message (with
 *                                   RECEIVER_STAY: had none for LINGER)
 *     If the input is no sealed memory file, the parcel's receipt says `to_copy`. It is the last
 *     one, and the receiver waits for an order:
 *     RECEIVER_COPY or RECEIVER_DROP ──►
 *                              ◄──  receipt, `going_on`: progress, from time to time
 *                              ◄──  receipt [+ the copy]
 *     RECEIVER_CLOSE + client's socket ──►    closes the socket and all descriptors unread in it
 *                              ◄──  receipt
 *     RECEIVER_KEEP + the same ──►    holds it until this process ends
 *
 * Before it sends the last receipt of an order, the receiver has closed every descriptor that it
 * did not pass on; so the receipt proves that none of them hangs. It passes on only sealed memory
 * files and outputs on local file systems. */
#ifndef SLUICE_DAEMON_SERVE_RECEIVER_H
#define SLUICE_DAEMON_SERVE_RECEIVER_H

#include "base/fault.h"
#include "worker/message.h"
#include <stdint.h>

#define RECEIVER_NAME     "sluice-receiver"
#define RECEIVER_ARGUMENT "receive-descriptors"
#define RECEIVER_FD       3          /* its end of the socket pair */
#define RECEIVER_PIECE    (1u << 20) /* bytes between two reports of a copy's progress */

enum receiver_order {
    RECEIVER_TAKE = 't',  /* receive all messages that are in the socket */
    RECEIVER_STAY = 's',  /* and those that follow soon, which saves a process switch for each */
    RECEIVER_COPY = 'c',  /* copy the input to a sealed memory file */
    RECEIVER_DROP = 'd',  /* close the input */
    RECEIVER_CLOSE = 'b', /* close a client's socket */
    RECEIVER_KEEP = 'k',  /* hold it */
};

struct receipt {
    struct fault fault;         /* of message_receive_bytes; or of the copy */
    struct fault files;         /* why the descriptors are refused; then they are closed */
    uint64_t size;              /* bytes of the input; of a copy: so far */
    uint32_t length;            /* bytes of the message, which follows in the parcel; 0: none */
    bool has_input, has_output; /* the client sent these, whether they come with this or not */
    bool to_copy;               /* the input is no sealed memory file: waits for an order */
    bool going_on;              /* another receipt follows */
};

/* A message with its receipt. */
struct parcel {
    struct receipt receipt;
    char bytes[MESSAGE_BYTES_MAX];
};

/* Executes orders until the front closes the socket. Returns the program's exit status. */
int receiver_run(void);

#endif
