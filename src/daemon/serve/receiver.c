#include "daemon/serve/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/sealed.h"

#define LINGER       20 /* milliseconds for which RECEIVER_STAY waits for a client's next message */
#define MESSAGES_MAX 64 /* of one order; during it the front does not check if the client reads */

/* ---- checking descriptors ---- */

/* A file system that depends on another process or machine may keep its user waiting for ever. A
 * hanging input hangs only this process, so only inputs on file systems known for that are refused.
 */
static const unsigned long far_types[] = {
    0x65735546 /* FUSE */, NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC,
    0xfe534d42 /* SMB2 */, 0xff534d42 /* CIFS */, V9FS_MAGIC,
    AFS_SUPER_MAGIC,       CODA_SUPER_MAGIC,      0x00c36400 /* Ceph */};

/* Outputs are written by the worker and closed by the front, which must not hang: they are accepted
 * only on file systems known as local. */
static const unsigned long local_types[] = {EXT4_SUPER_MAGIC,          TMPFS_MAGIC,
                                            XFS_SUPER_MAGIC,           BTRFS_SUPER_MAGIC,
                                            F2FS_SUPER_MAGIC,          OVERLAYFS_SUPER_MAGIC,
                                            MSDOS_SUPER_MAGIC,         RAMFS_MAGIC,
                                            0x2011bab0 /* exFAT */,    0x7366746e /* NTFS3 */,
                                            0x24051905 /* UBIFS */,    JFFS2_SUPER_MAGIC,
                                            0xca451a4e /* bcachefs */, 0x2fc12fc1 /* ZFS */,
                                            0x3153464a /* JFS */,      NILFS_SUPER_MAGIC,
                                            REISERFS_SUPER_MAGIC};

static int check_file(int fd, bool to_write, struct stat *status, struct fault *fault)
{
    const char *what = to_write ? "output" : "input";
    const unsigned long *types = to_write ? local_types : far_types;
    size_t count =
        to_write ? sizeof local_types / sizeof *local_types : sizeof far_types / sizeof *far_types;
    int flags = fcntl(fd, F_GETFL);
    int wrong_mode = to_write ? O_RDONLY : O_WRONLY;
    struct statfs system;
    if (fstat(fd, status) != 0 || flags < 0 || !S_ISREG(status->st_mode))
        return fault_set(fault, FAULT_DATA, "%s: the descriptor is no regular file", what);
    if ((flags & O_PATH) || (flags & O_ACCMODE) == wrong_mode)
        return fault_set(fault, FAULT_PERMISSION, "%s: the descriptor is not open for %s", what,
                         to_write ? "writing" : "reading");
    bool told = fstatfs(fd, &system) == 0, found = false;
    for (size_t i = 0; told && i < count; i++)
        found |= ((unsigned long)system.f_type & 0xffffffff) == types[i];
    if (!told || found != to_write)
        return fault_set(fault, FAULT_DATA,
                         "%s: its file system may keep us waiting; hand over a memory file", what);
    return 0;
}

/* ---- orders ---- */

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        file_close(&fds[i]);
}

/* Sends a receipt, with the bytes of the message behind it (struct parcel) if receipt->length says
 * so. */
static void send_receipt(const struct receipt *receipt, const int *fds, size_t n_fds)
{
    struct fault fault = FAULT_INIT;
    struct text bytes = {.data = (char *)(uintptr_t)receipt,
                         .length = sizeof *receipt + receipt->length};
    if (message_send_encoded(RECEIVER_FD, &bytes, fds, n_fds, &fault) != 0)
        _exit(EXIT_FAILURE); /* the front has gone */
}

/* Copies up to `size` bytes of the input fds[0], fewer if it was truncated meanwhile, and passes on
 * the output fds[1]. Takes over the descriptors. */
static void do_copy(int fds[MESSAGE_FDS_MAX], uint64_t size)
{
    static char buffer[RECEIVER_PIECE / 4];
    struct receipt receipt = {.fault = FAULT_INIT};
    int files[MESSAGE_FDS_MAX] = {sealed_create("sluice-input"), fds[1]};
    uint64_t reported = 0;
    ssize_t got = 1;
    fds[1] = -1;
    receipt.has_input = files[0] >= 0;
    receipt.has_output = files[1] >= 0;
    if (files[0] < 0)
        fault_set_errno(&receipt.fault, FAULT_MEMORY, "memfd_create");
    while (receipt.fault.code == FAULT_NONE && receipt.size < size && got != 0) {
        uint64_t rest = size - receipt.size;
        size_t wanted = rest < sizeof buffer ? (size_t)rest : sizeof buffer;
        got = pread(fds[0], buffer, wanted, (off_t)receipt.size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fault_set_errno(&receipt.fault, FAULT_IO, "the input cannot be read");
        else if (got > 0 && write(files[0], buffer, (size_t)got) != got)
            fault_set(&receipt.fault, FAULT_NO_SPACE, "no memory for a copy of the input");
        if (receipt.fault.code != FAULT_NONE)
            break;
        receipt.size += (uint64_t)got;
        receipt.going_on = true;
        if (receipt.size - reported >= RECEIVER_PIECE) {
            send_receipt(&receipt, NULL, 0);
            reported = receipt.size;
        }
    }
    close_all(fds, MESSAGE_FDS_MAX);
    receipt.going_on = false;
    if (receipt.fault.code == FAULT_NONE) {
        sealed_finish(files[0]);
        send_receipt(&receipt, files, 1 + receipt.has_output);
        close_all(files, MESSAGE_FDS_MAX);
    } else {
        close_all(files, MESSAGE_FDS_MAX);
        send_receipt(&receipt, NULL, 0);
    }
}

/* Waits for the next order, and the client's socket that comes with it (−1: none). False: the front
 * has closed the socket. */
static bool get_order(char *order, int *client)
{
    static char buffer[MESSAGE_BYTES_MAX];
    struct fault fault = FAULT_INIT;
    int fds[MESSAGE_FDS_MAX];
    size_t size = sizeof buffer, n_fds;
    if (message_receive_bytes(RECEIVER_FD, buffer, &size, fds, &n_fds, &fault) != 0)
        return false;
    *order = buffer[0];
    *client = n_fds > 0 ? fds[0] : -1;
    return true;
}

/* RECEIVER_TAKE and RECEIVER_STAY. The client's socket is kept open here while messages are
 * received: the process that closes a socket last also closes the descriptors unread in it, which
 * may hang, so that must not be the front. */
static void take(int client, bool stay)
{
    static struct parcel parcel;
    struct receipt *receipt = &parcel.receipt;
    struct pollfd next = {.fd = client, .events = POLLIN};
    int fds[MESSAGE_FDS_MAX];
    for (unsigned n = 0;; n++) {
        size_t size = sizeof parcel.bytes, n_fds = 0;
        struct stat status;
        int result = FAULT_BUSY;
        *receipt = (struct receipt){.fault = FAULT_INIT, .files = FAULT_INIT};
        if (n == 0 || (n < MESSAGES_MAX && poll(&next, 1, stay ? LINGER : 0) == 1))
            result = message_receive_bytes(client, parcel.bytes, &size, fds, &n_fds,
                                           &receipt->fault);
        for (size_t i = n_fds; i < MESSAGE_FDS_MAX; i++)
            fds[i] = -1;
        if (result == FAULT_BUSY)
            fault_clear(&receipt->fault);
        receipt->length = result == 0 ? (uint32_t)size : 0;

        /* What it sent with it, which is closed if it is refused. */
        receipt->has_input = fds[0] >= 0;
        receipt->has_output = fds[1] >= 0;
        if (receipt->has_input && check_file(fds[0], false, &status, &receipt->files) == 0)
            receipt->size = (uint64_t)status.st_size;
        if (receipt->has_input && fds[1] >= 0 && receipt->files.code == FAULT_NONE &&
            check_file(fds[1], true, &status, &receipt->files) == 0 &&
            fcntl(fds[1], F_GET_SEALS) > F_SEAL_SEAL)
            fault_set(&receipt->files, FAULT_PERMISSION, "output: the memory file is sealed");
        if (receipt->files.code != FAULT_NONE)
            close_all(fds, MESSAGE_FDS_MAX);

        receipt->to_copy = fds[0] >= 0 && !sealed_is(fds[0]);
        receipt->going_on = result == 0 || result == FAULT_DATA;
        if (!receipt->going_on || receipt->to_copy)
            break;
        send_receipt(receipt, fds, (size_t)(fds[0] >= 0) + (fds[1] >= 0));
        close_all(fds, MESSAGE_FDS_MAX);
    }
    close(client);
    receipt->going_on = false;
    send_receipt(receipt, NULL, 0);
    if (!receipt->to_copy)
        return;
    char order;
    int none;
    if (get_order(&order, &none) && order == RECEIVER_COPY) {
        do_copy(fds, receipt->size);
        return;
    }
    close_all(fds, MESSAGE_FDS_MAX);
    send_receipt(&(struct receipt){.fault = FAULT_INIT}, NULL, 0);
}

int receiver_run(void)
{
    char order;
    int client;
    prctl(PR_SET_NAME, RECEIVER_NAME);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT,
           SIG_IGN); /* may be sent to the whole group; the front's socket ends this process */
    signal(SIGTERM, SIG_IGN);
    while (get_order(&order, &client)) {
        if (client >= 0 && (order == RECEIVER_TAKE || order == RECEIVER_STAY)) {
            take(client, order == RECEIVER_STAY);
        } else if (client >= 0 && order == RECEIVER_CLOSE) {
            close(client);
            send_receipt(&(struct receipt){.fault = FAULT_INIT}, NULL, 0);
        }
    }
    return 0;
}
