#!/usr/bin/env python3
"""The two ways to use several machines without the relay, by the examples of docs/examples/fleet: nginx with TLS
before three machines, one of which is killed time and again; Celery and RQ that call `sluice submit`. Python packages
come from PyPI into a folder of the build (FLEET_PACKAGES names one that is there)."""
import http.client
import ssl

from fleet import *
from secrets_for_tests import Authority


def example(name):
    with open(os.path.join(EXAMPLES, name), encoding='utf-8') as file:
        return file.read()


class Balancing(FleetTest):
    def setUp(self):
        super().setUp()
        self.ca = Authority(self.dir)
        self.upstream = []

    def machine_nginx(self, location=None):
        """A machine's, before the daemon that is returned; with `location` before what that says."""
        number, port = len(self.upstream), free_port()
        folder = os.path.join(self.dir, 'm%d' % number)
        sock = os.path.join(folder, 'http.sock')
        pem, key = self.ca.certificate('board%d' % number, 'DNS:board.example,IP:127.0.0.1')
        text = example('machine-nginx.conf').replace('listen 8443', 'listen 127.0.0.1:%d' % port)
        for before, after in (('/run/sluice/http.sock', sock), ('/etc/nginx/sluice.pem', pem), ('/etc/nginx/sluice.key', key),
                              ('/etc/nginx/sluice-ca.pem', self.ca.path)):
            text = text.replace(before, after)
        if location:
            text = re.sub('location / {.*?}', 'location / { %s }' % location, text, flags=re.S)
        self.upstream.append('127.0.0.1:%d' % port)
        daemon = None if location else self.daemon('--http-socket', sock, folder=folder).start()
        Nginx(self, 'm%d-nginx' % number, text)
        return daemon

    def balance(self):
        """Connects to the balancer before all three."""
        pem, key = self.ca.certificate('balancer')
        port = free_port()
        text = example('balancer-nginx.conf').replace('listen 443', 'listen 127.0.0.1:%d' % port)
        for i in range(3):
            text = text.replace('board%d.example:8443' % (i + 1), self.upstream[i])
        for before, after in (('/etc/nginx/balancer.pem', pem), ('/etc/nginx/balancer.key', key), ('/etc/nginx/sluice-ca.pem', self.ca.path)):
            text = text.replace(before, after)
        Nginx(self, 'balancer', text)
        context = ssl.create_default_context(cafile=self.ca.path)
        return lambda: http.client.HTTPSConnection('127.0.0.1', port, timeout=60, context=context)

    def test_full_and_ending(self):
        """429 and 503 of two machines go on to the third."""
        log = os.path.join(self.dir, 'refused.log')
        for status in (429, 503):
            self.machine_nginx('access_log %s; return %d;' % (log, status))
        self.machine_nginx()
        connect, expected = self.balance(), self.by_sluice_run(picture())['']
        for _ in range(20):
            connection = connect()
            connection.request('POST', '/v1/process?chain=sobel&format=pgm', picture())
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.read()), (200, expected))
            connection.close()
        with open(log, encoding='utf-8') as file:
            refusals = file.read()
        self.assertIn('" 429 ', refusals)
        self.assertIn('" 503 ', refusals)

    def test_deaths(self):
        self.daemons = [self.machine_nginx() for _ in range(3)]
        connect = self.balance()
        expected, failures, done, threads = self.by_sluice_run(picture())[''], [], [], []

        def post(enough):
            while not enough():
                connection = connect()
                try:
                    connection.request('POST', '/v1/process?chain=sobel&format=pgm', picture())
                    answer = connection.getresponse()
                    body = answer.read()
                    (done if answer.status == 200 and body == expected else failures).append(answer.status)
                except OSError as error:
                    failures.append(error)
                finally:
                    connection.close()
        deaths = 0
        for _ in range(4):
            threads.append(threading.Thread(target=post, args=(lambda: deaths == 6,)))
            threads[-1].start()
        while deaths < 6:
            daemon = self.daemons[deaths % 3]
            daemon.kill()
            time.sleep(0.3)
            daemon.start()
            time.sleep(2.5)  # or nginx would hold all of them for dead
            deaths += 1
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        pictures = len(done)
        self.assertGreater(pictures, 100)
        # Two of three end in good order.
        for daemon in self.daemons[:2]:
            daemon.stop()
        post(lambda: len(done) == pictures + 10)
        self.assertEqual(failures, [])
        # Nobody gets past the balancer without its certificate.
        connection = http.client.HTTPSConnection(self.upstream[0], timeout=20, context=ssl._create_unverified_context())
        connection.request('GET', '/livez')
        self.assertEqual(connection.getresponse().status, 400)
        print('nginx: %d pictures by 4 clients over %d deaths of machines: all answered, all right' % (pictures, deaths), file=sys.stderr)


def packages(wanted, *modules):
    """A Python that has PyPI's package, told by its modules; None with the reason."""
    folder = os.environ.get('FLEET_PACKAGES') or os.path.join(os.path.dirname(os.path.dirname(SLUICE)), 'fleet-packages')
    python = os.path.join(folder, 'bin', 'python3')
    if not os.path.exists(python):
        subprocess.run([sys.executable, '-m', 'venv', folder], check=True)
    if subprocess.run([python, '-c', 'import ' + ', '.join(modules)], capture_output=True).returncode != 0:
        run = subprocess.run([python, '-m', 'pip', 'install', '-q', wanted], capture_output=True, text=True)
        if run.returncode != 0:
            return None, run.stderr.strip().split('\n')[-1]
    return python, ''


class Queues(FleetTest):
    def setUp(self):
        super().setUp()
        if not shutil.which('redis-server'):
            self.skipTest('redis-server is not here')
        self.redis = free_port()
        server = subprocess.Popen(['redis-server', '--port', str(self.redis), '--dir', self.dir, '--save', ''], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_for('redis', lambda: not socket.socket().connect_ex(('127.0.0.1', self.redis)), 20)
        self.sock = os.path.join(self.dir, 'jobs.sock')
        self.box = self.daemon('--jobs-socket', self.sock).start()
        bin_folder = os.path.join(self.dir, 'bin')
        os.mkdir(bin_folder)
        os.symlink(SLUICE, os.path.join(bin_folder, 'sluice'))
        url = 'redis://127.0.0.1:%d/' % self.redis
        self.env = dict(os.environ, PATH=bin_folder + ':' + os.environ['PATH'], SLUICE_JOBS_SOCKET=self.sock, BROKER=url + '0',
                        BACKEND=url + '1', PYTHONPATH=EXAMPLES + ':' + self.dir, PYTHONDONTWRITEBYTECODE='1', C_FORCE_ROOT='1', REDIS_URL=url + '2')
        self.paths = []
        for i in range(20):
            path = os.path.join(self.dir, 'q%d.pgm' % i)
            with open(path, 'wb') as file:
                file.write(picture(seed=i) if i != 7 else b'no picture')
            self.paths.append((path, os.path.join(self.dir, 'r%d.pgm' % i)))

    def start(self, *words):
        process = subprocess.Popen(words, env=self.env, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ask(self, python, program):
        run = subprocess.run([python, '-c', program, json.dumps(self.paths)], env=self.env, cwd=self.dir, capture_output=True, text=True,
                             timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def check(self, told):
        for i, (_, target) in enumerate(self.paths):
            if i == 7:
                self.assertIn('ValueError', told[i])
                continue
            with open(target, 'rb') as file:
                self.assertEqual(file.read(), self.by_sluice_run(picture(seed=i))[''])
            self.assertEqual(told[i], target)

    def test_celery(self):
        python, why = packages('celery[redis]', 'celery', 'redis', 'packaging')
        if not python:
            self.skipTest(why)
        # What the worker that dies has taken comes back after the visibility timeout, which is a quarter of an hour in tasks.py.
        with open(os.path.join(self.dir, 'soon.py'), 'w', encoding='utf-8') as file:
            file.write('from tasks import app\napp.conf.broker_transport_options = {"visibility_timeout": 30}\n')
        workers = [self.start(python, '-m', 'celery', '-A', 'soon', 'worker', '--concurrency', '2', '-n', 'w%d' % i) for i in range(2)]
        # The daemon is away for a while (exit 69), and a worker dies: the tasks are done all the same.
        self.box.stop()
        threading.Timer(4, self.box.start).start()
        threading.Timer(6, workers[0].kill).start()
        told = self.ask(python, 'import json, sys, tasks\n'
                                'all = [tasks.run.delay("sobel", *pair) for pair in json.loads(sys.argv[1])]\n'
                                'print(json.dumps([str(r.get(timeout=200, propagate=False)) if not r.failed() else repr(r.result) '
                                'if r.get(timeout=200, propagate=False) is None else repr(r.result) for r in all]))\n')
        told = [text if text.startswith('/') else 'ValueError' if 'format' in text or 'Value' in text else text for text in told]
        self.check(told)

    def test_rq(self):
        python, why = packages('rq', 'rq')
        if not python:
            self.skipTest(why)
        self.start(python, '-m', 'rq.cli', 'worker', '--url', self.env['REDIS_URL'], '--with-scheduler')
        self.box.stop()
        threading.Timer(4, self.box.start).start()
        told = self.ask(python, '''
import json, os, sys, time, redis, rq, tasks
queue = rq.Queue(connection=redis.Redis.from_url(os.environ['REDIS_URL']))
all = [queue.enqueue(tasks.filter_picture, 'sobel', *pair, retry=rq.Retry(max=20, interval=[1, 1, 2, 2, 5, 5, 10]), job_timeout=600)
       for pair in json.loads(sys.argv[1])]
while any(job.get_status() not in ('finished', 'failed') and not (job.exc_info and 'ValueError' in job.exc_info) for job in all):
    time.sleep(0.2)
print(json.dumps([job.return_value() or job.exc_info for job in all]))
''')
        self.check(told)


os.environ['PATH'] += ':/usr/sbin'
if not shutil.which('nginx'):
    skip('nginx is not here (apt-get install nginx-light)')
main()
