#!/bin/sh
# fleet.sh HUB BOARD…
#
# Makes the folder `fleet`: all that a hub and its machines need to know each other and nobody else. HUB and BOARD are
# their names or addresses. Run it again with more boards: what is there stays. Needs openssl.
#
#   fleet/hub/      for the hub's /etc/nats: nats-server.conf, certificate, key
#   fleet/BOARD/    for a board's /etc/sluice: nats.creds, ca.pem, and relay.yaml, the end of its sluice.yaml
#   fleet/admin.creds, fleet/producer.creds, fleet/ca.pem    for you, and for those who put pictures in
#   fleet/ca.key    makes further certificates: keep it, and keep it to yourself
set -eu
case ${1:--h} in
-h | --help)
    sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p'
    exit 0
    ;;
esac
hub=$1
shift
umask 077
mkdir -p fleet/hub
cd fleet

# USER.creds with a password of its own, unless it is there.
credentials() { # FILE USER
    [ -s "$1" ] || printf '%s:%s\n' "$2" "$(openssl rand -hex 24)" >"$1"
}
password() { # FILE
    sed 's/^[^:]*://' "$1"
}

[ -s ca.key ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=sluice fleet" \
    -keyout ca.key -out ca.pem 2>/dev/null
if [ ! -s hub/hub.key ]; then
    case $hub in
    *[!0-9.]*) name=DNS:$hub ;;
    *) name=IP:$hub ;;
    esac
    printf 'subjectAltName=%s\n' "$name" >hub/names
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$hub" -keyout hub/hub.key -out hub/request 2>/dev/null
    openssl x509 -req -in hub/request -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile hub/names -out hub/hub.pem 2>/dev/null
    rm hub/names hub/request
fi
credentials admin.creds admin
credentials producer.creds producer

for board in "$@"; do
    user=$(printf %s "$board" | tr . -)
    mkdir -p "$board"
    credentials "$board/nats.creds" "$user"
    cp ca.pem "$board/ca.pem"
    chmod 755 "$board"
    chmod 644 "$board/ca.pem"
    cat >"$board/relay.yaml" <<END

relay:
  servers: ["tls://$hub:4222"]
  credentials: /run/credentials/sluice-relay.service/nats.creds
  tls: {ca: /etc/sluice/ca.pem}
  name: $user
  inbox: _INBOX_$user
  metrics: /run/sluice-relay/metrics.prom
END
done

cat >hub/nats-server.conf <<END
port: 4222
# Counts headers, too. Larger messages were acknowledged and then lost (2.10.27).
max_payload: 8MB

jetstream {
  store_dir: /var/lib/nats
  # A message is on the disk before it is acknowledged. Without this line a power cut loses what was accepted.
  sync_interval: always
}

tls {
  cert_file: /etc/nats/hub.pem
  key_file: /etc/nats/hub.key
}

# What watches the hub asks here: curl http://127.0.0.1:8222/jsz?consumers=1
http: 127.0.0.1:8222

authorization {
  users: [
    { user: admin, password: "$(password admin.creds)" }

    # Puts jobs in and reads results.
    { user: producer, password: "$(password producer.creds)", permissions: {
        publish: ["sluice.jobs.*.*", "\$JS.API.STREAM.INFO.JOBS", "\$JS.API.STREAM.MSG.GET.DONE"]
        subscribe: "_INBOX.>" } }

    # A board takes jobs and says what became of them. Its inbox is its own, so it sees nobody else's answers.
END
for file in */nats.creds; do
    board=${file%/*}
    user=$(printf %s "$board" | tr . -)
    cat >>hub/nats-server.conf <<END
    { user: "$user", password: "$(password "$file")", permissions: {
        publish: ["\$JS.API.CONSUMER.MSG.NEXT.JOBS.fleet", "\$JS.API.CONSUMER.INFO.JOBS.fleet", "\$JS.ACK.JOBS.fleet.>",
                  "\$JS.API.STREAM.MSG.GET.DONE", "sluice.done.*", "sluice.dead.>"]
        subscribe: "_INBOX_$user.>" } }
END
done
printf '  ]\n}\n' >>hub/nats-server.conf
echo "fleet: a hub, and these boards:" */nats.creds | sed 's:/nats.creds::g'
