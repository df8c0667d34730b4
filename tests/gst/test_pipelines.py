#!/usr/bin/env python3
"""test_pipelines.py SLUICE SOURCE_ROOT [--all | LAYER]: raw frames through `filesrc ! sluice ! filesink` and through `sluice run`: the
same bytes, for every stage, or the same refusal. A sample of formats and sizes; with --all each stage at each. And the
commands and the example of docs/gstreamer.md; the element in a process of its own; and, with the layer that has OpenCL fail, a
device that is lost."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# A chain for a stage, whose result is a video where the stage takes the frame. One that is not here is a chain by itself.
CHAINS = {
    'analysis': 'analysis:haar,synthesis:haar', 'box': 'box:radius=2', 'canny': 'canny:60:160', 'clahe': 'clahe:tiles=2x2',
    'close': 'close:radius=1', 'colour': 'colour:m=0_1_0/1_0_0/0_0_1', 'convert': 'convert:type=u16:channels=1',
    'crop': 'crop:1:2:20:5', 'dilate': 'dilate:radius=2', 'demosaic': 'demosaic:rggb,convert:type=u8', 'dwt': 'dwt,idwt', 'erode': 'erode:radius=1',
    'fir': 'fir:1_2_1/2_4_2/1_2_1:divisor=16', 'flip': 'flip:x', 'gain': 'gain:by=1.5', 'gauss': 'gauss:sigma=1.5',
    'histogram': 'histogram:bins=16,convert:type=u16', 'idwt': 'dwt:levels=2,idwt', 'levels': 'levels:10:200', 'luminance': 'luminance:bt709',
    'open': 'open:radius=1', 'pad': 'pad:left=2:bottom=1', 'resize': 'resize:w=100',
    'rotate': 'rotate:90', 'shrink': 'dwt,shrink:threshold=2,idwt', 'synthesis': 'analysis:cdf97,synthesis:cdf97',
    'threshold': 'threshold:t=90', 'unsharp': 'unsharp:sigma=1', 'warp': 'warp:0.9_-0.3_5/0.3_0.9_-4',
    'undistort': 'undistort:matrix=300_0_160/0_300_120/0_0_1:distortion=-0.2_0.05', 'blend': 'blend:200:opacity=0.4',
    'subtract': 'subtract:20', 'difference': 'difference:90', 'divide': 'divide:3:scale=2', 'mask': 'mask:1',
}
FORMATS = {'GRAY8': ('gray8', 1), 'RGB': ('rgb24', 3), 'RGBA': ('rgba32', 4), 'GRAY16_LE': ('gray16', 2)}
SIZES = [(640, 480), (321, 241), (1921, 7), (1, 1)]
RESULTS = {'GRAY8': 1, 'RGB': 3, 'RGBA': 4, 'GRAY16_LE': 2, 'RGBA64_LE': 8}
GST_CAPS = re.compile(r'GstPad:sink: caps = video/x-raw, format=\(string\)(\w+), width=\(int\)(\d+), height=\(int\)(\d+)')


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, timeout=120)


def launch(*description, **environment):
    """gst-launch-1.0, which is ended at its first error: up to 1.22 it may miss one of its start, and wait for ever."""
    with subprocess.Popen(['gst-launch-1.0', *description], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', env=dict(os.environ, **environment)) as process:
        said, failed = '', False
        for line in process.stdout:
            said += line
            if 'ERROR: pipeline doesn' in line:
                failed = True
                process.kill()
    return failed or process.returncode != 0, said


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def by_command(sluice, chain, form, size, frame, result):
    done = run(sluice, 'run', '--device', 'native', '-c', chain, '--input', 'raw=%s:w=%d:h=%d' % (FORMATS[form][0], *size),
               '--format', 'raw', '--on-exists', 'overwrite', '-o', result, frame)
    if done.returncode == 0 and not os.path.exists(result):
        return None, 'several planes, each a file of its own'
    return (read(result), None) if done.returncode == 0 else (None, done.stdout)


def by_element(chain, form, size, frame, result):
    """The rows of the result, packed; every frame has packed rows, which GStreamer's own layout has not."""
    pixel = FORMATS[form][1]
    failed, said = launch('-v', 'filesrc', 'location=' + frame, 'blocksize=%d' % os.path.getsize(frame), '!',
                          'rawvideoparse', 'use-sink-caps=false', 'format=' + form.replace('_', '-').lower(), 'width=%d' % size[0],
                          'height=%d' % size[1], 'plane-strides=<%d>' % (size[0] * pixel), 'plane-offsets=<0>',
                          'frame-size=%d' % (size[0] * size[1] * pixel), '!', 'sluice', 'name=it', 'device=native',
                          'chain=' + chain, '!', 'filesink', 'location=' + result)
    caps = [found for found in map(GST_CAPS.search, said.split('\n')) if found and 'GstFileSink' in found.string]
    if failed or not caps:
        return None, said
    name, width, height = caps[-1].group(1), int(caps[-1].group(2)), int(caps[-1].group(3))
    data, row = read(result), width * RESULTS[name]
    stride = (row + 3) // 4 * 4
    if len(data) == row * height:  # a frame that was passed through
        return data, None
    if len(data) < stride * (height - 1) + row:
        return None, '%d bytes of %s %dx%d' % (len(data), name, width, height)
    return b''.join(data[y * stride:y * stride + row] for y in range(height)), None


def check_pair(sluice, folder, stage, form, size):
    frame, result = os.path.join(folder, 'frame'), os.path.join(folder, 'result')
    with open(frame, 'wb') as file:
        file.write(random.Random('%s%s%s' % (stage, form, size)).randbytes(size[0] * size[1] * FORMATS[form][1]))
    for path in (result, result + '.raw'):
        if os.path.exists(path):
            os.remove(path)
    wanted, refusal = by_command(sluice, CHAINS[stage], form, size, frame, result + '.raw')
    got, why = by_element(CHAINS[stage], form, size, frame, result)
    if wanted == got:
        return None if wanted is not None or 'ERROR' in why else 'no error: %s' % why
    return '%s of %s %dx%d: %s' % (CHAINS[stage], form, *size, 'other samples' if wanted and got else
                                   'sluice run: %s\ngst-launch: %s' % (refusal or 'done', why or 'done'))


def check_pairs(sluice, folder, everything):
    names = re.findall(r'(?m)^(\w+)', run(sluice, 'stages').stdout)
    assert names and not set(CHAINS) - set(names), set(CHAINS) - set(names)
    for name in names:
        CHAINS.setdefault(name, name)
    wrong, count, refused = [], 0, 0
    for index, stage in enumerate(sorted(CHAINS)):
        forms, sizes = sorted(FORMATS), SIZES
        if not everything:
            forms, sizes = [['RGB', 'GRAY8', 'GRAY16_LE', 'RGBA'][index % 4]], [SIZES[1 + index // 4 % 2]]
            if stage == 'colour':
                forms = ['RGB']
        for form in forms:
            for size in sizes:
                problem = check_pair(sluice, folder, stage, form, size)
                count += 1
                if problem:
                    wrong.append(problem)
                    print(problem, flush=True)
    print('%d pairs, %d differ' % (count, len(wrong)))
    return not wrong


def packed(path, row, height):
    """The rows of a frame as GStreamer lays them out, one behind the other."""
    data, stride = read(path), (row + 3) // 4 * 4
    return b''.join(data[y * stride:y * stride + row] for y in range(height))


def check_mosaics(sluice, folder, everything):
    """The order of the colours comes from the caps: frames are those of `sluice run` with that order named."""
    width, height = 62, 41
    frame, result = os.path.join(folder, 'mosaic'), os.path.join(folder, 'colours')
    for order in ['rggb', 'grbg', 'gbrg', 'bggr'] if everything else ['gbrg']:
        failed, said = launch('videotestsrc', 'num-buffers=1', 'pattern=smpte', '!', 'video/x-bayer,format=%s,width=%d,height=%d' % (order, width, height), '!',
                              'tee', 'name=t', '!', 'queue', '!', 'filesink', 'location=' + frame,
                              't.', '!', 'queue', '!', 'sluice', 'device=native', 'chain=invert,demosaic:method=bilinear', '!', 'filesink', 'location=' + result)
        assert not failed, said
        got, mosaic = packed(result, 3 * width, height), packed(frame, width, height)
        with open(frame, 'wb') as file:
            file.write(mosaic)
        wanted, why = by_command(sluice, 'invert,demosaic:%s:bilinear' % order, 'GRAY8', (width, height), frame, result + '.raw')
        assert got == wanted, (order, why)
    # Samples of 12 bits in 16, as cameras give them.
    chain = 'levels:black=64:white=4095,demosaic%s,convert:type=u8'
    with open(frame, 'wb') as file:
        file.write(b''.join(random.Random(1).randrange(4096).to_bytes(2, 'little') for i in range(width * height)))

    def launch_wide(chain, form='video/x-bayer,format=grbg12le'):
        return launch('filesrc', 'location=' + frame, 'blocksize=%d' % (2 * width * height), '!', '%s,width=%d,height=%d,framerate=30/1' % (form, width, height), '!',
                      'sluice', 'device=native', 'chain=' + chain, '!', 'filesink', 'location=' + result)
    failed, said = launch_wide(chain % '')
    assert not failed, said
    wanted, why = by_command(sluice, chain % ':grbg', 'GRAY16_LE', (width, height), frame, result + '.raw')
    assert packed(result, 3 * width, height) == wanted, why
    for refused in ((chain % ':rggb',), (chain % '', 'video/x-raw,format=GRAY16_LE')):  # of another order; and without one
        failed, said = launch_wide(*refused)
        assert failed and "can't handle caps" in said, said


def check_page(root):
    with open(os.path.join(root, 'docs', 'gstreamer.md'), encoding='utf-8') as file:
        page = file.read()
    blocks = re.findall(r'(?ms)^```sh gstreamer\n(.*?)^```', page)
    assert blocks
    good = True
    for block in blocks:
        commands = [line for line in block.split('\n') if not line.startswith('export ')]
        done = run('sh', '-ec', '\n'.join(commands))
        if done.returncode != 0 or 'ERROR' in done.stdout:
            print('docs/gstreamer.md: %s\n%s' % (block, done.stdout))
            good = False
    with open(os.path.join(root, 'docs', 'examples', 'frames.py'), encoding='utf-8') as file:
        program = file.read()
    part = re.search(r'(?ms)^```python\n(.*?)^```', page).group(1)
    if part.strip() not in program:
        print('docs/gstreamer.md shows another example than docs/examples/frames.py')
        good = False
    python = next((name for name in ('python3', '/usr/bin/python3')
                   if run(name, '-c', 'import gi, numpy; gi.require_version("GstVideo", "1.0")').returncode == 0), None)
    if not python:
        print('frames.py is not run: python3-gst-1.0 or python3-numpy is not here')
        return good
    done = run(python, os.path.join(root, 'docs', 'examples', 'frames.py'), 'luminance,sobel')
    if done.returncode != 0 or done.stdout.count('(240, 320)') != 30 or 'bytes-copied=(guint64)0' not in done.stdout:
        print('frames.py:', done.stdout)
        good = False
    return good


def check_lost_device(layer, folder):
    """OpenCL's device goes while frames are in flight: each comes out, by the fallback, and the same."""
    def frames(name, more, environment):
        path = os.path.join(folder, name)
        said = launch('videotestsrc', 'num-buffers=8', '!', 'video/x-raw,format=NV12,width=320,height=240', '!', 'sluice',
                      'chain=luminance,sobel', *more, '!', 'filesink', 'location=' + path, POCL_SIGFPE_HANDLER='0', **environment)[1]
        return said, read(path) if os.path.exists(path) else b''
    wanted = frames('native', ['device=native'], {})[1]
    said, got = frames('whole', ['device=cpu', 'fallback=none', 'in-flight=3'], {})
    if 'NOT_FOUND' in said or 'no device fits' in said:
        print('no device of OpenCL to lose:', said.split('\n')[1])
        return True
    good = got == wanted and len(got) == 8 * 320 * 240
    if not good:
        print('OpenCL: %d bytes\n%s' % (len(got), said))
    for depth in (1, 3):
        said, got = frames('lost', ['device=cpu', 'in-flight=%d' % depth],
                           {'OPENCL_LAYERS': layer, 'SLUICE_FAULT_CL': 'clEnqueueNDRangeKernel:5:lost'})
        if got != wanted or said.count('goes on with the fallback, native') != 1:
            print('a lost device with %d in flight: %d bytes\n%s' % (depth, len(got), said))
            good = False
    said, got = frames('none', ['device=cpu', 'fallback=none'],
                       {'OPENCL_LAYERS': layer, 'SLUICE_FAULT_CL': 'clEnqueueNDRangeKernel:5:lost'})
    if 'ERROR' not in said or 'CL_DEVICE_NOT_AVAILABLE' not in said:
        print('a lost device without a fallback:', said)
        good = False
    return good


def check_processes(folder):
    """A source, the element and a file, each in a process of its own: the same frames as in one."""
    if any(run('gst-inspect-1.0', name).returncode != 0 for name in ('unixfdsrc', 'unixfdsink')):
        print('not in processes of their own: unixfdsrc and unixfdsink are GStreamer 1.26\'s (gstreamer1.0-plugins-bad)')
        return True
    source = ['videotestsrc', 'num-buffers=8', 'pattern=snow', '!', 'video/x-raw,format=NV12,width=320,height=240']
    element = ['sluice', 'device=native', 'chain=luminance,sobel']
    names = ('wanted', 'got', 'frames', 'edges')
    wanted, got, frames, edges = [os.path.join(folder, 'process-' + name) for name in names]
    said = launch(*source, '!', *element, '!', 'filesink', 'location=' + wanted)[1]
    parts = [[*source, '!', 'unixfdsink', 'wait-for-connection=true', 'socket-path=' + frames],
             ['unixfdsrc', 'socket-path=' + frames, '!', *element, '!', 'unixfdsink', 'wait-for-connection=true', 'socket-path=' + edges],
             ['unixfdsrc', 'socket-path=' + edges, '!', 'filesink', 'location=' + got]]
    processes = []
    try:
        for part, path in zip(parts, (frames, edges, None)):
            processes.append(subprocess.Popen(['gst-launch-1.0', '-q', *part], stdin=subprocess.DEVNULL))
            end = time.monotonic() + 60
            while path and not os.path.exists(path) and time.monotonic() < end:
                time.sleep(0.02)
        statuses = [process.wait(60) for process in processes]
    except subprocess.TimeoutExpired:
        statuses = ['none in 60 s']
    finally:
        for process in processes:
            process.kill()
            process.wait()
    sizes = [os.path.getsize(path) if os.path.exists(path) else 0 for path in (wanted, got)]
    good = statuses == [0, 0, 0] and sizes[0] == 8 * 320 * 240 and sizes[1] == sizes[0] and read(wanted) == read(got)
    print('in processes of their own: statuses %s, %d of %d bytes%s' % (statuses, sizes[1], sizes[0], '' if good else '\n' + said))
    return good


def main():
    if not shutil.which('gst-launch-1.0') or run('gst-inspect-1.0', 'rawvideoparse').returncode != 0:
        print('no gst-launch-1.0 with rawvideoparse: gstreamer1.0-tools and gstreamer1.0-plugins-base')
        sys.exit(SKIPPED)
    sluice, root, everything = sys.argv[1], sys.argv[2], '--all' in sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        good = check_pairs(sluice, folder, everything)
        check_mosaics(sluice, folder, everything)
        if not everything:
            good = check_page(root) and good
            good = check_processes(folder) and good
            good = (len(sys.argv) < 4 or check_lost_device(sys.argv[3], folder)) and good
    sys.exit(0 if good else 1)


main()
