#!/bin/sh
# tests/mali_compile.sh FILE.cl… [--gpu g52|g57|g610] [--work DIR]
#
# What Mesa's compiler for Mali GPUs makes of OpenCL kernels, without such a GPU: for each kernel the compiler's
# intermediate form, its instructions and its own figures, and a line "FILE FILE.cl" behind those of each file. Nothing
# is executed. It is Debian 13's rusticl for arm64, run by qemu-user in a tree of its own (0.5 GB, made at the first
# run), on a device that Mesa's drm-shim pretends. Three seconds, and half a second for each kernel.
# Needs root, and: mmdebstrap qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross opencl-c-headers.
set -eu

gpu=g52 work=${XDG_CACHE_HOME:-$HOME/.cache}/sluice-mali files=
while [ $# -gt 0 ]; do
    case $1 in
    --gpu) gpu=$2; shift ;;
    --work) work=$2; shift ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "mali_compile.sh: unknown option $1" >&2; exit 64 ;;
    *) files="$files $1" ;;
    esac
    shift
done
# The products' numbers as the GPU tells them.
case $gpu in
g52) id=7212 ;;
g57) id=9093 ;;
g610) id=a867 ;;
*) echo "mali_compile.sh: --gpu $gpu: expected g52, g57 or g610" >&2; exit 64 ;;
esac
[ -n "$files" ] || { echo 'mali_compile.sh: which files of kernels?' >&2; exit 64; }

make_tree() {
    rm -rf "$work"
    mkdir -p "$work"
    mmdebstrap --quiet --variant=extract --arch=arm64 \
        --include=libc6,mesa-opencl-icd,mesa-drm-shim,ocl-icd-libopencl1,libclc-19 trixie "$work/root"
    for folder in bin lib sbin; do
        [ -e "$work/root/$folder" ] || ln -s "usr/$folder" "$work/root/$folder"
    done
    mkdir -p "$work/root/proc" "$work/root/dev" "$work/root/tmp" "$work/root/usr/bin"
    cp "$(command -v qemu-aarch64-static)" "$work/root/usr/bin/"
    aarch64-linux-gnu-gcc -O1 "$(dirname "$0")/mali_compile.c" -o "$work/root/usr/bin/mali_compile" \
        -idirafter /usr/include -L"$work/root/usr/lib/aarch64-linux-gnu" -Wl,--allow-shlib-undefined \
        -l:libOpenCL.so.1
    touch "$work/ready"
}
[ -e "$work/ready" ] || make_tree >&2

here=$(mktemp -d "$work/root/tmp/XXXXXX")
trap 'rm -rf "$here"' EXIT
cp $files "$here"
within=
for file in $files; do
    within="$within /tmp/${here##*/}/${file##*/}"
done
# The cortex-a57 has no pointer authentication, which qemu computes ten times more slowly than everything else.
# qemu's -E takes a comma for the end of a variable, so those come by the environment.
BIFROST_MESA_DEBUG=shaders,shaderdb MESA_SHADER_CACHE_DISABLE=1 RUSTICL_ENABLE=panfrost PAN_GPU_ID=$id \
    OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd unshare --mount sh -c '
        root=$0
        mount -t proc proc "$root/proc"
        mount --bind /dev "$root/dev"
        exec chroot "$root" /usr/bin/qemu-aarch64-static -cpu cortex-a57 \
            -E LD_PRELOAD=/usr/lib/aarch64-linux-gnu/libpanfrost_noop_drm_shim.so /usr/bin/mali_compile "$@" 2>&1' \
    "$work/root" $within
