#!/usr/bin/env python3
"""`sluice view --daemon` in a browser: what it shows is what the daemon says, under load, and a file that failed is found,
understood and done again. Usage: test_watch.py SLUICE SLUICED SOURCE_ROOT BUILD_ROOT [--picture | unittest options]

WATCH_SECONDS: how long the load lasts (4). --picture draws docs/pictures/view-watch.webp anew."""
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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..'), os.path.join(HERE, '../daemon')]
import browser  # noqa: E402
import pictures  # noqa: E402
import sockets  # noqa: E402
from test_view import CAT, COFFEE, ROOT, SLUICE, SLUICED, Case  # noqa: E402

SECONDS = float(os.environ.get('WATCH_SECONDS', '4'))


class Watching(Case):
    others_first = True
    FOLDERS = (('photos', 'luminance,sobel:scale=0.5'), ('scans', 'luminance,threshold:otsu'), ('small', 'resize:by=0.5'))

    def setUp(self):
        super().setUp()
        self.http, text = self.path('http.sock'), 'version: 1\nlimits: {min_free: 0%%}\nlisten: {http: {unix: %s}, jobs: {unix: %s}}\nwatch:\n' % (
            self.path('http.sock'), self.path('jobs.sock'))
        for name, chain in self.FOLDERS:
            os.mkdir(self.path(name))
            os.mkdir(self.path(name + '-out'))
            text += '  - {input: %s, output: %s, chain: "%s", format: png}\n' % (self.path(name), self.path(name + '-out'), chain)
        self.write('sluice.yaml', text.encode())
        self.log = open(self.path('log'), 'wb')
        self.daemon = subprocess.Popen([SLUICED, '--config', self.path('sluice.yaml'), '--state', self.path('state')], cwd=self.dir, stderr=self.log)
        self.addCleanup(self.stop)
        end = time.monotonic() + 60
        while True:
            try:
                if self.ask('/readyz').status == 200:
                    break
            except OSError:
                pass
            self.assertLess(time.monotonic(), end, 'the daemon is not ready')
            time.sleep(0.05)

    def ask(self, target):
        return sockets.ask_only(self.http, 'GET', target)

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(60)
        self.log.close()

    def drop(self, folder, name, data):
        path = self.write(folder + '/.part', data)
        os.rename(path, self.path(folder + '/' + name))

    def status(self):
        return self.ask('/v1/status').json()

    def wait_done(self, count):
        end = time.monotonic() + 120
        while (lambda s: s['done'] + s['failed'])(self.status()) < count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def watch(self, **look):
        view, page = self.open('--daemon', '--http-socket', self.http, ready=False, **look)
        page.wait('document.querySelectorAll("#folders article").length === 3')
        return view, page

    def numbers(self, page, folder):
        return dict(page.run('[...document.querySelectorAll(%s + " [data-number]")].map(e => [e.dataset.number, Number(e.querySelector("b").textContent)])'
                             % json.dumps('[data-folder="%s"]' % self.path(folder))))

    def test_numbers_and_pictures(self):
        for i in range(3):
            self.drop('photos', 'photo%d.pgm' % i, pictures.pnm(64, 48, pictures.noise(64, 48, 1, i + 1)))
        shutil.copy(CAT, self.path('small/.cat'))
        os.rename(self.path('small/.cat'), self.path('small/cat.jpg'))
        self.wait_done(4)
        view, page = self.watch()
        page.wait('document.querySelectorAll("#latest figure").length === 4')
        status = self.status()
        for folder in status['folders']:
            self.assertEqual(self.numbers(page, os.path.basename(folder['input'])), {k: folder[k] for k in ('waiting', 'queued', 'running', 'retrying', 'done', 'failed')})
        # before and after of the last ones, and larger
        page.wait('document.querySelectorAll("#latest figure[data-name=\\"cat.jpg\\"] canvas").length === 2')
        page.click('#latest figure[data-name="cat.jpg"] .thumb')
        page.wait('document.querySelectorAll("#larger[open] canvas").length === 2')
        page.key('Escape')
        # one more, while it is watched
        self.drop('scans', 'late.pgm', pictures.pnm(64, 48, pictures.noise(64, 48, 1, 9)))
        page.wait('document.querySelector("#latest figure[data-name=\\"late.pgm\\"]")')
        page.wait('[...document.querySelectorAll(".card-now")].some(e => /^Done5/.test(e.textContent))')
        self.assertLessEqual(page.run('document.documentElement.scrollWidth'), 1440)
        page.look(360, 700, 'dark')
        self.assertLessEqual(page.run('document.documentElement.scrollWidth'), 360)
        self.assertEqual(page.errors(), [])

    def test_dashboard_and_alerts(self):
        """They ask for metrics and labels that there are."""
        told = self.ask('/metrics').body.decode()
        known = set(re.findall(r'(?m)^# TYPE (\S+)', told))
        known |= {name + tail for name in known for tail in ('_sum', '_count', '_bucket')}
        folder = os.path.join(ROOT, 'docs/examples/grafana')
        with open(os.path.join(folder, 'sluice-dashboard.json'), encoding='utf-8') as file:
            queries = [target['expr'] for panel in json.load(file)['panels'] for target in panel['targets']]
        with open(os.path.join(folder, 'sluice-alerts.yaml'), encoding='utf-8') as file:
            queries += re.findall(r'(?m)^ +expr: (.*)$', file.read())
        self.assertGreater(len(queries), 30)
        named = {name for query in queries for name in re.findall(r'\b(?:sluice|process)_\w+', query)}
        self.assertEqual(named - known, set())
        states = set(re.findall(r'sluice_folder_state\{[^}]*state="(\w+)"', told))
        self.assertIn('ok', states)

    def test_a_failed_file_is_found_and_done_again(self):
        with open(CAT, 'rb') as file:
            whole = file.read()
        _, page = self.watch()
        self.drop('photos', 'broken.jpg', whole[:len(whole) // 2])
        page.wait('document.querySelector("#failures article[data-name=\\"broken.jpg\\"]")')
        self.assertIn('truncated', page.run('document.querySelector("#failures article").textContent'))
        page.wait('document.querySelector("#failures .thumb canvas")', 'the picture, as far as it can be read')
        page.click('#failures article button:not(.main):not(.thumb)')
        page.wait('/^at the step decode · chain luminance,sobel/.test(document.querySelector("#failures article .said").textContent)')
        # mended where it lies, and done again
        self.write('photos/.sluice/failed/broken.jpg', whole)
        page.click('#failures article button.main')
        page.wait('document.querySelectorAll("#failures article").length === 0')
        page.wait('document.querySelector("#latest figure[data-name=\\"broken.jpg\\"]")')
        self.assertTrue(os.path.exists(self.path('photos-out/broken.png')))

    def test_a_folder_that_is_lost(self):
        _, page = self.watch()
        os.rename(self.path('scans'), self.path('scans-away'))
        page.wait('document.querySelector("article.folder.lost .why")')
        self.assertIn(self.path('scans'), page.run('document.querySelector("article.folder.lost").textContent'))
        os.rename(self.path('scans-away'), self.path('scans'))
        page.wait('!document.querySelector("article.folder.lost")', seconds=120)

    def test_daemon_that_ends(self):
        view, page = self.watch()
        self.daemon.send_signal(signal.SIGTERM)
        page.wait('!document.getElementById("notice").hidden && /no daemon answers/.test(document.getElementById("notice").textContent)')
        self.assertIsNone(view.process.poll())

    def livez(self, seconds):
        """Milliseconds of each answer."""
        times, end, client = [], time.monotonic() + seconds, sockets.Http(self.http)
        while time.monotonic() < end:
            begun = time.perf_counter()
            client.request('GET', '/livez')
            self.assertEqual(sockets.Answer(client.getresponse()).status, 200)
            times.append((time.perf_counter() - begun) * 1e3)
            time.sleep(0.005)
        client.close()
        return sorted(times)

    def load(self, stop):
        """Files for three folders, and jobs on both sockets."""
        data = [pictures.pnm(320, 240, pictures.noise(320, 240, 1, seed)) for seed in (1, 2)]

        def folders():
            for i in range(10 ** 6):
                if stop.is_set():
                    return
                self.drop(self.FOLDERS[i % 3][0], '%06d.pgm' % i, data[i % 2])
                time.sleep(0.03)

        def clients():
            client = sockets.Http(self.http)
            while not stop.is_set():
                client.request('POST', '/v1/process?chain=gauss:1', data[0])
                client.getresponse().read()
                time.sleep(0.03)
            client.close()

        def jobs():
            picture = self.write('job.pgm', data[1])
            while not stop.is_set():
                subprocess.run([SLUICE, 'submit', '-q', '-s', self.path('jobs.sock'), '-c', 'invert', '--on-exists', 'overwrite', '-o', self.path('job.png'), picture],
                               stdout=subprocess.DEVNULL, check=True, timeout=60)
        threads = [threading.Thread(target=what) for what in (folders, clients, jobs)]
        for thread in threads:
            thread.start()
        return threads

    def resident(self, pid):
        with open('/proc/%d/status' % pid, encoding='ascii') as file:
            return int(next(line for line in file if line.startswith('VmRSS')).split()[1])

    def test_under_load(self):
        stop = threading.Event()
        threads = self.load(stop)
        try:
            alone = self.livez(SECONDS)
            view, page = self.watch()
            time.sleep(min(SECONDS, 20))
            before = self.resident(view.process.pid)
            watched = self.livez(SECONDS)
            after = self.resident(view.process.pid)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        p99 = [times[len(times) * 99 // 100] for times in (alone, watched)]
        print('livez p99: %.2f ms alone, %.2f ms watched; sluice view: %d KiB, then %d; %s pictures'
              % (*p99, before, after, self.status()['done']), file=sys.stderr)
        self.assertLess(after - before, 32768)
        if SECONDS > 60:
            self.assertLess(p99[1] - p99[0], 2)
        # when all is done, page and daemon say the same
        end = time.monotonic() + 60
        while any(f[k] for f in self.status()['folders'] for k in ('waiting', 'queued', 'running')):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        status = self.status()
        page.wait('[...document.querySelectorAll(".card-now")].some(e => e.textContent.startsWith("Done%d"))' % status['done'])
        for folder in status['folders']:
            self.assertEqual(self.numbers(page, os.path.basename(folder['input']))['done'], folder['done'])
        self.assertEqual(page.errors(), [])


def draw():
    """A picture for the documentation."""
    case = Watching('test_numbers_and_pictures')
    Case.browser = browser.Browser()
    case.setUp()
    stop = threading.Event()
    try:
        for name, photo in (('photos/cat.jpg', CAT), ('photos/coffee.jpg', COFFEE), ('scans/coffee.jpg', COFFEE), ('small/cat.jpg', CAT)):
            shutil.copy(photo, case.path('part'))
            os.rename(case.path('part'), case.path(name))
        with open(COFFEE, 'rb') as file:
            case.drop('scans', 'unfinished.jpg', file.read()[:30000])
        case.wait_done(5)
        view, page = case.watch(width=1180, height=1010)
        for i in range(400):  # curves, of a load that comes and goes
            shutil.copy((CAT, COFFEE)[i % 2], case.path('part'))
            os.rename(case.path('part'), case.path('%s/%s%03d.jpg' % (('photos', 'scans', 'small')[i % 3], ('cat', 'coffee')[i % 2], i)))
            time.sleep(0.05 + 0.15 * (i // 40 % 3))
        page.wait('document.querySelectorAll("#latest canvas").length > 20')
        time.sleep(3)
        # folders of the test have names that say nothing
        page.run('''(() => { const dir = %s, walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); sluiceRename = () => { walk.currentNode = document.body;
            while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(dir + '/http', '/run/sluice/http').replaceAll(dir, '/srv') }; sluiceRename() })()''' % json.dumps(case.dir))
        page.screenshot(os.path.join(ROOT, 'docs/pictures/view-watch.webp'), 'webp', quality=80)
    finally:
        stop.set()
        case.doCleanups()
        Case.browser.close()


if __name__ == '__main__':
    if not browser.find():
        print('no chromium')
        sys.exit(77)
    if '--picture' in sys.argv:
        draw()
    else:
        unittest.main(argv=sys.argv, defaultTest='Watching')
