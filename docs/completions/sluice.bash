# Made by docs/completions/make.py (ninja man). Do not edit.

# A chain is completed stage by stage: what stands behind its last comma.
_sluice_chain()
{
    local prefix=
    case $1 in *,*) prefix=${1%,*}, ;; esac
    compopt -o nospace
    COMPREPLY=($(compgen -P "$prefix" -W "abs analysis blend box canny clahe close colour convert crop demosaic difference dilate divide dwt equalize erode fir flip gain gauss histogram idwt invert levels luminance mask median normalize open pad resize rotate shrink sobel statistics subtract synthesis threshold undistort unsharp warp" -- "${1##*,}"))
}

_sluice_value() # COMMAND OPTION WORD: 1 when the option has no value
{
    case $1:$2 in
    run:--chain|run:-c) _sluice_chain "$3" ;;
    run:--output|run:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--format|run:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    run:--input) COMPREPLY=($(compgen -W "gray8 gray16 rgb24 rgba32 nv12 yuyv" -- "$3")) ;;
    run:--name) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--on-exists) COMPREPLY=($(compgen -W "overwrite skip number fail" -- "$3")) ;;
    run:--iterations) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    run:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--dump-binary) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--load-binary) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    run:--threads) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    submit:--socket|submit:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    submit:--chain|submit:-c) _sluice_chain "$3" ;;
    submit:--output|submit:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    submit:--format|submit:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    submit:--input) COMPREPLY=($(compgen -W "gray8 gray16 rgb24 rgba32 nv12 yuyv" -- "$3")) ;;
    submit:--name) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    submit:--on-exists) COMPREPLY=($(compgen -W "overwrite skip number fail" -- "$3")) ;;
    enqueue:--chain|enqueue:-c) _sluice_chain "$3" ;;
    enqueue:--format|enqueue:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    enqueue:--input) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--output|enqueue:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--timeout) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--result) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--class) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--id) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--server|enqueue:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--credentials) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--ca) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    enqueue:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--chain|view:-c) _sluice_chain "$3" ;;
    view:--input) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--http-socket) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--port) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    view:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    view:--threads) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    status:--socket|status:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    why:--socket|why:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    failed:--socket|failed:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    requeue:--socket|requeue:-s) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    compare:--input) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    compare:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    compare:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    compare:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    compare:--threads) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    devices:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    devices:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    devices:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    devices:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--chain|plan:-c) _sluice_chain "$3" ;;
    plan:--type) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--format|plan:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    plan:--profile) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--board) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    plan:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    plan:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--chain|bench:-c) _sluice_chain "$3" ;;
    bench:--size) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--type) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--iterations) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--report) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--board) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--format|bench:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    bench:--input) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--bank) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    bench:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--dump-binary) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--load-binary) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    bench:--threads) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--chain|tune:-c) _sluice_chain "$3" ;;
    tune:--kinds) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--cache) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    tune:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    tune:--threads) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--cache) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--define) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    warm:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    warm:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    doctor:--user) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    doctor:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    doctor:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    doctor:--platform-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    doctor:--device-index) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    doctor:--cl-flags) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    testcard:--output|testcard:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    testcard:--format|testcard:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    testcard:--size) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--watch|sluiced:-w) compopt -o filenames; COMPREPLY=($(compgen -d -- "$3")) ;;
    sluiced:--output|sluiced:-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--chain|sluiced:-c) _sluice_chain "$3" ;;
    sluiced:--format|sluiced:-f) COMPREPLY=($(compgen -W "bmp jpg npy npz png pnm raw" -- "$3")) ;;
    sluiced:--input) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--name) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--folder) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--on-exists) COMPREPLY=($(compgen -W "number overwrite fail" -- "$3")) ;;
    sluiced:--originals) COMPREPLY=($(compgen -W "done delete keep" -- "$3")) ;;
    sluiced:--report) COMPREPLY=($(compgen -W "none file" -- "$3")) ;;
    sluiced:--on-done) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--on-failed) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--hook-time) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--claim) COMPREPLY=($(compgen -W "rename none" -- "$3")) ;;
    sluiced:--sync) COMPREPLY=($(compgen -W "each batch off" -- "$3")) ;;
    sluiced:--settle) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--stable) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--mode) COMPREPLY=($(compgen -W "auto inotify poll" -- "$3")) ;;
    sluiced:--state) compopt -o filenames; COMPREPLY=($(compgen -d -- "$3")) ;;
    sluiced:--device) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    sluiced:--fallback) COMPREPLY=($(compgen -W "auto gpu cpu reference" -- "$3")) ;;
    sluiced:--sandbox) COMPREPLY=($(compgen -W "auto required off" -- "$3")) ;;
    sluiced:--max-pixels) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--max-file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--memory) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--jobs) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--queue) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--job-time) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--worker-jobs) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--worker-time) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--worker-growth) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--shutdown) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--min-free) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--http-socket) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--jobs-socket) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    sluiced:--log-format) COMPREPLY=($(compgen -W "text json" -- "$3")) ;;
    sluiced:--config) compopt -o filenames; COMPREPLY=($(compgen -f -- "$3")) ;;
    *) return 1 ;;
    esac
}

_sluice()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    [ "${1##*/}" = sluiced ] && command=sluiced
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ] && [ "$command" != sluiced ]; then
        COMPREPLY=($(compgen -W "run submit enqueue view status why failed requeue compare stages devices plan bench tune check-config warm doctor testcard version help" -- "$word"))
        return
    fi
    _sluice_value "$command" "$before" "$word" && return
    case $command:$word in
    run:-*) COMPREPLY=($(compgen -W "--chain --output --format --input --recursive --name --on-exists --verify --timing --iterations --config --define --device --platform-index --device-index --cl-flags --dump-binary --load-binary --no-fuse --max-pixels --max-file --memory --threads --json --quiet --verbose --help" -- "$word")) ;;
    submit:-*) COMPREPLY=($(compgen -W "--socket --chain --output --format --input --recursive --name --on-exists --json --quiet --verbose --help" -- "$word")) ;;
    enqueue:-*) COMPREPLY=($(compgen -W "--chain --format --input --output --wait --collect --timeout --result --class --id --again --server --credentials --ca --config --json --quiet --verbose --help" -- "$word")) ;;
    view:-*) COMPREPLY=($(compgen -W "--chain --input --recursive --daemon --http-socket --port --no-open --once --quiet --verbose --config --define --device --platform-index --device-index --cl-flags --no-fuse --max-pixels --max-file --memory --threads --help" -- "$word")) ;;
    status:-*) COMPREPLY=($(compgen -W "--socket --watch --json --quiet --verbose --help" -- "$word")) ;;
    why:-*) COMPREPLY=($(compgen -W "--socket --json --quiet --verbose --help" -- "$word")) ;;
    failed:-*) COMPREPLY=($(compgen -W "--socket --json --quiet --verbose --help" -- "$word")) ;;
    requeue:-*) COMPREPLY=($(compgen -W "--socket --failed --json --quiet --verbose --help" -- "$word")) ;;
    compare:-*) COMPREPLY=($(compgen -W "--input --max-pixels --max-file --memory --threads --json --quiet --verbose --help" -- "$word")) ;;
    stages:-*) COMPREPLY=($(compgen -W "--json --quiet --verbose --help" -- "$word")) ;;
    devices:-*) COMPREPLY=($(compgen -W "--device --platform-index --device-index --cl-flags --json --quiet --verbose --help" -- "$word")) ;;
    plan:-*) COMPREPLY=($(compgen -W "--chain --type --format --profile --board --source --generic --config --define --device --platform-index --device-index --cl-flags --no-fuse --json --quiet --verbose --help" -- "$word")) ;;
    bench:-*) COMPREPLY=($(compgen -W "--chain --size --type --iterations --variants --report --board --end-to-end --format --input --bank --no-reference --config --define --device --platform-index --device-index --cl-flags --dump-binary --load-binary --max-pixels --max-file --memory --threads --no-fuse --json --quiet --verbose --help" -- "$word")) ;;
    tune:-*) COMPREPLY=($(compgen -W "--chain --kinds --cache --config --define --device --platform-index --device-index --cl-flags --max-pixels --max-file --memory --threads --json --quiet --verbose --help" -- "$word")) ;;
    check-config:-*) COMPREPLY=($(compgen -W "--reference --json --quiet --verbose --help" -- "$word")) ;;
    warm:-*) COMPREPLY=($(compgen -W "--cache --config --define --device --platform-index --device-index --cl-flags --json --quiet --verbose --help" -- "$word")) ;;
    doctor:-*) COMPREPLY=($(compgen -W "--user --config --device --platform-index --device-index --cl-flags --json --quiet --verbose --help" -- "$word")) ;;
    testcard:-*) COMPREPLY=($(compgen -W "--output --format --size --json --quiet --verbose --help" -- "$word")) ;;
    sluiced:-*) COMPREPLY=($(compgen -W "--watch --output --chain --format --input --name --folder --on-exists --originals --report --on-done --on-failed --hook-time --claim --sync --settle --stable --mode --state --device --fallback --sandbox --max-pixels --max-file --memory --jobs --queue --job-time --worker-jobs --worker-time --worker-growth --shutdown --min-free --http-socket --jobs-socket --log-format --config --once --quiet --verbose --version --help" -- "$word")) ;;
    help:*) COMPREPLY=($(compgen -W "run submit enqueue view status why failed requeue compare stages devices plan bench tune check-config warm doctor testcard version help" -- "$word")) ;;
    stages:*) COMPREPLY=($(compgen -W "abs analysis blend box canny clahe close colour convert crop demosaic difference dilate divide dwt equalize erode fir flip gain gauss histogram idwt invert levels luminance mask median normalize open pad resize rotate shrink sobel statistics subtract synthesis threshold undistort unsharp warp" -- "$word")) ;;
    *) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}

complete -F _sluice sluice sluiced
