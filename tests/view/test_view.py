#!/usr/bin/env python3
"""`sluice view` in a browser, as people use it: a chain that is tuned, and what is taken away from it.
Usage: test_view.py SLUICE SLUICED SOURCE_ROOT BUILD_ROOT [--pictures | --figures | unittest options]

--pictures draws docs/pictures/view-*.webp anew, --figures measures what docs/view.md says of times. SLUICE_VIEW is the program."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..')]
import browser  # noqa: E402
import pictures  # noqa: E402
from folder import FolderTest  # noqa: E402

SLUICE, SLUICED, ROOT, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
CAT, COFFEE = (os.path.join(ROOT, 'docs/pictures', name) for name in ('cat.jpg', 'coffee.jpg'))
PAGE_BYTES = 120 * 1024


class View:
    """The command; its page's address; and what it was asked without a browser."""

    def __init__(self, test, *args, **env):
        self.process = subprocess.Popen([SLUICE, 'view', *([] if 'DISPLAY' in env else ['--no-open']), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=test.dir, env={**os.environ, **env}, preexec_fn=browser.ordinary if test.others_first else None)
        self.ended = False
        test.addCleanup(self.end)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise AssertionError(self.process.stderr.read().decode())
        self.port, self.token = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})', self.url).groups()

    def get(self, path, **headers):
        request = urllib.request.Request('http://127.0.0.1:%s%s' % (self.port, path), headers={'Sluice-Token': self.token, **headers})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def end(self, number=signal.SIGTERM):
        if self.ended:
            return self.process.returncode
        self.ended = True
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(20)
        self.process.stdout.close()
        said = self.process.stderr.read().decode()
        self.process.stderr.close()
        if 'Sanitizer' in said or 'runtime error' in said:
            raise AssertionError(said)
        return self.process.returncode


class Case(FolderTest):
    browser = None  # one for all
    others_first = False  # the command and the browser give way to what is measured

    @classmethod
    def setUpClass(cls):
        if not Case.browser:
            Case.browser = browser.Browser(cls.others_first)
            unittest.addModuleCleanup(Case.browser.close)

    def colours(self, name='photo.png', width=97, height=61, seed=3):
        """A PNG of noise."""
        ppm = self.write('noise.ppm', pictures.pnm(width, height, pictures.noise(width, height, 3, seed), 3))
        self.run_('-c', 'gauss:0.8', '-o', self.path(name), ppm)
        return self.path(name)

    def run_(self, *args):
        done = subprocess.run([SLUICE, 'run', '-q', *args], cwd=self.dir, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def result(self, chain, photo, name='expected.png'):
        """The bytes that `sluice run` writes."""
        self.run_('-c', chain, '-o', self.path(name), photo)
        return self.read(name)

    def open(self, *args, width=1440, height=900, scheme='light', ready=True):
        view = View(self, *args)
        page = self.browser.open(view.url, width, height, scheme)
        self.addCleanup(page.close)
        if ready:
            self.settled(page)
        return view, page

    def settled(self, page, chain=None):
        """All that was asked for is shown."""
        page.wait('document.body.getAttribute("aria-busy") === "false" && window.sluice && sluice.picture.after.plane && '
                  'document.body.dataset.shown === %s && sluice.state.good'
                  % (json.dumps(chain) if chain is not None else 'document.getElementById("text").value'))
        page.run('new Promise(done => setTimeout(() => requestAnimationFrame(done), 40))')

    def text(self, page):
        return page.run('document.getElementById("text").value')

    def set_text(self, page, chain):
        page.click('#text')
        page.key('a', browser.CONTROL)
        page.run('document.getElementById("text").select()')
        page.type(chain) if chain else page.key('Delete')

    def names(self, page):
        return page.run('[...document.querySelectorAll("#stages .name")].map(e => e.textContent)')

    def samples(self, page, side='after'):
        """(columns, rows, samples) of the whole picture that the page has."""
        return page.run('(() => { const l = sluice.picture.%s.whole; return [l.head.columns, l.head.rows, Array.from(l.samples)] })()' % side)


class Tuning(Case):
    def test_a_chain_by_hand(self):
        photo = self.colours()
        _, page = self.open('-c', 'luminance,box:radius=2,sobel', photo)
        self.assertEqual(self.names(page), ['luminance', 'box', 'sobel'])
        # added, with what it begins with, behind the one that is open or at the end
        page.click('#add')
        page.type('two values')
        page.key('Enter')
        self.settled(page, 'luminance,box:radius=2,sobel,threshold:100')
        # moved by its buttons, by Alt and an arrow, and by hand
        page.hover('[data-stage=sobel] .opener')  # which shows what can be done with it
        page.click('[data-stage=sobel] [aria-label="Move up sobel"]')
        self.settled(page, 'luminance,sobel,box:radius=2,threshold:100')
        page.key('ArrowDown', browser.ALT)
        self.settled(page, 'luminance,box:radius=2,sobel,threshold:100')
        x, y = page.place('[data-stage=box] .grip')
        _, to = page.place('[data-stage=sobel] .grip')
        page.drag((x, y), (x, to + 8))
        self.settled(page, 'luminance,sobel,box:radius=2,threshold:100')
        # switched off: it stays in the list, and is not in the text
        page.click('[data-stage=box] .switch')
        self.settled(page, 'luminance,sobel,threshold:100')
        self.assertEqual(self.names(page), ['luminance', 'sobel', 'box', 'threshold'])
        page.click('[data-stage=box] .switch')
        self.settled(page, 'luminance,sobel,box:radius=2,threshold:100')
        # removed, and undone
        page.hover('[data-stage=box] .opener')
        page.click('[data-stage=box] [aria-label="Remove box"]')
        self.settled(page, 'luminance,sobel,threshold:100')
        page.click('#undo')
        self.settled(page, 'luminance,sobel,box:radius=2,threshold:100')
        page.click('#redo')
        self.settled(page, 'luminance,sobel,threshold:100')
        self.assertEqual(page.errors(), [])

    def test_text_and_list_are_one(self):
        photo = self.colours()
        _, page = self.open(photo)
        self.assertEqual(self.text(page), '')
        page.click('#starts button')  # for who has no chain yet
        self.settled(page, 'luminance,gauss:1.2,sobel')
        self.assertTrue(page.run('document.getElementById("starts").hidden'))
        self.set_text(page, 'gauss:2,unsharp:1.5:amount=0.5')
        self.settled(page, 'gauss:2,unsharp:1.5:amount=0.5')
        self.assertEqual(self.names(page), ['gauss', 'unsharp'])
        page.click('[data-stage=unsharp] .opener')
        self.assertEqual(page.run('[...document.querySelectorAll(".param")].map(e => [e.dataset.param, e.querySelector("[type=number]")?.value])'),
                         [['sigma', '1.5'], ['amount', '0.5'], ['threshold', '0'], ['border', None]])
        # every parameter has its help
        self.assertEqual(page.run('[...document.querySelectorAll(".param .help")].filter(e => !e.textContent).length'), 0)
        page.run('(() => { const e = document.querySelector("[data-param=border] select"); e.value = "reflect"; e.dispatchEvent(new Event("change")) })()')
        self.settled(page, 'gauss:2,unsharp:1.5:amount=0.5:border=reflect')
        # aliases of a word are not offered
        words = page.run('[...document.querySelectorAll("[data-param=border] option")].map(e => e.textContent)')
        self.assertIn('edge', words)
        self.assertNotIn('replicate', words)
        page.click('[data-param=border] .reset')
        self.settled(page, 'gauss:2,unsharp:1.5:amount=0.5')

    def test_every_stage_and_every_control(self):
        """Each stage can be added and opened, and what it begins with is right."""
        photo = self.colours(width=64, height=48)
        _, page = self.open(photo)
        for name in page.run('[...sluice.list.tables.keys()]'):
            page.run('(() => { sluice.list.take(""); sluice.list.add(%s) })()' % json.dumps(name))
            page.wait('document.body.getAttribute("aria-busy") === "false"')
            text, said = self.text(page), page.run('document.getElementById("mistakes").textContent')
            self.assertTrue(text.startswith(name), text)
            if name not in ('shrink', 'synthesis', 'idwt', 'demosaic', 'histogram', 'statistics'):  # these take another one's planes, or a mosaic, or make numbers
                self.assertEqual(said, '', name)
            controls = page.run('document.querySelectorAll(".params .param").length')
            self.assertEqual(controls, page.run('sluice.list.tables.get(%s).params.length' % json.dumps(name)))
        self.assertEqual([line for line in page.errors() if '422' not in line], [])

    def test_matrix(self):
        photo = self.colours()
        _, page = self.open('-c', 'fir:sharpen', photo)
        page.click('[data-stage=fir] .opener')
        page.run('(() => { const e = document.querySelector("[data-param=k] select"); e.value = "#"; e.dispatchEvent(new Event("change")) })()')
        self.settled(page, 'fir:0_0_0/0_1_0/0_0_0')
        page.click('[data-param=k] .matrix input:nth-child(4)')
        page.run('document.activeElement.select()')
        page.type('-1')
        self.settled(page, 'fir:0_0_0/-1_1_0/0_0_0')
        page.click('[data-param=k] [aria-label=Larger]')
        self.settled(page, 'fir:0_0_0_0_0/0_0_0_0_0/0_-1_1_0_0/0_0_0_0_0/0_0_0_0_0')

    def test_slider(self):
        photo = self.colours()
        _, page = self.open('-c', 'luminance,threshold:100', photo)
        page.click('[data-stage=threshold] .opener')
        x, y = page.place('[data-param=t] [type=range]')
        page.drag((x, y), (x + 30, y), 12)
        self.settled(page)
        value = int(re.fullmatch(r'luminance,threshold:(\d+)', self.text(page)).group(1))
        self.assertGreater(value, 128)
        self.assertEqual(page.run('document.querySelector("[data-param=t] [type=number]").value'), str(value))
        expected = pictures.read_png(self.result(self.text(page), photo))
        self.assertEqual(self.samples(page), [expected[0], expected[1], list(expected[4])])

    def test_part_while_it_moves(self):
        """Of a large picture that is seen in part, that part alone is computed as long as the slider moves; its samples are those of
        the whole."""
        photo = self.colours(width=1000, height=800)
        _, page = self.open('-c', 'gauss:2,median,unsharp:1,erode:3,luminance,sobel', photo, width=900, height=420)
        page.click('#zooms [data-value="100"]')
        page.click('[data-stage=gauss] .opener')
        page.run('window.parts = []; const take = sluice.picture.after.constructor.prototype.take; '
                 'sluice.picture.after.take = function (p) { parts.push(p.head.part); '
                 'if (p.head.part) window.part = p; return take.call(this, p) }')
        page.run('(() => { const e = document.querySelector("[data-param=sigma] [type=range]"); e.value = 300; e.dispatchEvent(new Event("input")) })()')
        page.wait('parts.includes(true)')
        self.settled(page)
        page.wait('parts[parts.length - 1] === false', 'the whole follows')
        same = page.run('(() => { const h = part.head, w = sluice.picture.after.whole; for (let y = 0; y < h.rows; y++) for (let x = 0; x < h.columns; x++) '
                        'if (part.samples[y * h.columns + x] !== w.samples[(y + h.y) * w.head.columns + x + h.x]) return [x, y]; return h.columns * h.rows })()')
        self.assertIsInstance(same, int)

    def test_wrong_chain(self):
        photo = self.colours()
        _, page = self.open('-c', 'luminance,sobel', photo)
        self.set_text(page, 'luminance,sobell,box:radius=x')
        page.wait('document.querySelectorAll("#marks mark").length === 2')
        self.assertEqual(page.run('[...document.querySelectorAll("#marks mark")].map(e => e.textContent)'), ['sobell', 'x'])
        self.assertEqual(page.run('[...document.querySelectorAll(".card.wrong .name")].map(e => e.textContent)'), ['sobell', 'box'])
        self.assertIn("did you mean 'sobel'", page.run('document.getElementById("mistakes").textContent'))
        self.assertEqual(page.run('document.getElementById("text").getAttribute("aria-invalid")'), 'true')
        # the marks stand under the words
        self.assertEqual(page.run('(() => { const a = getComputedStyle(document.getElementById("marks")), b = getComputedStyle(document.getElementById("text")); '
                                  'return ["font", "padding", "lineHeight", "wordBreak", "whiteSpace"].filter(k => a[k] !== b[k]) })()'), [])
        # a click on the complaint leads there
        page.click('#mistakes li:nth-child(2) button')
        self.assertEqual(page.run('(() => { const t = document.getElementById("text"); return t.value.slice(t.selectionStart, t.selectionEnd) })()'), 'x')
        self.set_text(page, 'luminance,sobel')
        self.settled(page, 'luminance,sobel')
        self.assertEqual(page.run('document.querySelectorAll("#marks mark, #mistakes li").length'), 0)
        # typed key by key: what was wrong on the way is not marked any more
        page.run('document.getElementById("text").setSelectionRange(99, 99)')
        for key in ',box:radius=2':
            page.key(key)
        self.settled(page, 'luminance,sobel,box:radius=2')
        self.assertEqual(page.run('document.querySelectorAll(".card.wrong").length'), 0)
        # a chain that is right and does not suit the picture
        self.set_text(page, 'crop:w=5000:h=10')
        page.wait('document.querySelectorAll("#mistakes li").length === 1')
        self.assertIn('5000', page.run('document.getElementById("mistakes").textContent'))

    def test_stages_own_results(self):
        photo = self.colours()
        _, page = self.open('-c', 'luminance,invert,sobel', photo)
        page.click('[data-stage=invert] .dot')
        page.wait('sluice.picture.after.whole && sluice.list.steps() === 2 && document.body.getAttribute("aria-busy") === "false"')
        expected = pictures.read_png(self.result('luminance,invert', photo))
        self.assertEqual(self.samples(page)[2], list(expected[4]))
        page.click('#dot-source')
        page.wait('sluice.picture.after.plane.channels === 3')
        page.click('#dot-result')
        self.settled(page)
        self.assertEqual(self.samples(page)[2], list(pictures.read_png(self.result('luminance,invert,sobel', photo))[4]))


class Looking(Case):
    def pixel(self, page, x, y):
        """What the screen shows there of the picture."""
        return page.run('(() => { sluice.picture.drawNow(); const c = sluice.picture, d = c.canvas.getContext("2d").getImageData('
                        'Math.floor((c.x + (%d + 0.5) * c.scale) * devicePixelRatio), Math.floor((c.y + (%d + 0.5) * c.scale) * devicePixelRatio), 1, 1).data; '
                        'return Array.from(d) })()' % (x, y))

    def test_exact_at_100(self):
        """What is on the screen at 100 % is what the command writes."""
        for photo, chain in ((self.colours(width=120, height=80), 'gauss:1,colour:0.9_0.1_0/0.1_0.8_0.1/0_0.2_0.8'), (CAT, 'luminance,sobel')):
            _, page = self.open('-c', chain, photo)
            page.click('#zooms [data-value="100"]')
            page.click('#sides [data-value=after]')
            width, height, channels, _, samples = pictures.read_png(self.result(chain, photo))
            whole = page.run('(() => { sluice.picture.drawNow(); const p = sluice.picture; return Array.from(p.canvas.getContext("2d")'
                             '.getImageData(p.x, p.y, %d, %d).data) })()' % (width, height))
            for k in range(3):
                self.assertEqual(whole[k::4], list(samples[k if channels == 3 else 0::channels]))

    def test_wipe_and_values(self):
        photo = self.colours()
        _, page = self.open('-c', 'invert', photo)
        page.click('#zooms [data-value="800"]')
        self.assertEqual(page.run('sluice.picture.scale'), 8)
        x, y = page.run('(() => { const p = sluice.picture, b = p.frame.getBoundingClientRect(); return [b.x + p.frame.clientWidth * 0.7, b.y + 200] })()')
        page.mouse('mouseMoved', x, y)
        place = page.run('sluice.picture.place')
        width, _, _, _, samples = pictures.read_png(self.read(photo))
        before = [samples[(place['y'] * width + place['x']) * 3 + k] for k in range(3)]
        said = page.run('document.getElementById("value").textContent')
        self.assertEqual(said, '%d, %d   %s  →  %s' % (place['x'], place['y'], ' '.join(map(str, before)), ' '.join(str(255 - v) for v in before)))
        # right of the wipe is after, left of it before
        self.assertEqual(self.pixel(page, place['x'] + 2, place['y'])[:3], [255 - samples[(place['y'] * width + place['x'] + 2) * 3 + k] for k in range(3)])
        bx, by = page.place('#wipe')
        page.drag((bx, by), (bx + 600, by))
        self.assertGreater(page.run('sluice.picture.wipe'), 0.9)
        self.assertEqual(self.pixel(page, place['x'] + 2, place['y'])[:3], [samples[(place['y'] * width + place['x'] + 2) * 3 + k] for k in range(3)])
        # by the wheel, around the pointer
        page.call('Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=0, deltaY=-1500)
        page.wait('sluice.picture.scale > 40')
        page.click('#zooms [data-value=fit]')
        self.assertEqual(page.run('sluice.picture.zoom'), 'fit')

    def test_planes(self):
        photo = self.colours(width=128, height=96)
        _, page = self.open('-c', 'luminance,dwt:levels=2', photo)
        names = page.run('[...document.querySelectorAll("#plane option")].map(e => e.value)')
        self.assertEqual(names[0], '')  # the mosaic
        self.assertGreater(len(names), 6)
        mosaic = pictures.read_png(self.result('luminance,dwt:levels=2', photo))
        self.assertEqual(self.samples(page)[:2], [mosaic[0], mosaic[1]])
        band = names[-1]
        page.run('(() => { const e = document.getElementById("plane"); e.value = %s; e.dispatchEvent(new Event("change")) })()' % json.dumps(band))
        page.wait('sluice.picture.after.plane && sluice.picture.after.plane.name === %s' % json.dumps(band))
        page.wait('/f32, .* shown as black … white/.test(document.getElementById("about").textContent)', 'the mapping is stated')
        low, high = map(float, re.search(r'f32, (\S+) … (\S+) shown', page.run('document.getElementById("about").textContent')).groups())
        self.assertEqual(low, -high)  # a band has both signs: 0 is in the middle
        # two planes that are no transform's
        self.set_text(page, 'luminance,sobel:both')
        page.wait('sluice.picture.after.plane?.name === "dx"')
        page.wait('[...document.querySelectorAll("#plane option")].map(e => e.value).join() === "dx,dy"')
        page.wait('/i8, -128 … 127 shown/.test(document.getElementById("about").textContent)')

    def test_histogram_and_cost(self):
        grey = self.write('two.pgm', pictures.pnm(64, 64, [0] * 32 * 64 + [200] * 32 * 64))
        _, page = self.open('-c', 'invert', grey)
        page.run('new Promise(done => setTimeout(done, 100))')
        bars = page.run('(() => { const c = document.getElementById("histogram"), d = c.getContext("2d").getImageData(0, 80, c.width, 1).data, s = []; '
                        'for (let x = 0; x < c.width; x += 2) if (d[4 * x + 3]) s.push(x / 2); return s })()')
        self.assertEqual(bars, [55, 255])
        self.assertEqual(page.run('[...document.querySelectorAll("#times li span:first-of-type")].map(e => e.textContent)'), ['invert'])
        figures = dict(page.run('[...document.querySelectorAll("#figures dt")].map(e => [e.textContent, e.nextSibling.textContent])'))
        self.assertEqual(figures['Launches'], '1')
        self.assertEqual(figures['Copied'], '0 B')
        self.assertEqual(figures['Moved'], '8.0 KiB')
        page.run('(() => { const e = document.getElementById("board"); e.value = "rock5b"; e.dispatchEvent(new Event("change")) })()')
        page.wait('/At least .* on Radxa ROCK 5B \\(Mali-G610\\), 1 launch/.test(document.getElementById("board-cost").textContent)')

    def test_large_pictures_in_full_where_they_are_seen(self):
        photo = self.write('large.pgm', pictures.pnm(3000, 2000, bytes((x * 7 + y * 13) & 255 for y in range(2000) for x in range(3000))))
        _, page = self.open('-c', 'invert', photo)
        self.assertEqual(page.run('sluice.picture.after.whole.head.every'), 2)
        page.click('#zooms [data-value="100"]')
        page.wait('sluice.picture.after.part && sluice.picture.after.part.head.every === 1 && sluice.picture.before.part')
        page.click('#sides [data-value=after]')
        seen = page.run('sluice.picture.visible()')
        x, y = seen['x'] + 50, seen['y'] + 70
        self.assertEqual(self.pixel(page, x, y)[0], 255 - (x * 7 + y * 13 & 255))

    def test_folders(self):
        """A thousand files: the list is there at once, and what is no picture is not in it."""
        folder = self.path('many')
        os.mkdir(folder)
        for i in range(1000):
            self.write('many/%04d.pgm' % i, pictures.pnm(8, 8, [i & 255] * 64))
        self.write('many/notes.txt', b'no picture')
        self.write('many/.hidden.pgm', pictures.pnm(8, 8, [1] * 64))
        begun = time.monotonic()
        _, page = self.open(folder)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertEqual(page.run('document.querySelectorAll("#file option").length'), 1000)
        page.key(']')
        page.wait('document.title.startsWith("0001.pgm") && sluice.picture.after.whole && sluice.picture.after.whole.samples[0] === 1')
        page.key('[')
        page.wait('document.title.startsWith("0000.pgm") && sluice.picture.after.whole && sluice.picture.after.whole.samples[0] === 0')

    def test_damaged_files_say_so(self):
        good, bad = self.colours(), self.write('bad.png', b'\x89PNG\r\n\x1a\nnonsense')
        _, page = self.open('-c', 'sobel', bad, good, ready=False)
        page.wait('/bad\\.png/.test(document.getElementById("empty").textContent) && !document.getElementById("empty").hidden')
        page.click('#later')
        self.settled(page, 'sobel')
        self.assertTrue(page.run('document.getElementById("empty").hidden'))
        # nothing of the one before stands beside a file that cannot be read
        page.wait('document.querySelectorAll("#times li").length === 1')
        page.click('#earlier')
        page.wait('!document.getElementById("empty").hidden && document.getElementById("empty").textContent.includes("bad.png")')
        self.assertEqual(page.run('[document.querySelectorAll("#times li, #figures dt, #mistakes li").length, /bad\\.png$/.test(document.getElementById("way").textContent)]'), [0, True])


class Taking(Case):
    CHAIN = 'luminance,gauss:1.5,sobel:scale=0.5,threshold:60'

    def way(self, page, name):
        page.click('#ways [data-value=%s]' % name)
        return page.run('document.getElementById("way").textContent')

    def test_save(self):
        for photo, form in ((CAT, 'png'), (self.colours('with space.png'), 'jpg')):
            _, page = self.open('-c', self.CHAIN, photo)
            self.browser.call('Browser.setDownloadBehavior', behavior='allow', downloadPath=self.dir)
            page.run('(() => { const e = document.getElementById("format"); e.value = %s; e.dispatchEvent(new Event("change")) })()' % json.dumps(form))
            page.click('#save')
            name = self.path(os.path.splitext(os.path.basename(photo))[0] + '-result.' + form)
            end = time.monotonic() + 60
            expected, got = self.result(self.CHAIN, photo, 'expected.' + form), None
            while got != expected and time.monotonic() < end:
                time.sleep(0.05)
                if os.path.exists(name):
                    with open(name, 'rb') as file:
                        got = file.read()
            self.assertEqual(got, expected)
            page.wait('/Saved as/.test(document.getElementById("said").textContent)')
        # what one file does not hold says what does
        self.set_text(page, 'luminance,sobel:both')
        self.settled(page, 'luminance,sobel:both')
        page.click('#save')
        page.wait('/npz/.test(document.getElementById("said").textContent)')

    def test_command(self):
        photo = self.colours("a 'name'.png")
        _, page = self.open('-c', self.CHAIN, photo)
        text = self.way(page, 'command')
        self.assertTrue(text.startswith('sluice run '))
        expected = self.result(self.CHAIN, photo)
        subprocess.run(['sh', '-c', SLUICE + text[len('sluice'):]], cwd=self.dir, check=True, timeout=60, stdout=subprocess.DEVNULL)
        with open(self.path('result.png'), 'rb') as file:
            self.assertEqual(file.read(), expected)
        page.click('#copy')
        page.wait('/Copied|Marked/.test(document.getElementById("said").textContent)')

    def test_yaml_and_curl(self):
        photo = self.colours()
        _, page = self.open('-c', self.CHAIN, photo)
        expected, yaml, curl = self.result(self.CHAIN, photo), self.way(page, 'yaml'), self.way(page, 'curl')
        for name in ('in', 'out'):
            os.mkdir(self.path(name))
            yaml = yaml.replace('/srv/' + name, self.path(name))
        socket = self.path('http.sock')
        self.write('sluice.yaml', (yaml + 'listen:\n  http: {unix: %s}\n' % socket).encode())
        daemon = subprocess.Popen([SLUICED, '--config', self.path('sluice.yaml'), '--state', self.path('state')], stderr=subprocess.PIPE, cwd=self.dir,
                                  env={**os.environ, 'SLUICE_LIMITS_MIN_FREE': '0%', 'SLUICE_LOG_LEVEL': 'info'})
        log = []
        reader = threading.Thread(target=lambda: log.extend(daemon.stderr), daemon=True)
        reader.start()
        try:
            shutil.copy(photo, self.path('in/.new'))
            os.rename(self.path('in/.new'), self.path('in/photo.png'))
            end = time.monotonic() + 60
            while not os.path.exists(self.path('out/photo.png')) and time.monotonic() < end:
                time.sleep(0.05)
            with open(self.path('out/photo.png'), 'rb') as file:
                self.assertEqual(file.read(), expected)
            if shutil.which('curl'):
                subprocess.run(['sh', '-c', curl.replace('/run/sluice/http.sock', socket).replace('curl ', 'curl -s ')], cwd=self.dir, check=True, timeout=60)
                with open(self.path('result.png'), 'rb') as file:
                    self.assertEqual(file.read(), expected)
        finally:
            daemon.terminate()
            daemon.wait(30)
            reader.join(5)
            daemon.stderr.close()

    def test_python(self):
        module = os.path.join(BUILD, 'src/python')
        known = subprocess.run([sys.executable, '-c', 'import sluice; sluice.Chain'], env={**os.environ, 'PYTHONPATH': module}, capture_output=True)
        if known.returncode != 0:
            self.skipTest('the module for Python is not built for this one')
        photo = self.colours()
        _, page = self.open('-c', self.CHAIN, photo)
        text, expected = self.way(page, 'python'), self.result(self.CHAIN, photo)
        if subprocess.run([sys.executable, '-c', 'import PIL'], capture_output=True).returncode != 0:
            # Pillow's two calls, where it is not installed
            os.mkdir(self.path('PIL'))
            self.write('PIL/__init__.py', b'')
            self.write('PIL/Image.py', ('''
import sys, zlib, struct, numpy
sys.path.insert(0, %r)
import pictures
def open(path):
    with __builtins__["open"](path, "rb") as file:
        width, height, channels, _, samples = pictures.read_png(file.read())
    return numpy.array(list(samples), numpy.uint8).reshape(height, width, channels).squeeze()
class fromarray:
    def __init__(self, array):
        self.array = array
    def save(self, path):
        rows = b"".join(b"\\0" + row.tobytes() for row in self.array)
        head = struct.pack(">IIBBBBB", self.array.shape[1], self.array.shape[0], 8, 0, 0, 0, 0)
        with __builtins__["open"](path, "wb") as file:
            file.write(b"\\x89PNG\\r\\n\\x1a\\n" + pictures.png_chunk(b"IHDR", head) + pictures.png_chunk(b"IDAT", zlib.compress(rows)) + pictures.png_chunk(b"IEND", b""))
''' % os.path.join(HERE, '..')).encode())
        self.write('use.py', text.encode())
        subprocess.run([sys.executable, 'use.py'], cwd=self.dir, check=True, timeout=60, env={**os.environ, 'PYTHONPATH': module + ':' + self.dir})
        with open(self.path('result.png'), 'rb') as file:
            self.assertEqual(list(pictures.read_png(file.read())[4]), list(pictures.read_png(expected)[4]))

    def test_gstreamer(self):
        plugin = os.path.join(BUILD, 'src/gst')
        env = {**os.environ, 'GST_PLUGIN_PATH': plugin, 'GST_REGISTRY': self.path('registry'), 'GST_REGISTRY_FORK': 'no'}
        for element in ('pngdec', 'videoconvert', 'sluice'):
            if not shutil.which('gst-inspect-1.0') or subprocess.run(['gst-inspect-1.0', element], env=env, capture_output=True).returncode != 0:
                self.skipTest('no %s of GStreamer' % element)
        photo = self.colours()
        _, page = self.open('-c', self.CHAIN, photo)
        text, expected = self.way(page, 'gstreamer'), self.result(self.CHAIN, photo)
        subprocess.run(['sh', '-c', text], cwd=self.dir, env=env, check=True, timeout=60)
        with open(self.path('result.png'), 'rb') as file:
            got = pictures.read_png(file.read())
        self.assertEqual(list(got[4][::got[2]]), list(pictures.read_png(expected)[4]))

    def test_config_and_input(self):
        photo = self.write('frame.raw', bytes(pictures.noise(32 * 24 * 3, 1)))
        config = self.write('sluice.yaml', b'version: 1\nkernels: {soft: 1_2_1/2_4_2/1_2_1}\nchains: {own: "fir:@soft,invert"}\n')
        options = 'raw=rgb24:w=32:h=24'
        _, page = self.open('--config', config, '--input', options, '-c', 'own', photo)
        self.assertEqual(self.text(page), 'fir:@soft,invert')
        text = self.way(page, 'command')
        self.run_('--config', config, '--input', options, '-c', 'own', '-o', self.path('expected.png'), photo)
        subprocess.run(['sh', '-c', SLUICE + text[len('sluice'):]], cwd=self.dir, check=True, timeout=60, stdout=subprocess.DEVNULL)
        with open(self.path('expected.png'), 'rb') as a, open(self.path('result.png'), 'rb') as b:
            self.assertEqual(a.read(), b.read())


class Using(Case):
    def test_keyboard_alone(self):
        """From the first key to the result, without a pointer."""
        photo = self.colours()
        _, page = self.open(photo)
        page.key('a')
        page.type('luminance')
        page.key('Enter')
        self.settled(page, 'luminance')
        page.key('a')
        page.type('edges: the gradient')
        page.key('Enter')
        self.settled(page, 'luminance,sobel')
        page.key('a')
        page.type('threshold')
        page.key('Enter')
        self.settled(page, 'luminance,sobel,threshold:100')
        # Tab leads from the stage to its first slider, and arrows move that by one
        for _ in range(12):
            page.key('Tab')
            if page.run('document.activeElement.type === "range"'):
                break
        self.assertEqual(page.run('document.activeElement.closest(".param").dataset.param'), 't')
        page.key('ArrowRight')
        self.settled(page, 'luminance,sobel,threshold:101')
        page.key('3')
        self.assertEqual(page.run('sluice.picture.mode'), 'after')
        page.key('x')
        self.assertEqual(page.run('sluice.picture.scale'), 8)
        page.run('document.getElementById("canvas").focus()')
        page.key('ArrowRight', browser.SHIFT)
        before = page.run('sluice.picture.place.x')
        page.key('ArrowRight', browser.SHIFT)
        self.assertEqual(page.run('sluice.picture.place.x'), before + 1)
        page.key('2')
        page.wait('!document.getElementById("wipe").hidden')
        page.run('document.getElementById("wipe").focus()')
        page.key('Home')
        self.assertEqual(page.run('sluice.picture.wipe'), 0)
        page.run('sluice.list.focus(sluice.list.stages[1], ".opener")')
        page.key('Delete')
        self.settled(page, 'luminance,threshold:101')
        page.key('z', browser.CONTROL)
        self.settled(page, 'luminance,sobel,threshold:101')
        # everything that can be pressed has a name, and can be reached
        nameless = page.run('[...document.querySelectorAll("button, input, select, textarea, [tabindex]")].filter(e => e.offsetParent && '
                            '!(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.placeholder)).map(e => e.outerHTML)')
        self.assertEqual(nameless, [])

    def test_narrow_dark_and_light(self):
        photo = self.colours()
        _, page = self.open('-c', 'luminance,gauss:2,sobel', photo, width=360, height=700)
        page.click('[data-stage=gauss] .opener')
        self.assertLessEqual(page.run('document.documentElement.scrollWidth'), 360)
        # nothing juts out, and the picture stays in view
        out = page.run('[...document.querySelectorAll("body *")].filter(e => e.offsetParent && e.getBoundingClientRect().right > 361 && !e.closest("pre")).map(e => e.outerHTML.slice(0, 80))')
        self.assertEqual(out, [])
        self.assertGreater(page.run('document.getElementById("frame").getBoundingClientRect().height'), 200)
        shades = {}
        for scheme in ('light', 'dark'):
            page.look(360, 700, scheme)
            shades[scheme] = page.run('''(() => {
                const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
                const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c } return 'rgb(255,255,255)' }
                const low = []
                for (const e of document.querySelectorAll('h1, h2, label, .name, .args, .help, .summary, button:not(:disabled), dd, dt, #about, .quiet')) {
                  if (!e.offsetParent || !e.textContent.trim() || e.closest('.corner')) continue
                  const a = light(getComputedStyle(e).color), b = light(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
                  if (ratio < 4.5) low.push([e.textContent.trim().slice(0, 20), ratio.toFixed(2)])
                }
                return [light(getComputedStyle(document.body).backgroundColor), low] })()''')
            self.assertEqual(shades[scheme][1], [], scheme)
        self.assertGreater(shades['light'][0], 0.8)
        self.assertLess(shades['dark'][0], 0.05)

    def test_second_tab_and_reload(self):
        photo = self.colours()
        view, page = self.open('-c', 'luminance', photo)
        other = self.browser.open(view.url)
        self.settled(other, 'luminance')
        self.set_text(other, 'luminance,invert')
        self.settled(other, 'luminance,invert')
        self.assertEqual(self.text(page), 'luminance')  # each has its own chain
        other.call('Page.reload')
        time.sleep(0.2)
        self.settled(other, 'luminance,invert')
        other.close()

    def test_ended(self):
        view, page = self.open('-c', 'luminance', self.colours())
        self.assertTrue(page.run('document.getElementById("notice").hidden'))
        self.assertEqual(view.end(), 0)
        page.wait('/has ended/.test(document.getElementById("notice").textContent) && !document.getElementById("notice").hidden')

    def test_opened_by_the_desktop(self):
        """By a file for its owner alone, which leads to the page, so that no command line has the token."""
        os.mkdir(self.path('bin'))
        self.write('bin/xdg-open', b'#!/bin/sh\necho "$1" > "$XDG_RUNTIME_DIR/opened.part"; mv "$XDG_RUNTIME_DIR/opened.part" "$XDG_RUNTIME_DIR/opened"\n')
        os.chmod(self.path('bin/xdg-open'), 0o755)
        view = View(self, self.colours(), DISPLAY=':9', XDG_RUNTIME_DIR=self.dir, PATH=self.path('bin') + ':' + os.environ['PATH'])
        end = time.monotonic() + 30
        while not os.path.exists(self.path('opened')):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        way = self.read('opened').decode().strip()
        self.assertEqual(os.stat(way).st_mode & 0o777, 0o600)
        page = self.browser.open('file://' + way)
        self.addCleanup(page.close)
        self.settled(page, '')
        view.end()
        self.assertFalse(os.path.exists(way))

    def test_over_ssh(self):
        view = View(self, self.colours(), SSH_CONNECTION='192.0.2.7 50000 192.0.2.1 2222', USER='pi')
        view.process.stdout.close()  # as when the connection has gone
        self.assertEqual(view.process.wait(30), 0)
        self.assertIn('ssh -p 2222 -L %s:127.0.0.1:%s pi@192.0.2.1' % (view.port, view.port), view.process.stderr.read().decode())

    def test_without_the_token(self):
        view = View(self, self.colours())
        page = self.browser.open(view.url.split('#')[0])
        self.addCleanup(page.close)
        page.wait('/token/.test(document.getElementById("notice").textContent)')

    def test_what_is_not_there(self):
        for args, said in ((['none.jpg'], 'none.jpg: No such file'), ([self.dir], 'no picture is there'), ([], 'which pictures?'), (['-'], 'only once'),
                           (['--daemon', '--http-socket', self.path('none')], 'no daemon answers')):
            done = subprocess.run([SLUICE, 'view', '--no-open', *args], cwd=self.dir, capture_output=True, text=True, timeout=20)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, '')

    def test_once(self):
        view, page = self.open('--once', self.colours())
        page.call('Page.reload')
        self.settled(page)
        time.sleep(1)
        self.assertIsNone(view.process.poll())
        page.call('Page.navigate', url='about:blank')
        self.assertEqual(view.process.wait(30), 0)

    def test_figures(self):
        """The page's size; and times, generously, since this machine may be busy (--figures measures)."""
        view, page = self.open('-c', 'luminance,gauss:2,sobel,threshold:20', self.colours(width=200, height=150))
        sizes = page.run('performance.getEntriesByType("resource").filter(e => !e.name.includes("/api/")).map(e => e.decodedBodySize)')
        whole = sum(sizes) + page.run('performance.getEntriesByType("navigation")[0].decodedBodySize')
        self.assertGreater(whole, 20000)
        self.assertLessEqual(whole, PAGE_BYTES)
        foreign = page.run('performance.getEntriesByType("resource").map(e => e.name).filter(name => !name.startsWith(location.origin))')
        self.assertEqual(foreign, [])
        self.assertEqual(page.errors(), [])
        self.assertLess(page.run('performance.getEntriesByName("first-paint")[0]?.startTime ?? 0'), 3000)


# ---- what is not a test ----

def figures():
    """Slider to picture, first paint, and the page's size."""
    photo = os.environ.get('VIEW_PHOTO')
    case = Looking()
    Case.browser = browser.Browser()
    case.setUp()
    try:
        if not photo:
            photo = case.write('large.ppm', pictures.pnm(1920, 1080, os.urandom(1920 * 1080 * 3), 3))
            case.run_('-c', 'gauss:2', '-f', 'jpg:quality=90', '-o', case.path('large.jpg'), photo)
            photo = case.path('large.jpg')
        view, page = case.open('-c', 'luminance,gauss:2,sobel,threshold:20', photo)
        page.click('[data-stage=threshold] .opener')
        times = page.run('''(async () => {
            const slider = document.querySelector('[data-param=t] [type=range]'), times = []
            const next = () => new Promise(done => requestAnimationFrame(done))
            for (let i = 0; i < 60; i++) {
              slider.value = 100 + 7 * i
              const begun = performance.now()
              slider.dispatchEvent(new Event('input'))
              const wanted = document.getElementById('text').value
              while (document.body.dataset.shown !== wanted) await next()
              await next()
              times.push(performance.now() - begun)
              await new Promise(done => setTimeout(done, 60))
            }
            return times.slice(10).sort((a, b) => a - b) })()''')
        print('slider to picture: p50 %.1f ms, p90 %.1f ms, of %d' % (times[len(times) // 2], times[len(times) * 9 // 10], len(times)))
        paints = []
        for _ in range(9):
            again = case.browser.open(view.url)
            paints.append(again.wait('performance.getEntriesByName("first-contentful-paint")[0]?.startTime'))
            again.close()
        print('first paint: p50 %.0f ms' % sorted(paints)[len(paints) // 2])
        print('page: %d bytes' % (sum(page.run('performance.getEntriesByType("resource").filter(e => !e.name.includes("/api/")).map(e => e.decodedBodySize)'))
                                  + page.run('performance.getEntriesByType("navigation")[0].decodedBodySize')))
        page.close()
    finally:
        case.doCleanups()
        Case.browser.close()


def draw():
    """docs/pictures/view-tune.webp, of a picture that the documentation has."""
    case = Looking()
    Case.browser = browser.Browser()
    case.setUp()
    try:
        shutil.copy(COFFEE, case.dir)
        _, page = case.open('-c', 'luminance,gauss:1.2,sobel:scale=0.5', 'coffee.jpg', width=1280, height=760)
        page.click('[data-stage=gauss] .opener')
        page.run('document.activeElement.blur()')
        page.mouse('mouseMoved', 860, 330)
        time.sleep(0.3)
        page.screenshot(os.path.join(ROOT, 'docs/pictures/view-tune.webp'), 'webp', quality=80)
        page.close()
    finally:
        case.doCleanups()
        Case.browser.close()


if __name__ == '__main__':
    if not browser.find():
        print('no chromium')
        sys.exit(77)
    for option, what in (('--figures', figures), ('--pictures', draw)):
        if option in sys.argv:
            with contextlib.suppress(BrokenPipeError):
                what()
            sys.exit(0)
    unittest.main()
