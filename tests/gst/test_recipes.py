#!/usr/bin/env python3
"""test_recipes.py BUILD SOURCE_ROOT: the programs of docs/gstreamer.md that want more than GStreamer: mat.cpp (OpenCV) is compiled and
run, and rtsp.py serves a viewer. What they want and is not here is said, and is a skip if neither can be run."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
# A decoder and an encoder that come with GStreamer's good plugins; the page shows H.264.
SERVED = 'videotestsrc is-live=true ! video/x-raw,width=320,height=240 ! sluice chain=clahe ! videoconvert ! ' \
         'video/x-raw,format=I420 ! jpegenc ! rtpjpegpay name=pay0'


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, timeout=300, **options)


def flags(*packages):
    done = run('pkg-config', '--cflags', '--libs', *packages)
    return shlex.split(done.stdout) if done.returncode == 0 else None


def check_mat(root, folder):
    """None: what it needs is not here."""
    opencv = flags('opencv4')
    if opencv is None and os.path.exists('/usr/include/opencv4/opencv2/core.hpp'):
        opencv = ['-I/usr/include/opencv4', '-lopencv_core']  # Debian's libopencv-core-dev, without opencv4.pc
    gstreamer = flags('gstreamer-app-1.0', 'gstreamer-video-1.0')
    if opencv is None or gstreamer is None:
        print('mat.cpp is not compiled: libopencv-core-dev or libgstreamer-plugins-base1.0-dev is not here')
        return None
    program = os.path.join(folder, 'mat')
    done = run('c++', '-std=c++17', '-Wall', '-Wextra', '-Werror', os.path.join(root, 'docs', 'examples', 'mat.cpp'), '-o', program,
               *gstreamer, *opencv)
    if done.returncode != 0:
        print('mat.cpp:', done.stdout)
        return False
    good = True
    for chain, size in (('sobel', '320 × 240'), ('resize:w=80:h=60', '80 × 60')):
        done = run(program, chain)
        lines = done.stdout.splitlines()
        seen = re.fullmatch(size + r', (\d+) pixels at edges', lines[0]) if lines else None
        if done.returncode != 0 or len(lines) != 11 or not seen or int(seen.group(1)) == 0 or lines[10] != '0 bytes copied' or \
                len(set(lines[:10])) != 1:
            print('mat %s: %s' % (chain, done.stdout))
            good = False
    return good


def check_rtsp(root):
    python = next((name for name in ('python3', '/usr/bin/python3')
                   if run(name, '-c', 'import gi; gi.require_version("GstRtspServer", "1.0")').returncode == 0), None)
    missing = [name for name in ('jpegenc', 'rtpjpegpay', 'rtspsrc', 'rtpjpegdepay', 'jpegdec')
               if run('gst-inspect-1.0', name).returncode != 0]
    if not python or missing:
        print('rtsp.py is not run: %s is not here' % (', '.join(missing) or 'gir1.2-gst-rtsp-server-1.0'))
        return None
    with subprocess.Popen([python, os.path.join(root, 'docs', 'examples', 'rtsp.py'), SERVED, '0'], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip().replace('localhost', '127.0.0.1')
            done = run('gst-launch-1.0', '-v', 'rtspsrc', 'protocols=tcp', 'location=' + url, '!', 'rtpjpegdepay', '!', 'jpegdec', '!',
                       'fakesink', 'num-buffers=20')
        finally:
            server.kill()
    if done.returncode != 0 or 'ERROR' in done.stdout or 'width=(int)320, height=(int)240' not in done.stdout:
        print('rtsp.py, and a viewer of %s:\n%s' % (url, done.stdout))
        return False
    return True


def main():
    build, root = sys.argv[1:]
    os.environ['LD_LIBRARY_PATH'] = os.path.join(build, 'src')
    with open(os.path.join(root, 'docs', 'gstreamer.md'), encoding='utf-8') as file:
        page = file.read()
    with open(os.path.join(root, 'docs', 'examples', 'mat.cpp'), encoding='utf-8') as file:
        program = file.read()
    shown = [part for part in re.findall(r'(?ms)^```cpp\n(.*?)^```', page) if part.strip() not in program]
    for part in shown:
        print('docs/gstreamer.md shows what docs/examples/mat.cpp has not:\n' + part)
    with tempfile.TemporaryDirectory() as folder:
        results = [check_mat(root, folder), check_rtsp(root)]
    if shown or False in results:
        return 1
    return 0 if True in results else SKIPPED


if __name__ == '__main__':
    sys.exit(main())
