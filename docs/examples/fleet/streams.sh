#!/bin/sh
# streams.sh HUB
#
# Makes the streams of a fleet of sluice machines on a NATS server, or changes them to what is said here: JOBS,
# DONE, DEAD, and the consumer `fleet`. Run by the administrator; sluice-relay itself creates nothing.
# HUB is HOST or HOST:PORT. Needs python3.
#
# Environment:
#   NATS_CREDENTIALS  a file with one line USER:PASSWORD
#   NATS_CA           a file of certificates, for a server with TLS
#   BYTES             size of each stream's files, in bytes          (4 GiB)
#   MESSAGE           largest message, in bytes, with its headers    (8 MiB)
#   SLOTS             jobs that all machines hold at once, together  (100)
#   ACK_WAIT          seconds after which a machine is given up      (30)
#   REPLICAS          servers of a cluster that keep each message    (1)
set -eu
case ${1:--h} in
-h | --help)
    sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p'
    exit 0
    ;;
esac
hub=$1
bytes=${BYTES:-4294967296}
message=${MESSAGE:-8388608}
slots=${SLOTS:-100}
second=000000000
day=$((24 * 60 * 60))
replicas=${REPLICAS:-1}

# One job for each id; when it is full, who puts jobs in is told.
jobs='{"name": "JOBS", "subjects": ["sluice.jobs.*.*"], "retention": "workqueue", "storage": "file",
    "discard": "new", "discard_new_per_subject": true, "max_msgs_per_subject": 1,
    "max_bytes": '$bytes', "max_msg_size": '$message', "num_replicas": '$replicas'}'

# A result stays for a week. A full stream takes no more, so jobs wait: no result is dropped for another.
done='{"name": "DONE", "subjects": ["sluice.done.*"], "retention": "limits", "storage": "file",
    "discard": "new", "allow_direct": true, "max_age": '$((7 * day))$second',
    "max_bytes": '$bytes', "max_msg_size": '$message', "num_replicas": '$replicas'}'

# What nobody could do, for a month.
dead='{"name": "DEAD", "subjects": ["sluice.dead.>"], "retention": "limits", "storage": "file",
    "discard": "new", "max_age": '$((30 * day))$second',
    "max_bytes": '$bytes', "max_msg_size": '$message', "num_replicas": '$replicas'}'

# max_deliver is -1: the relay counts. With a number the message would stay in the stream, undone.
fleet='{"stream_name": "JOBS", "config": {"durable_name": "fleet", "ack_policy": "explicit",
    "ack_wait": '${ACK_WAIT:-30}$second', "max_deliver": -1, "max_ack_pending": '$((slots * 2))',
    "max_waiting": '$((slots * 2 < 512 ? 512 : slots * 2))', "num_replicas": '$replicas'}}'

exec python3 - "$hub" "$jobs" "$done" "$dead" "$fleet" <<'PYTHON'
import json, os, re, socket, ssl, sys

hub, *streams, fleet = sys.argv[1:]
host, _, port = re.sub('^[a-z]+://', '', hub).partition(':')
sock = socket.create_connection((host, int(port or 4222)), 10)
file = sock.makefile('rb')
info = json.loads(file.readline().split(b' ', 1)[1])
if [int(n) for n in info['version'].split('.')[:2]] < [2, 10]:
    sys.exit('streams.sh: %s: nats-server %s is older than 2.10: it acknowledges what it may lose' % (hub, info['version']))
if info.get('tls_required'):
    sock = ssl.create_default_context(cafile=os.environ.get('NATS_CA')).wrap_socket(sock, server_hostname=host)
    file = sock.makefile('rb')
told = {'verbose': False, 'pedantic': False, 'headers': True, 'lang': 'python', 'version': '0', 'name': 'streams.sh'}
if os.environ.get('NATS_CREDENTIALS'):
    told['user'], _, told['pass'] = open(os.environ['NATS_CREDENTIALS']).read().strip().partition(':')
inbox = '_INBOX.streams%d' % os.getpid()
sock.sendall(b'CONNECT %s\r\nSUB %s 1\r\n' % (json.dumps(told).encode(), inbox.encode()))


def ask(subject, body):
    sock.sendall(b'PUB $JS.API.%s %s %d\r\n%s\r\n' % (subject.encode(), inbox.encode(), len(body), body.encode()))
    while True:
        line = file.readline()
        if line.startswith(b'PING'):
            sock.sendall(b'PONG\r\n')
        elif line.startswith(b'MSG'):
            return json.loads(file.read(int(line.split()[-1]) + 2)).get('error')
        elif line.startswith(b'-ERR') or not line:
            sys.exit('streams.sh: %s: %s' % (hub, line.decode().strip() or 'the server has closed'))


def make(what, create, update, body):
    error = ask(create, body)
    changed = bool(error) and error['err_code'] in (10058, 10148)  # it is there, with other settings
    if changed:
        error = ask(update, body)
    if error:
        small = error['err_code'] == 10047  # the server sets all of max_bytes aside, of three quarters of its free disk
        sys.exit('streams.sh: %s: %s%s' % (what, error['description'], '; BYTES=N makes the streams smaller' if small else ''))
    print('%s: %s' % (what, 'changed' if changed else 'there'))


for body in streams:
    name = json.loads(body)['name']
    make('stream ' + name, 'STREAM.CREATE.' + name, 'STREAM.UPDATE.' + name, body)
make('consumer fleet', 'CONSUMER.DURABLE.CREATE.JOBS.fleet', 'CONSUMER.DURABLE.CREATE.JOBS.fleet', fleet)
PYTHON
