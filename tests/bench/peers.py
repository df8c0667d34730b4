#!/usr/bin/env python3
"""Compares sluice's times with those of OpenCV, libvips, Pillow, PyWavelets and libjpeg-turbo's tools (peers), and
prints a Markdown table of ratios. It names peers that are not installed.

Machines differ and are noisy, so times of different runs are not compared: each round times the peer and then sluice,
the ratio is that of the round's best times, and the median over the rounds is printed. Rows without a target are for
information.

Usage: peers.py [--build DIR] [--rounds N] [--photo FILE.jpg] [SECTION…]
Sections: kernels, pictures, files, rows, thumbnails, tensors, folder, service, native, live; all unless named."""
import argparse
import concurrent.futures
import http.client
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    numpy = None
try:
    import cv2
except ImportError:
    cv2 = None
try:
    import pywt
except ImportError:
    pywt = None
try:
    import pyvips
except (ImportError, OSError):  # OSError: there is no libvips
    pyvips = None
try:
    from PIL import Image
except ImportError:
    Image = None

HERE = os.path.dirname(os.path.abspath(__file__))


class Runner:
    """The programs, and where they work."""

    def __init__(self, options):
        self.build = options.build
        self.sluice = os.path.join(options.build, 'src', 'sluice')
        self.sluiced = os.path.join(options.build, 'src', 'sluiced')
        self.rounds = options.rounds
        self.dir = tempfile.mkdtemp(prefix='sluice-peers-')
        self.photo = options.photo and os.path.abspath(options.photo)

    def path(self, name):
        return os.path.join(self.dir, name)

    def report(self, *args):
        """What one `sluice bench` says."""
        out = subprocess.run([self.sluice, 'bench', '--json', *args], check=True, cwd=self.dir,
                             capture_output=True).stdout
        return json.loads(out)

    def bench(self, *args):
        return self.report(*args)['rows']

    def device(self, wanted='auto'):
        """A device's name and its driver's."""
        report = self.report('--device', wanted, '--iterations', '1', '--size', '64x64', 'invert')
        return report['device'], report['driver']


def best(function, times):
    """Seconds of the fastest of some calls."""
    spans = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        spans.append(time.perf_counter() - begin)
    return min(spans)


def table(title, head, rows):
    print('\n### %s\n\n| %s |\n|%s' % (title, ' | '.join(head), '---|' * len(head)))
    for row in rows:
        print('| %s |' % ' | '.join(row))
    sys.stdout.flush()


def number(value):
    return '%.2f' % value if value < 10 else '%.1f' % value if value < 100 else '%.0f' % value


def aim(value, target, at_least):
    """A figure with what it should be, bold where it is not."""
    if target is None:
        return number(value)
    good = value >= target if at_least else value <= target
    text = '%s (%s %g)' % (number(value), '≥' if at_least else '≤', target)
    return text if good else '**%s**' % text


# ---- kernels

def alternate(r, chain, peer, iterations=7, size='4096x4096'):
    """Medians over the rounds of the best times: peer's seconds, sluice's, their ratio, and how many
    times as long as the copy sluice takes."""
    rounds = []
    for _ in range(r.rounds):
        peer_s = best(peer, iterations) if peer else None
        row = r.bench('-c', chain, '--size', size, '--iterations', str(iterations))[0]
        rounds.append((peer_s, row['min_s'], 1 / row['best_share']))
    ratio = statistics.median(p / s for p, s, _ in rounds) if peer else None
    return (statistics.median(p for p, _, _ in rounds) if peer else None,
            statistics.median(s for _, s, _ in rounds), ratio,
            statistics.median(copies for _, _, copies in rounds))


def work_row(r, name, peer, function, chain, faster, copies, size):
    peer_s, own, ratio, copy = alternate(r, chain, function, 2 if peer == 'PyWavelets' else 7, size)
    return [name, peer or '—', number(peer_s * 1e3) if peer else '', number(own * 1e3),
            aim(ratio, faster, True) if peer else '', aim(copy, copies, False)]


def kernel_rows(side):
    """(work, peer's name, peer, chain, times faster at least, times of the copy at most)"""
    rng = numpy.random.default_rng(1)
    grey = cv2.GaussianBlur(rng.integers(0, 256, (side, side), numpy.uint8), (5, 5), 0)
    rgb = cv2.merge([grey, cv2.flip(grey, 0), cv2.flip(grey, 1)])
    kernel = numpy.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], numpy.float32) / 16

    def magnitude():
        dx, dy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
        return cv2.convertScaleAbs(cv2.magnitude(dx, dy), alpha=0.125)

    rows = [
        ('RGB → luminance', 'cvtColor', lambda: cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), 'luminance',
         1.7, 1.3),
        ('Sobel dX, dY', 'spatialGradient', lambda: cv2.spatialGradient(grey), 'sobel:out=both', 2, 2),
        ('Sobel magnitude', 'Sobel ×2, magnitude', magnitude, 'sobel', 6, 4),
        ('FIR 3×3', 'filter2D', lambda: cv2.filter2D(grey, -1, kernel), 'fir:1_2_1/2_4_2/1_2_1', 4,
         2.5),
    ]
    for width in (3, 9, 31, 101):
        rows.append(('box %d' % width, 'blur', lambda w=width: cv2.blur(grey, (w, w)),
                     'box:width=%d' % width, 2.5, 3))
    return rows, grey


def kernels(r):
    side = 4096
    size = '%dx%d' % (side, side)
    head = ['work', 'peer', 'peer ms', 'sluice ms', 'times faster', '× copy']
    work, grey = [], None
    if cv2 is not None and numpy is not None:
        work, grey = kernel_rows(side)
    else:
        print('\nOpenCV is not installed: its rows are left out.')
    if pywt is not None and grey is not None:
        real = grey.astype(numpy.float32)
        work.append(('wavedec2 bior4.4, 3 levels', 'PyWavelets',
                     lambda: pywt.wavedec2(real, 'bior4.4', mode='periodization', level=3),
                     'dwt:bior4.4:levels=3', 20, None))
    work += [('DWT 9/7, 3 levels', None, None, 'dwt:cdf97:levels=3', None, 4),
             ('DWT 5/3, 3 levels', None, None, 'dwt:cdf53:levels=3', None, 4)]
    rows = [work_row(r, *what, size) for what in work]
    fused = []
    for _ in range(r.rounds):
        apart = sum(r.bench('-c', chain, '--size', shape, '--iterations', '7')[0]['min_s']
                    for chain, shape in (('luminance', size + 'x3'), ('sobel', size),
                                         ('threshold:100', size)))
        row = r.bench('-c', 'luminance,sobel,threshold:100', '--size', size + 'x3', '--iterations',
                      '7')[0]
        fused.append((apart, row['min_s'], apart / row['min_s'],
                      1 / row['best_share']))
    middle = [statistics.median(column) for column in zip(*fused)]
    rows.append(['luminance,sobel,threshold', 'the three apart', number(middle[0] * 1e3),
                 number(middle[1] * 1e3), aim(middle[2], 1.8, True), aim(middle[3], 2, False)])
    table('Kernels, %s u8' % size, head, rows)
    print('\nOpenJPEG exports no transform to time; its figures in the targets are of its sources, '
          'built apart.')


# ---- stages of everyday pictures

def sizes_rows(grey, rgb):
    """Pictures made smaller: (work, peer's name, peer, chain, times faster at least, channels)"""
    rows, to = [], (grey.shape[1] // 4, grey.shape[0] // 4)
    for picture, channels in ((grey, 1), (rgb, 3)):
        work = 'resize to a quarter, lanczos3, %d channel%s' % (channels, 's' * (channels > 1))
        if pyvips is not None:
            vips = pyvips.Image.new_from_array(picture)
            rows.append((work, 'pyvips', lambda v=vips: v.resize(0.25, kernel='lanczos3').write_to_memory(),
                         'resize:by=0.25', 4, channels))
        if Image is not None:
            pil = Image.fromarray(picture)
            rows.append((work, 'Pillow', lambda p=pil: p.resize(to, Image.Resampling.LANCZOS), 'resize:by=0.25', None, channels))
        rows.append((work.replace('lanczos3', 'area'), 'INTER_AREA',
                     lambda p=picture: cv2.resize(p, to, interpolation=cv2.INTER_AREA), 'resize:by=0.25:filter=area', 2, channels))
    return rows


def geometry_rows(grey, rgb):
    size = grey.shape[1], grey.shape[0]
    m = numpy.array([[0.9, -0.3, 200], [0.3, 0.9, -100], [0, 0, 1]])
    bent = m + [[0, 0, 0], [0, 0, 0], [1e-5, 2e-5, 0]]
    rows = []
    for picture, channels in ((grey, 1), (rgb, 3)):
        for name, flag in (('bilinear', cv2.INTER_LINEAR), ('cubic', cv2.INTER_CUBIC)):
            rows.append(('affine, %s, %d channel%s' % (name, channels, 's' * (channels > 1)), 'warpAffine',
                         lambda p=picture, f=flag: cv2.warpAffine(p, m[:2], size, flags=f),
                         'warp:0.9_-0.3_200/0.3_0.9_-100:filter=' + name, 1, channels))
        rows.append(('perspective, bilinear, %d channel%s' % (channels, 's' * (channels > 1)), 'warpPerspective',
                     lambda p=picture: cv2.warpPerspective(p, bent, size),
                     'warp:0.9_-0.3_200/0.3_0.9_-100/1e-5_2e-5_1', 1, channels))
    return rows


def everyday_rows(grey, rgb):
    table_of = numpy.arange(255, -1, -1).astype(numpy.uint8)
    clahe = cv2.createCLAHE(2, (8, 8))
    rows = sizes_rows(grey, rgb)
    for side, faster in ((3, 1), (5, 2)):
        rows.append(('median %d×%d' % (side, side), 'medianBlur', lambda n=side: cv2.medianBlur(grey, n),
                     'median:%d' % (side // 2), faster, 1))
    for sigma, radius, faster in ((1.5, 5, 4), (8, 24, 6)):
        rows.append(('gauss, sigma %g' % sigma, 'GaussianBlur',
                     lambda s=sigma, n=2 * radius + 1: cv2.GaussianBlur(grey, (n, n), s), 'gauss:%g' % sigma, faster, 1))
    for side, faster in ((3, 4), (31, 3)):
        rows.append(('erode %d×%d' % (side, side), 'erode',
                     lambda n=side: cv2.erode(grey, numpy.ones((n, n), numpy.uint8)), 'erode:%d' % side, faster, 1))
    return rows + geometry_rows(grey, rgb) + [
        ('clahe 8×8', 'CLAHE', lambda: clahe.apply(grey), 'clahe', 8, 1),
        ('equalize', 'equalizeHist', lambda: cv2.equalizeHist(grey), 'equalize', 2, 1),
        ('levels', 'LUT', lambda: cv2.LUT(grey, table_of), 'levels:20:220:1.3', 2, 1),
        ('rotate by 90', 'rotate', lambda: cv2.rotate(grey, cv2.ROTATE_90_CLOCKWISE), 'rotate:90', 3, 1)]


def pictures(r):
    if cv2 is None or numpy is None:
        print('\nOpenCV is not installed: the stages of everyday pictures are left out.')
        return
    side = 4096
    known = {s['name'] for s in json.loads(subprocess.check_output([r.sluice, 'stages', '--json']))}
    grey = cv2.GaussianBlur(numpy.random.default_rng(1).integers(0, 256, (side, side), numpy.uint8), (5, 5), 0)
    rgb = cv2.merge([grey, cv2.flip(grey, 0), cv2.flip(grey, 1)])
    rows = [work_row(r, work, peer, function, chain, faster, None, '%dx%dx%d' % (side, side, channels))
            for work, peer, function, chain, faster, channels in everyday_rows(grey, rgb) if chain.split(':')[0] in known]
    table('Everyday pictures, %d×%d u8' % (side, side),
          ['work', 'peer', 'peer ms', 'sluice ms', 'times faster', '× copy'], rows)


# ---- files

def timed(command, **options):
    """Seconds by the wall and of processors that a command takes."""
    before = os.times()
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    wall = time.perf_counter() - begin
    after = os.times()
    return wall, (after.children_user + after.children_system -
                  before.children_user - before.children_system)


def fastest(command, times, **options):
    """The least of each over some runs."""
    return [min(column) for column in zip(*[timed(command, **options) for _ in range(times)])]


def photo(r):
    """The picture that files are made of: the one given, cut to nothing, or one of 12 megapixels
    that is as detailed as photographs are."""
    if r.photo:
        return r.photo
    rng = numpy.random.default_rng(7)
    image = numpy.zeros((3000, 4000, 3), numpy.float32)
    for scale in (8, 32, 128, 512):
        layer = rng.normal(0, 1, (3000 // scale + 2, 4000 // scale + 2, 3)).astype(numpy.float32)
        image += cv2.resize(layer, (4000, 3000), interpolation=cv2.INTER_CUBIC) * scale ** 0.5 * 3
    image += rng.normal(0, 3, image.shape)
    path = r.path('photo.jpg')
    cv2.imwrite(path, numpy.clip(image + 128, 0, 255).astype(numpy.uint8),
                [cv2.IMWRITE_JPEG_QUALITY, 92])
    return path


OPENCV_SCRIPT = '''
import cv2, sys
grey = cv2.imread(sys.argv[1], cv2.IMREAD_GRAYSCALE)
dx, dy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
cv2.imwrite(sys.argv[2], cv2.convertScaleAbs(cv2.magnitude(dx, dy), alpha=0.125))
'''


def vips_sobel(source, to):
    """The faster of what the command can do: its sobel of all channels at once (it cannot chain)."""
    return ['vips', 'sobel', source, to]


def files(r):
    if cv2 is None and not r.photo:
        print('\nNeither OpenCV nor --photo: the rows of files are left out.')
        return
    source = photo(r)
    kind, rows = {'jpg': [], 'png': []}, []
    have_vips, have_tools = shutil.which('vips'), shutil.which('djpeg') and shutil.which('cjpeg')
    script = r.path('script.py')
    with open(script, 'w', encoding='utf-8') as file:
        file.write(OPENCV_SCRIPT)
    for _ in range(r.rounds):
        for form in ('jpg', 'png'):
            out = r.path('out.' + form)
            one = {'engine': r.bench('-c', 'luminance,sobel', '-f', form, '--iterations', '3',
                                     '--end-to-end', source)[0]}
            one['sluice'] = fastest([r.sluice, 'run', '-q', '-c', 'luminance,sobel', '-o', out,
                                     source], 3)
            one['size'] = os.path.getsize(out)
            if have_vips:
                one['vips'] = fastest(vips_sobel(source, r.path('vips.' + form)), 2)
            if form == 'png' and cv2 is not None:
                one['opencv'] = fastest([sys.executable, script, source, r.path('opencv.png')], 2)
                one['opencv size'] = os.path.getsize(r.path('opencv.png'))
            if form == 'jpg' and have_tools:
                one['codec'] = (
                    fastest(['djpeg', '-grayscale', '-outfile', r.path('grey.pgm'), source], 3)[1] +
                    fastest(['cjpeg', '-grayscale', '-quality', '90', '-outfile', r.path('grey.jpg'),
                             r.path('grey.pgm')], 3)[1])
            kind[form].append(one)

    def median(form, function):
        return statistics.median(function(one) for one in kind[form])

    for form, faster in (('jpg', 4), ('png', 12)):
        name = 'JPEG → luminance,sobel → ' + form.upper().replace('JPG', 'JPEG')
        wall = median(form, lambda o: o['engine']['wall_s'])
        if have_vips:
            vips = median(form, lambda o: o['vips'][0])
            rows.append([name, 'vips sobel', number(vips * 1e3), number(wall * 1e3),
                         aim(median(form, lambda o: o['vips'][0] / o['engine']['wall_s']), faster,
                             True),
                         number(median(form, lambda o: o['vips'][0] / o['sluice'][0]))])
    if cv2 is not None:
        rows.append(['JPEG → luminance,sobel → PNG', 'OpenCV script',
                     number(median('png', lambda o: o['opencv'][0]) * 1e3),
                     number(median('png', lambda o: o['engine']['wall_s']) * 1e3),
                     aim(median('png', lambda o: o['opencv'][0] / o['engine']['wall_s']), 5, True),
                     number(median('png', lambda o: o['opencv'][0] / o['sluice'][0]))])
    table('Whole files, %s' % os.path.basename(source),
          ['work', 'peer', 'peer ms', 'sluice ms, in a running engine', 'times faster',
           'times faster, as a command with its start'], rows)
    if cv2 is not None:
        sizes = median('png', lambda o: o['size'] / o['opencv size'])
        print('\nThe PNG is %s the size of OpenCV\'s.' % aim(sizes, 1, False))
    if have_tools:
        cpu = median('jpg', lambda o: o['engine']['cpu_s'] / o['codec'])
        print('\nJPEG → JPEG takes %s the processor time of `djpeg -grayscale` and `cjpeg -grayscale`; '
              'as a command, start and all, %s.' %
              (aim(cpu, 1.25, False), number(median('jpg', lambda o: o['sluice'][1] / o['codec']))))
    part = kind['png'][0]['engine']
    print('\nOf JPEG → PNG: ' + ', '.join('%s %s ms' % (key[:-2], number(part[key] * 1e3)) for key in
                                         ('read_s', 'decode_s', 'device_s', 'encode_s', 'write_s')) +
          '; copied by the host: %d bytes.' % part['bytes_copied'])


SIZES = (2048, 1024, 512, 256)


def resident(command):
    """MiB that a command has at most. Measured by GNU time, since a child of this process begins with its size."""
    done = subprocess.run(['time', '-f', '%M', *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(done.stderr.split()[-1]) / 1024


def soft(r):
    """The photograph with larger sides, of which decoding takes little; some 8 MP of it; and a PNG of some 90."""
    paths = r.path('soft.jpg'), r.path('8mp.jpg'), r.path('large.png')
    chains = 'resize:w=6000:enlarge=1', 'resize:w=3280:enlarge=1', 'resize:w=11500:filter=bicubic:enlarge=1,gauss:2'
    for path, chain in zip(paths, chains):
        subprocess.run([r.sluice, 'run', '-q', '-c', chain, '-o', path, photo(r)], check=True)
    return paths


def rows_of_files(r):
    """What it gives that rows pass through (docs/architecture.md, "Rows in, rows out")."""
    if not shutil.which('time') or (cv2 is None and not r.photo):
        print('\nGNU time, or a photograph, is not there: rows are left out.')
        return
    large, middle, huge = soft(r)
    with open(huge, 'rb') as file:
        size = file.read(24)
    huge_is = 'PNG of %.0f MP' % (int.from_bytes(size[16:20], 'big') * int.from_bytes(size[20:24], 'big') / 1e6)
    subprocess.run([r.sluice, 'run', '-q', '-c', 'resize:w=300', '-o', r.path('small.jpg'), large], check=True)

    def run(chain, path, to):
        return [r.sluice, 'run', '-q', '-c', chain, '-o', r.path(to), path]

    def beyond(*command):
        return resident(run(*command)) - resident(run(command[0], r.path('small.jpg'), 'small.' + command[2].split('.')[-1]))

    edges, blurred = 'luminance,sobel', 'luminance,gauss:2,sobel'
    rounds = []
    several = [part for size in SIZES for part in ('-c', 'resize:w=%d' % size, '-o', r.path('%d.jpg' % size))]
    several += ['-c', edges, '-o', r.path('edges.png')]
    for _ in range(r.rounds):
        one = {'step': r.bench('-c', edges, '-f', 'png', '--iterations', '3', '--end-to-end', middle)[0]}
        one['at once'] = fastest([r.sluice, 'run', '-q', *several, large], 2)[0]
        one['apart'] = sum(fastest(run('resize:w=%d' % size, large, 'one.jpg'), 2)[0] for size in SIZES)
        one['apart'] += fastest(run(edges, large, 'one.png'), 2)[0]
        one['blur'] = fastest(run(blurred, huge, 'blur.png'), 1)[0]
        one['jpeg'] = fastest(run(edges, middle, 'edges.jpg'), 3)[0]
        if shutil.which('vips'):
            one['vips blur'] = fastest(['vips', 'gaussblur', huge, r.path('vips.png'), '2'], 1)[0]
            one['vips jpeg'] = fastest(vips_sobel(middle, r.path('vips.jpg')), 2)[0]
        rounds.append(one)

    def median(function):
        return statistics.median(function(one) for one in rounds)

    step = median(lambda o: o['step']['wall_s'] / max(o['step'][key] for key in ('decode_s', 'device_s', 'encode_s')))
    rows = [['JPEG, 3280 pixels wide, → `%s` → PNG, in a running engine: its time, in that of its slowest step' % edges, aim(step, 1.25, False)],
            ['the same as a command: MiB beyond those of a small picture', aim(beyond(edges, middle, 'edges.png'), 4, False)],
            ['%s → `%s` → PNG: MiB beyond those of a small picture' % (huge_is, blurred), aim(beyond(blurred, huge, 'blur.png'), 16, False)],
            ['a soft JPEG, 6000 pixels wide, → four sizes and an edge map at once: times faster than five runs',
             aim(median(lambda o: o['apart'] / o['at once']), 2.5, True)]]
    if shutil.which('vips'):
        rows += [['that PNG, as a command: times faster than `vips gaussblur`', aim(median(lambda o: o['vips blur'] / o['blur']), 2, True)],
                 ['its MiB, where `vips gaussblur` has %.0f' % resident(['vips', 'gaussblur', huge, r.path('vips.png'), '2']),
                  number(resident(run(blurred, huge, 'blur.png')))],
                 ['that JPEG → `%s` → JPEG, as a command: times faster than `vips sobel`' % edges,
                  aim(median(lambda o: o['vips jpeg'] / o['jpeg']), 6, True)]]
    table('Rows that pass through', ['what', 'figure'], rows)


def thumbnails(r, count=200, looped=20):
    """A JPEG of a camera to 640 pixels, as a command, in a running engine, and 200 of them."""
    if not shutil.which('vipsthumbnail') or (cv2 is None and not r.photo):
        print('\nvipsthumbnail, or a photograph for it, is not there: thumbnails are left out.')
        return
    source, chain = photo(r), 'resize:640'
    out, peer = r.path('thumbnail.jpg'), ['vipsthumbnail', source, '-s', '640x', '-o', r.path('vips.jpg')]
    many = r.path('many')
    os.makedirs(many)
    for i in range(count):
        shutil.copyfile(source, os.path.join(many, '%03d.jpg' % i))
    loop = ['sh', '-c', 'for i in $(seq %d); do %s; done' % (looped, ' '.join(peer))]
    rounds = []
    for _ in range(r.rounds):
        vips = fastest(peer, 3)[0]
        own = fastest([r.sluice, 'run', '-q', '-c', chain, '-o', out, source], 3)[0]
        engine = r.bench('-c', chain, '-f', 'jpg', '--iterations', '3', '--end-to-end', source)[0]['wall_s']
        alone = timed(loop)[0] / looped
        together = timed([r.sluice, 'run', '-q', '-c', chain, '-f', 'jpg', '--on-exists', 'overwrite', '-o', r.path('thumbs') + '/', many])[0] / count
        rounds.append((vips, own, engine, alone, together))

    def row(work, p, s, target):
        return [work, number(statistics.median(v[p] for v in rounds) * 1e3), number(statistics.median(v[s] for v in rounds) * 1e3),
                aim(statistics.median(v[p] / v[s] for v in rounds), target, True)]

    table('Thumbnails 640 pixels wide of %s' % os.path.basename(source), ['work', 'vipsthumbnail ms', 'sluice ms', 'times faster'],
          [row('whole process', 0, 1, 3), row('in a running engine', 0, 2, 3),
           row('%d by folder, each, against a shell loop' % count, 3, 4, 4)])


# ---- tensors

# What both make: the picture as a whole in 640×640 on grey, from 0 to 1, planar. OpenCV decodes all of the file (or, in the
# second row, at half of its sides, as sluice does) and takes two samples each way where it shrinks; sluice decodes at half of
# the sides, weighs all samples, and writes a file.
LETTERBOX = 'resize:640:640:fit=pad:enlarge=1:background=114:filter=bilinear,convert:f32,gain:0.00392156862745'
TENSORS = [('f32', LETTERBOX + ',convert:layout=chw'), ('f16', LETTERBOX + ',convert:f16:layout=chw'),
           ('f32, all of the JPEG (exact=1)', LETTERBOX.replace('640:fit', '640:exact=1:fit') + ',convert:layout=chw')]


def blob(source, flag):
    picture = cv2.imread(source, flag)
    height, width = picture.shape[:2]
    factor = min(640 / width, 640 / height)
    columns, rows = round(width * factor), round(height * factor)
    top, left = (640 - rows) // 2, (640 - columns) // 2
    small = cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_LINEAR)
    boxed = cv2.copyMakeBorder(small, top, 640 - rows - top, left, 640 - columns - left, cv2.BORDER_CONSTANT, value=(114, 114, 114))
    return cv2.dnn.blobFromImage(boxed, 1 / 255, swapRB=True)


def tensors(r):
    if cv2 is None or numpy is None:
        print('\nOpenCV is not installed: tensors are left out.')
        return
    source, rows = photo(r), []
    if numpy.shape(blob(source, cv2.IMREAD_COLOR)) != (1, 3, 640, 640):
        sys.exit('blobFromImage gives another shape')
    for name, chain in TENSORS:
        turns = []
        for _ in range(r.rounds):
            peer = best(lambda: blob(source, cv2.IMREAD_COLOR), 5)
            half = best(lambda: blob(source, cv2.IMREAD_REDUCED_COLOR_2), 5)
            row = r.bench('-c', chain, '-f', 'raw', '--iterations', '7', '--end-to-end', source)[0]
            turns.append((peer, half, row['wall_s'], row['decode_s']))
        middle = [statistics.median(column) * 1e3 for column in zip(*turns)]
        rows.append([name, *map(number, middle), aim(statistics.median(t[0] / t[2] for t in turns), 5, True),
                     number(statistics.median(t[1] / t[2] for t in turns))])
    table('A JPEG as a letterboxed 640×640 CHW tensor, %s' % os.path.basename(source),
          ['tensor', 'imread … blobFromImage, ms', 'with IMREAD_REDUCED_COLOR_2, ms', 'sluice, ms', 'of which decoding', 'times faster',
           'than the reduced one'], rows)


# ---- the daemon

class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost')
        self.unix_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.unix_path)


class Daemon:
    def __init__(self, r, name, *options, folders=None, env=None):
        self.base = r.path(name)
        self.env = dict(os.environ, **(env or {}))
        for part in ('in', 'out', 'state'):
            os.makedirs(os.path.join(self.base, part), exist_ok=True)
        self.http = os.path.join(self.base, 'h')
        folders = folders or ['--watch', os.path.join(self.base, 'in'), '--output', os.path.join(self.base, 'out')]
        self.command = [r.sluiced, *folders, '--state', os.path.join(self.base, 'state'), '--http-socket', self.http, *options]

    def __enter__(self):
        self.begin = time.perf_counter()
        with open(os.path.join(self.base, 'log'), 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.env)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def wait_ready(self):
        """Seconds from its start until it takes jobs."""
        while True:
            try:
                connection = UnixConnection(self.http)
                connection.request('GET', '/readyz')
                if connection.getresponse().status == 200:
                    return time.perf_counter() - self.begin
            except OSError:
                pass
            time.sleep(0.002)
            if self.process.poll() is not None:
                raise RuntimeError('sluiced has ended; see its log')

    def wait_results(self, count):
        """Seconds until that many results are there."""
        out = os.path.join(self.base, 'out')
        while len([n for n in os.listdir(out) if not n.startswith('.')]) < count:
            time.sleep(0.01)
            if self.process.poll() is not None:
                raise RuntimeError('sluiced has ended; see its log')
        return time.perf_counter()


def folder(r, count=200, looped=20):
    if not shutil.which('vips') or (cv2 is None and not r.photo):
        print('\nvips, or a photograph for it, is not there: the folder\'s row is left out.')
        return
    source = photo(r)
    with Daemon(r, 'folder', '--chain', 'luminance,sobel', '--format', 'jpg', '--stable', '100ms',
                '--originals', 'delete') as daemon:
        daemon.wait_ready()
        loop = ['sh', '-c', 'for i in $(seq %d); do vips sobel %s %s/vips-$i.jpg; done' %
                (looped, source, r.dir)]
        before = timed(loop)[0]
        staged = r.path('staged')
        os.makedirs(staged)
        for i in range(count):
            shutil.copyfile(source, os.path.join(staged, '%03d.jpg' % i))
        cpu = cpu_of_children(daemon.process.pid)
        begin = time.perf_counter()
        for i in range(count):
            os.rename(os.path.join(staged, '%03d.jpg' % i),
                      os.path.join(daemon.base, 'in', '%03d.jpg' % i))
        wall = daemon.wait_results(count) - begin
        cpu = cpu_of_children(daemon.process.pid) - cpu
        after = timed(loop)[0]
    vips = 2 * looped / (before + after)
    own = count / wall
    table('%d files through the watched folder, JPEG → luminance,sobel → JPEG' % count,
          ['peer', 'peer files/s', 'sluice files/s', 'times as many', 'processors kept busy'],
          [['shell loop of vips sobel', number(vips), number(own), aim(own / vips, 6, True),
            number(cpu / wall)]])


def cpu_of_children(pid):
    """Seconds of processors that a process and what it has started have used."""
    tick, total, parents = os.sysconf('SC_CLK_TCK'), 0, {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name, encoding='utf-8') as file:
                    fields = file.read().rpartition(')')[2].split()
                parents[int(name)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
            except OSError:
                pass
    for number_, (_, used) in parents.items():
        ancestor = number_
        while ancestor > 1 and ancestor != pid:
            ancestor = parents.get(ancestor, (0, 0))[0]
        total += used if ancestor == pid else 0
    return total / tick


def service(r):
    """A small picture over the socket with the connection kept, and the time to be ready."""
    ready, request = [], []
    body = b'P5\n640 480\n255\n' + bytes(i * i // 7 % 256 for i in range(640 * 480))
    for i in range(max(r.rounds, 3)):
        with Daemon(r, 'service%d' % i, '--chain', 'luminance,sobel') as daemon:
            ready.append(daemon.wait_ready())
            connection = UnixConnection(daemon.http)
            spans = []
            for _ in range(60):
                begin = time.perf_counter()
                connection.request('POST', '/v1/process?chain=luminance,sobel&format=pgm', body)
                answer = connection.getresponse()
                answer.read()
                spans.append(time.perf_counter() - begin)
            request.append(statistics.median(spans[10:]))
    own = r.bench('-c', 'luminance,sobel', '--size', '640x480x1', '--iterations', '50')[0]['median_s']
    table('The daemon', ['what', 'ms', 'aim'], [
        ['640×480 grey PGM over HTTP on the Unix socket, above the kernels\' own time',
         number((statistics.median(request) - own) * 1e3), '≤ 2'],
        ['start to ready, kernels cached (the first start of this run may have compiled)',
         number(statistics.median(ready[1:]) * 1e3), '≤ 150']])


# ---- the processor's own kernels beside what PoCL makes of the same sources

# (work, chain, channels, times as fast at least); PoCL's kernels are specialised: coefficients are constants.
BESIDE_POCL = [
    ('RGB → luminance', 'luminance', 3, 0.95), ('Sobel dX, dY', 'sobel:out=both', 1, 0.95), ('Sobel magnitude', 'sobel', 1, 0.95),
    ('FIR 3×3', 'fir:1_2_1/2_4_2/1_2_1', 1, 0.9), ('FIR 5×5', 'fir:' + '/'.join(['1_2_3_2_1'] * 5), 1, 0.9),
    ('FIR 7×7', 'fir:' + '/'.join(['1_2_3_4_3_2_1'] * 7), 1, 0.9),
    *[('box %d' % width, 'box:width=%d' % width, 1, 0.95) for width in (3, 9, 31, 101)],
    ('wavedec2 bior4.4, 3 levels', 'dwt:bior4.4:levels=3', 1, 0.95), ('DWT 9/7, 3 levels', 'dwt:cdf97:levels=3', 1, 0.95),
    ('DWT 5/3, 3 levels', 'dwt:cdf53:levels=3', 1, 0.95), ('luminance,sobel,threshold', 'luminance,sobel,threshold:100', 3, 0.95)]
FOUR_CHAINS = ['luminance,sobel', 'luminance,box:radius=4,threshold:otsu', 'dwt:db4:levels=4,shrink,idwt',
               'analysis:haar:levels=2,synthesis']


def configuration(folder, chains):
    """The options of a daemon with a watched folder for each chain."""
    path = os.path.join(folder, 'sluice.yaml')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('watch:\n')
        for i, chain in enumerate(chains):
            file.write('  - {input: %s/in%d, output: %s/out%d, chain: "%s", format: npz}\n' % (folder, i, folder, i, chain))
            for part in ('in', 'out'):
                os.makedirs('%s/%s%d' % (folder, part, i))
    return ['--config', path]


def start(r, device=None, chains=None):
    """Seconds until the daemon is ready with an empty cache, and what its worker then has resident, in bytes; as it is by
    default without a device and chains."""
    with tempfile.TemporaryDirectory(dir=r.dir) as folder:
        env = {'SLUICE_CACHE_DIR': os.path.join(folder, 'cache'), 'POCL_CACHE_DIR': os.path.join(folder, 'pocl')}
        options = [] if chains else ['--chain', FOUR_CHAINS[0]]
        if device:
            options += ['--device', device]
            env['SLUICE_DEVICE_WAIT'] = 'true'
        with Daemon(r, os.path.basename(folder) + '-daemon', *options, folders=chains and configuration(folder, chains),
                    env=env) as daemon:
            ready = daemon.wait_ready()
            time.sleep(1)
            connection = UnixConnection(daemon.http)
            connection.request('GET', '/v1/status')
            worker = json.loads(connection.getresponse().read())['worker']['pid']
            with open('/proc/%d/statm' % worker, encoding='utf-8') as file:
                return ready, int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def commands(r, device):
    """Seconds that `sluice run` of each stage takes as a process, on a small picture, with an empty cache, by its chain."""
    names = [row['name'] for row in r.bench('--size', '64x64', '--iterations', '1', '--device', 'native')]
    picture = r.path('small.ppm')
    with open(picture, 'wb') as file:
        file.write(b'P6\n64 64\n255\n' + bytes(i * i // 7 % 256 for i in range(3 * 64 * 64)))
    spans = {}
    for chain in names:
        with tempfile.TemporaryDirectory(dir=r.dir) as cache:
            env = dict(os.environ, SLUICE_CACHE_DIR=cache, POCL_CACHE_DIR=cache)
            spans[chain] = timed([r.sluice, 'run', '-q', '--device', device, '-c', chain, '-f', 'npz', '--on-exists', 'overwrite', '-o',
                                  r.path('small.npz'), picture], env=env)[0]
    return spans


def beside_pocl(r):
    """The best of many short turns, since what else the machine does takes a processor from either side."""
    rows = []
    for work, chain, channels, least in BESIDE_POCL:
        size = '4096x4096x%d' % channels
        turns = [[r.bench('--device', device, '-c', chain, '--size', size, '--iterations', '7')[0]['min_s'] for device in ('cpu', 'native')]
                 for _ in range(4 * r.rounds)]
        pocl, own = map(min, zip(*turns))
        rows.append([work, number(pocl * 1e3), number(own * 1e3), aim(pocl / own, least, True)])
    table('native beside PoCL, 4096×4096 u8, best of %d turns' % (4 * r.rounds), ['work', 'PoCL ms', 'native ms', 'times as fast'], rows)


def starts(r):
    rows, memory = [], []
    for what, chains in (('default configuration, one chain', None), ('four chains', FOUR_CHAINS)):
        pocl = start(r, 'cpu', chains)
        own = [start(r, chains and 'native', chains) for _ in range(max(r.rounds, 3))]
        rows.append(['start to ready, nothing cached, %s, ms' % what, number(pocl[0] * 1e3),
                     aim(statistics.median(ready for ready, _ in own) * 1e3, 150, False)])
        memory = [pocl[1], statistics.median(resident for _, resident in own)]
    pocl, own = commands(r, 'cpu'), [commands(r, 'native') for _ in range(max(r.rounds, 3))]
    middle = {chain: statistics.median(spans[chain] for spans in own) for chain in pocl}
    for what, chain in (('the fastest', min(middle, key=middle.get)), ('the slowest', max(middle, key=middle.get))):
        rows.append(['`sluice run` of a small picture, nothing cached, %s of %d chains of all stages (`%s`), ms' % (what, len(middle), chain),
                     number(pocl[chain] * 1e3), aim(middle[chain] * 1e3, 40, False)])
    rows.append(['the worker\'s memory, ready and idle, four chains, MB', number(memory[0] / 1e6), aim(memory[1] / 1e6, 15, False)])
    table('Starts', ['what', 'PoCL', 'native'], rows)


def building(r):
    """What the build takes for native's kernels: its own commands, into a folder of their own."""
    lines = subprocess.run(['ninja', '-C', r.build, '-t', 'commands', 'src/sluice'], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    made, waiting = {}, []
    for line in lines:
        level = re.search(r'NATIVE_NAME\(name\)=name##_(\w+)', line)
        if level:
            made.setdefault(level[1], []).append(r.path('%d.o' % len(waiting)))
            waiting.append(re.sub(r' -o \S+', ' -o ' + made[level[1]][-1], line))
    before, begin = os.times(), time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(lambda line: subprocess.run(line, shell=True, cwd=r.build, check=True), waiting))
    wall, after = time.perf_counter() - begin, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    rows = [['%d levels, s' % len(made), aim(wall, 90, False)], ['the same, s of processors', number(used)]]
    for level, objects in made.items():
        sizes = subprocess.run(['size', *objects], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        rows.append([level + ', MB', aim(sum(int(line.split()[3]) for line in sizes) / 1e6, 8, False)])
    table('Compiling native\'s kernels, %d processes at once' % os.cpu_count(), ['what', 'of this build'], rows)


def native(r):
    print('\nPoCL: %s, driver %s' % r.device('cpu'))
    beside_pocl(r)
    starts(r)
    building(r)


# ---- the element for GStreamer

FULL_HD = 1920 * 1080
RGB_CHAIN = 'sluice chain=resize:w=960,colour:m=0.9_0.1_0/0_1_0/0_0.1_0.9,gauss:sigma=1.5'
# (what, candidate, beside what, times as long at most or (at_least) as fast at least). A copy is one thread's memcpy of half of
# the bytes that a frame and its result have.
LIVE = [
    ('invert GRAY8, in copies', 'GRAY8=sluice chain=invert', 'copy=%d' % FULL_HD, 0.7, False),
    ('sobel GRAY8, in copies', 'GRAY8=sluice chain=sobel', 'copy=%d' % FULL_HD, 2.2, False),
    ('NV12 → luminance:bt709,sobel, in copies', 'NV12=sluice chain=luminance:bt709,sobel', 'copy=%d' % (FULL_HD * 5 // 4), 1.6, False),
    ('the same of full range, whose Y is the luminance', 'NV12/1:3:5:1=sluice chain=luminance:bt709,sobel',
     'copy=%d' % (FULL_HD * 5 // 4), None, False),
    ('NV12 → luminance:bt709,sobel against videoconvert ! cvsobel', 'NV12=sluice chain=luminance:bt709,sobel', 'NV12=videoconvert ! cvsobel', 20, True),
    ('NV12 → resize, colour, gauss against videoconvert in front', 'NV12=' + RGB_CHAIN,
     'NV12=videoconvert ! video/x-raw,format=RGB ! ' + RGB_CHAIN, 4, True)]


def live_element(r):
    """The element beside memcpy and other elements, in turns, with real-time priority where that may be had."""
    program = os.path.join(r.build, 'tests', 'bench_live')
    if not os.path.exists(program):
        print('\nno element: tests/bench_live is not built (docs/gstreamer.md)')
        return
    environment = dict(os.environ, GST_PLUGIN_PATH=os.path.join(r.build, 'src', 'gst'), GST_REGISTRY=r.path('registry'))
    first = ['chrt', '-f', '10'] if subprocess.run(['chrt', '-f', '10', 'true'], stderr=subprocess.DEVNULL,
                                                   check=False).returncode == 0 else []

    def measure(frames, fps, *candidates):
        done = subprocess.run(first + [program, '1920', '1080', str(frames), str(fps), *candidates], env=environment,
                              stdout=subprocess.PIPE, text=True, check=True)
        return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]

    rows, copied = [], 0
    for what, own, other, target, at_least in LIVE:
        if 'cvsobel' in other and subprocess.run(['gst-inspect-1.0', 'cvsobel'], stdout=subprocess.DEVNULL,
                                                 check=False).returncode != 0:
            rows.append([what, '–', '–', 'cvsobel is in gstreamer1.0-opencv'])
            continue
        times = [measure(120, 0, own, other) for _ in range(r.rounds)]
        copied += sum(one[0][2] for one in times)
        value = statistics.median(b[0] / a[0] if at_least else a[0] / b[0] for a, b in times)
        best = [min(one[i][0] for one in times) for i in (0, 1)]
        rows.append([what, '%.0f' % best[0], '%.0f' % best[1], aim(value, target, at_least)])
    times = [measure(300, 60, 'GRAY8=sluice chain=sobel')[0] for _ in range(r.rounds)]
    rows.append(['sobel GRAY8, 60 frames a second: p99 / p50', '%.0f' % statistics.median(one[0] for one in times), '',
                 aim(statistics.median(one[1] / one[0] for one in times), 1.5, False)])
    rows.append(['bytes that were copied', '', '', aim(copied, 0, False)])
    table('The element for GStreamer, 1920×1080%s' % ('' if first else ' (without real-time priority)'),
          ['what', 'µs', 'beside it, µs', 'ratio'], rows)


# ---- arrays of Python

def python_rows():
    """(work, peer's name, peer, ours, times faster at least), all into arrays that are there."""
    import sluice
    rng = numpy.random.default_rng(1)
    grey = cv2.GaussianBlur(rng.integers(0, 256, (1080, 1920), numpy.uint8), (5, 5), 0)
    out, scaled = numpy.empty_like(grey), numpy.empty_like(grey)
    small, small_out = numpy.zeros((16, 16), numpy.uint8), numpy.zeros((16, 16), numpy.uint8)
    x, y, length = (numpy.empty(grey.shape, numpy.float32) for _ in range(3))
    dx, dy = (numpy.empty(grey.shape, numpy.int16) for _ in range(2))
    device = sluice.Device('native')
    sobel, invert, both = (sluice.Chain(text, device) for text in ('sobel', 'invert', 'sobel:out=both'))
    planes = both(grey)

    def magnitude():
        cv2.Sobel(grey, cv2.CV_32F, 1, 0, dst=x)
        cv2.Sobel(grey, cv2.CV_32F, 0, 1, dst=y)
        cv2.convertScaleAbs(cv2.magnitude(x, y, length), scaled, 0.125)

    def gradient():
        cv2.spatialGradient(grey, dx, dy)

    return [
        ('sobel', 'Sobel ×2, magnitude', magnitude, lambda: sobel(grey, out=out), 8),
        ('sobel', 'spatialGradient', gradient, lambda: sobel(grey, out=out), 1.3),
        ('sobel, a new array', 'spatialGradient', lambda: cv2.spatialGradient(grey), lambda: sobel(grey), None),
        ('sobel:out=both', 'spatialGradient', gradient, lambda: both(grey, out=planes), None),
        ('invert', 'bitwise_not', lambda: cv2.bitwise_not(grey, out), lambda: invert(grey, out=out), None),
        ('invert of 16×16', 'bitwise_not', lambda: cv2.bitwise_not(small, small_out), lambda: invert(small, out=small_out), None),
    ]


def live_python(r):
    """The module beside OpenCV's, call by call in turns, with real-time priority where that may be had."""
    sys.path.insert(0, os.path.join(r.build, 'src/python'))
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)) # before the threads of either start, which get it, too
    except PermissionError:
        pass
    try:
        candidates = python_rows()
    except (ImportError, AttributeError) as missing:
        os.sched_setscheduler(0, *before)
        print('\nno arrays of Python: %s (docs/python.md)' % missing)
        return
    rows = []
    for name, peer, theirs, ours, faster in candidates:
        rounds = []
        for _ in range(r.rounds):
            pairs = [(best(theirs, 1), best(ours, 1)) for _ in range(60)]
            rounds.append([min(spans) for spans in zip(*pairs)])
        ratio = statistics.median(p / s for p, s in rounds)
        rows.append([name, peer, *('%.4f' % (statistics.median(column) * 1e3) for column in zip(*rounds)), aim(ratio, faster, True)])
    os.sched_setscheduler(0, *before)
    table('Arrays of Python, 1920×1080 grey, native', ['chain', 'OpenCV', 'OpenCV, ms', 'sluice, ms', 'times faster'], rows)


def live(r):
    live_element(r)
    live_python(r)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default=os.path.join(HERE, '..', '..', 'build'))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--photo')
    parser.add_argument('sections', nargs='*', metavar='SECTION')
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    sections = {'kernels': kernels, 'pictures': pictures, 'files': files, 'rows': rows_of_files, 'thumbnails': thumbnails,
                'tensors': tensors, 'folder': folder, 'service': service, 'native': native, 'live': live}
    for name in options.sections:
        if name not in sections:
            parser.error('no section %s; there are %s' % (name, ', '.join(sections)))
    r = Runner(options)
    try:
        print('%s, driver %s; %d processors, load %.1f at the start; %s' % (
            *r.device(), os.cpu_count(), os.getloadavg()[0],
            ', '.join(name for name, there in (
                ('OpenCV ' + (cv2.__version__ if cv2 is not None else ''), cv2),
                ('PyWavelets ' + (pywt.__version__ if pywt is not None else ''), pywt),
                ('pyvips with vips %d.%d' % (pyvips.version(0), pyvips.version(1)) if pyvips is not None else '', pyvips),
                ('Pillow ' + (Image.__version__ if Image is not None and hasattr(Image, '__version__') else ''), Image),
                ('vips', shutil.which('vips'))) if there) or 'no peers'))
        for name in options.sections or sections:
            sections[name](r)
    finally:
        shutil.rmtree(r.dir)


if __name__ == '__main__':
    main()
