"""A browser for tests: Debian's chromium, headless, by the DevTools protocol, with nothing but Python's own library."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

PATIENCE = float(os.environ.get('BROWSER_PATIENCE', '60'))  # seconds; nothing waits longer than it must

# What a key press is to the page: its code, and the text that it types.
KEYS = {'Tab': ('Tab', 9, ''), 'Enter': ('Enter', 13, '\r'), 'Escape': ('Escape', 27, ''), 'Delete': ('Delete', 46, ''),
        'ArrowLeft': ('ArrowLeft', 37, ''), 'ArrowUp': ('ArrowUp', 38, ''), 'ArrowRight': ('ArrowRight', 39, ''),
        'ArrowDown': ('ArrowDown', 40, ''), 'Home': ('Home', 36, ''), 'End': ('End', 35, ''), ' ': ('Space', 32, ' ')}
SHIFT, CONTROL, ALT = 8, 2, 1


def find():
    """The program, or None."""
    return shutil.which('chromium') or shutil.which('chromium-browser')


def ordinary():
    """In a child: no other priority than usual, also where what is measured has one (chrt)."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class WebSocket:
    """A client's side of RFC 6455, as far as one peer on this machine needs it."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(('127.0.0.1', port), PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(('GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                             'Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n' % (path, port, key)).encode())
        self.file = self.socket.makefile('rb')
        if b' 101 ' not in self.file.readline():
            raise OSError('no websocket')
        while self.file.readline() not in (b'\r\n', b''):
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = struct.pack('!BB', 0x81, 0x80 | size) if size < 126 else \
            struct.pack('!BBH', 0x81, 0xfe, size) if size < 65536 else struct.pack('!BBQ', 0x81, 0xff, size)
        masked = bytes(a ^ b for a, b in zip(data, mask * (size // 4 + 1)))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        text = b''
        while True:
            first, second = self.file.read(2)
            size = second & 127
            if size == 126:
                size, = struct.unpack('!H', self.file.read(2))
            elif size == 127:
                size, = struct.unpack('!Q', self.file.read(8))
            data = self.file.read(size)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return text.decode()
            elif first & 15 == 8:
                raise OSError('the browser has closed the connection')

    def close(self):
        self.file.close()
        self.socket.close()


class Browser:
    """A browser with a profile of its own, which ends with it."""

    def __init__(self, gives_way=False):
        self.profile = tempfile.mkdtemp(prefix='sluice-browser-')
        self.process = subprocess.Popen(
            [find(), '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars',
             '--disable-dev-shm-usage', '--force-color-profile=srgb', '--remote-debugging-port=0',
             '--user-data-dir=' + self.profile, 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=ordinary if gives_way else None)
        port_file = os.path.join(self.profile, 'DevToolsActivePort')
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with open(port_file, encoding='ascii') as file:
                    port, path = file.read().split()
                break
            except (OSError, ValueError):
                if time.monotonic() > end or self.process.poll() is not None:
                    self.close()
                    raise AssertionError('the browser does not start') from None
                time.sleep(0.05)
        self.web = WebSocket(int(port), path)
        self.number = 0
        self.events = []  # those of pages, as they came

    def call(self, method, session=None, **params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        self.web.send(json.dumps(message))
        while True:
            answer = json.loads(self.web.receive())
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise AssertionError('%s: %s' % (method, answer['error']))
                return answer['result']
            if 'method' in answer:
                self.events.append(answer)

    def open(self, url, width=1440, height=900, scheme='light', ratio=1):
        return Page(self, url, width, height, scheme, ratio)

    def close(self):
        if hasattr(self, 'web'):
            self.web.close()
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A tab."""

    def __init__(self, browser, url, width, height, scheme, ratio):
        self.browser = browser
        self.target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=self.target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.look(width, height, scheme, ratio)
        self.call('Page.navigate', url=url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def look(self, width, height, scheme='light', ratio=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=ratio, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def run(self, script):
        """The value of an expression in the page; a promise is waited for."""
        result = self.call('Runtime.evaluate', expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if 'exceptionDetails' in result:
            details = result['exceptionDetails']
            raise AssertionError('%s\n%s' % (script, details.get('exception', details).get('description', details)))
        return result['result'].get('value')

    def wait(self, script, what=None, seconds=PATIENCE):
        """Until an expression is true; returns its value. While a page loads there may be nothing to ask."""
        end = time.monotonic() + seconds
        while True:
            said = ''
            try:
                value = self.run('(() => { const found = (%s); return found instanceof Node || found })()' % script)
            except AssertionError as error:
                value, said = None, str(error)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError('not within %g s: %s %s' % (seconds, what or script, said))
            time.sleep(0.02)

    def errors(self):
        """What the page complained about."""
        said = []
        for event in self.browser.events:
            if event.get('sessionId') != self.session:
                continue
            if event['method'] == 'Runtime.exceptionThrown':
                said.append(str(event['params']['exceptionDetails'].get('exception', {}).get('description')))
            elif event['method'] == 'Log.entryAdded' and event['params']['entry']['level'] == 'error':
                entry = event['params']['entry']
                said.append('%s %s' % (entry['text'], entry.get('url', '')))
        return said

    # ---- as a person does it

    def place(self, selector):
        """The middle of an element."""
        x, y = self.run('(() => { const e = document.querySelector(%s); e.scrollIntoView({block: "nearest"}); '
                        'const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()'
                        % json.dumps(selector))
        return x, y

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def hover(self, selector):
        self.mouse('mouseMoved', *self.place(selector))

    def click(self, selector):
        x, y = self.place(selector)
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        self.mouse('mouseReleased', x, y, button='left', clickCount=1)

    def drag(self, from_, to, steps=8):
        self.mouse('mouseMoved', *from_)
        self.mouse('mousePressed', *from_, button='left', clickCount=1)
        for i in range(1, steps + 1):
            self.mouse('mouseMoved', from_[0] + (to[0] - from_[0]) * i / steps, from_[1] + (to[1] - from_[1]) * i / steps,
                       button='left', buttons=1)
        self.mouse('mouseReleased', *to, button='left', clickCount=1)

    def key(self, key, modifiers=0):
        code, number, text = KEYS.get(key) or ('Key' + key.upper(), ord(key.upper()), '' if modifiers & ~SHIFT else key)
        about = {'key': key, 'code': code, 'windowsVirtualKeyCode': number, 'modifiers': modifiers}
        self.call('Input.dispatchKeyEvent', type='keyDown' if text else 'rawKeyDown', text=text, **about)
        self.call('Input.dispatchKeyEvent', type='keyUp', **about)

    def type(self, text):
        self.call('Input.insertText', text=text)

    def screenshot(self, path, form='png', **more):
        data = self.call('Page.captureScreenshot', format=form, **more)['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.call('Target.closeTarget', targetId=self.target)
