#!/usr/bin/env python3
"""Writes what the targets of texts start from into OUTPUT/NAME, and OUTPUT/NAME.dict with their words: from the
documentation, the API's document, and the shapes of the messages.

usage: seeds.py SOURCE_ROOT OUTPUT"""

import hashlib
import json
import pathlib
import re
import struct
import sys

root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def pages():
    return [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]


def chains():
    found = set()
    for page in pages():
        found |= set(re.findall(r"(?:-c |chain=|chain: |`)\"?([a-z]+:?[A-Za-z0-9,:=._/@*-]*)[\"`]?", page.read_text()))
    stages = {page.stem for page in (root / "docs/stages").glob("*.md")}
    return sorted(c for c in found if re.split("[:,]", c)[0] in stages) + [
        "fir:@soft", "analysis:@half,synthesis", "analysis:@lifted:levels=2:border=periodization,synthesis:crop=0", "analysis:haar:border=smooth,synthesis",
        "dwt:db2:levels=2,shrink:threshold=sure:only=HH*/*1,gain:2:only=LL*,idwt", "dwt:haar,convert:u8:only=L?*/[H]*/!x,abs:only=*",
        "subtract:@dark", "divide:@flat:scale=2", "mask:@roi:background=1_2_3", "difference:@flat", "blend:@logo:1:2:0.5:gravity=southeast", "blend:@mark:x=-3",
        "convert:type=f32,subtract:@dark"]


def configurations():
    texts = [(root / "config/sluice.yaml").read_text(), "version: 1\n"]
    for page in pages():
        texts += re.findall(r"```yaml\n(.*?)```", page.read_text(), re.S)
    texts.append("version: 1\nbanks: {thirds: {lowpass: [0.5, 0.5], highpass: [0.5, -0.5]}}\n"
                 "kernels: {soft: 1_2_1/2_4_2/1_2_1}\n")
    return texts


def definitions():
    """Configurations with a picture behind them: its name, and its file, whole and damaged."""
    pictures = [b"P5 3 2 255\nabcdef", b"P6 2 1 255\nabcdef", b"P5 2 2 65535\nabcdefgh", b"P5 30 20 255\nshort", b"P4 8 1\n\xaa", b"",
                b"BM" + struct.pack("<IIIIiiHHIIiiII", 62, 0, 54, 40, 1, 2, 1, 24, 0, 8, 0, 0, 0, 0) + bytes(8)]
    npy = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2), }".ljust(117) + b"\n"
    pictures.append(b"\x93NUMPY\x01\0" + struct.pack("<H", len(npy)) + npy + bytes(32))
    for i, picture in enumerate(pictures):
        head = b"" if i % 2 else b"version: 1\nkernels: {soft: 1_2_1/2_4_2/1_2_1}\nchains: {a: 'subtract:@dark'}\n"
        yield head + b"\0" + [b"dark", b"a=b", b"logo.1"][i % 3] + b"\n" + picture
        yield head + b"\0dark\n" + picture
    yield "pictures: {dark: /dev/null, flat: missing.png}\n"


def views():
    head = "Host: 127.0.0.1:1\r\nSluice-Token: TOKEN\r\n\r\n"
    for path in ("/", "/view.css", "/../etc/passwd", "/%2e%2e/secret", "/api/start", "/api/chain?chain=gauss:2,sobel", "/api/picture?file=0&chain=invert",
                 "/api/picture?file=1", "/api/picture?chain=luminance,dwt:levels=1&plane=HL1", "/api/picture?chain=gauss:1&x=1&y=1&width=2&height=1&every=2&moving=1",
                 "/api/plan?chain=sobel&board=rock5b", "/api/result?chain=pad:left=3&format=png", "/api/result?format=npz", "/api/picture?steps=1&chain=crop:w=2:h=1,sobell",
                 "/api/thumb?file=/etc/passwd"):
        yield b"\x10" + f"GET {path} HTTP/1.1\r\n{head}".encode()
    yield b"\x10" + b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    yield b"\x13" + f"GET /api/start HTTP/1.1\r\nOrigin: http://evil.example\r\n{head}".encode()
    yield b"\x20" + f"GET /api/alive HTTP/1.1\r\n{head}".encode()
    yield b"\x11" + f"POST /api/daemon/v1/files/requeue?file=/x HTTP/1.1\r\nContent-Length: 3\r\n{head}abc".encode()
    yield b"\x12" + f"PUT /api/start HTTP/1.1\r\nTransfer-Encoding: chunked\r\n{head}3\r\nabc\r\n0\r\n\r\n".encode()
    yield b"\x10" + (f"GET / HTTP/1.1\r\n{head}" * 3).encode()


def requests():
    picture = b"P5 2 2 255\nabcd"
    api = json.loads((root / "docs/openapi.json").read_text())
    heads = []
    for path, methods in api["paths"].items():
        for method in methods:
            query = {"/v1/process": "?chain=luminance,sobel&format=png", "/v1/files": "?state=failed&limit=3",
                     "/v1/files/requeue": "?file=/in/a.png"}.get(path, "")
            heads.append(f"{method.upper()} {path}{query} HTTP/1.1\r\nHost: x\r\n")
    for head in heads:
        yield b"\x50" + head.encode() + b"\r\n"
    post = "POST /v1/process?chain=%s HTTP/1.1\r\nHost: x\r\n"
    length = f"Content-Length: {len(picture)}\r\n"
    chunked = b"f\r\n" + picture + b"\r\n0\r\n\r\n"
    for chain in ("luminance,sobel", "dwt", "invert"):
        yield b"\x12" + (post % chain + length + "\r\n").encode() + picture
        yield b"\x31" + (post % chain + length + "\r\n").encode() + picture
        yield b"\x40" + (post % chain + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunked
    yield b"\x13" + (post % "" + length + "Expect: 100-continue\r\n\r\n").encode() + picture
    yield b"\x10" + (post % "" + length + length + "\r\n").encode() + picture
    yield b"\x10" + (post % "" + length + "Transfer-Encoding: chunked\r\n\r\n").encode() + picture
    yield b"\x10" + (post % "" + "Content-Length: 99999999999\r\n\r\n").encode() + picture
    yield b"\x11" + b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" * 3
    yield b"\x10GET http://x/livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"


def job_messages():
    job = '{"id":1,"chain":"luminance,sobel","format":"png"}'
    yield f"A{job}\n"
    yield f"B{job}\n"
    yield f"I{job}\nJ" + job.replace("1", "2") + "\n"
    yield f"\xc1{job}\n\xc4{job}\nE{job}\nF{job}\nG{job}\n@{job}\n"
    yield 'A{"id":1,"chain":"dwt","format":"png"}\nA{"id":2,"chain":"invert"}\n'
    yield '@{"type":"status","id":3}\n@{"type":"why","id":4,"file":"/in/a.png"}\n'
    yield '@{"type":"requeue","id":5,"failed":true}\n@{"type":"requeue","id":6,"file":"/in/a.png"}\n'


def worker_messages():
    ready = '{"type":"kept","pid":7}\n{"type":"working","prepared":1,"of":3}\n' \
            '{"type":"checked","id":0,"result":"ok","device":"x","level":"whole: x","extension":"png","builds":3}\n'
    done = '{"type":"done","id":1,"result":"ok","planes":[""],"extension":"png","media_type":"image/png","total":5,' \
           '"report":{"total_s":0.5,"stages":[{"stage":"sobel","run_s":0.1}],"warnings":["odd"]}}\n'
    began = '{"type":"began","id":1}\n'
    yield ready + "J\n" + began + done
    yield ready + "J\nJ\n" + began + '{"type":"need-output","id":1,"plane":"dx"}\n' + done
    yield ready + "J\n" + began + "S\n" + ready + began + "S\n" + ready
    yield ready + "J\n" + began + "H\nK\n" + ready
    yield ready + "J\n" + began + '{"type":"done","id":1,"result":"device","text":"lost"}\n' + ready + "C\n"
    yield ready + "J\nJ\n" + began + '{"type":"done","id":1,"result":"chain","subject":"chain","position":1,"length":2}\n'
    yield '{"type":"checked","id":0,"result":"no-device","text":"none"}\n' + ready + '{"type":"pong"}\n'
    yield ready + '{"type":"described","result":"ok"}\n' + ready


def relay_messages():
    url = "https://pictures.example/in/a.jpg"
    yield "sluice.jobs.small.a-1\nSluice-Chain: luminance,sobel\nSluice-Format: png\n\nthe picture"
    yield f"sluice.jobs.x.y\nSluice-Source: {url}\nSluice-SHA256: {'0a' * 32}\n" \
          "Sluice-Result: https://pictures.example/out/a.png\nSluice-Input: orient=0\n\n"
    for odd in ("../a", "%2e%2e/a", "//x", "a?b#c", ":80/a", "@evil/a", "%00", "a b"):
        yield f"sluice.jobs.x.y\nSluice-Source: https://pictures.example/in/{odd}\n\n"
    yield "sluice.jobs.x.y\nSluice-Source: HTTPS://Pictures.Example:443/in/\nsluice-chain: a\nSluice-Chain: b\n\n"


def notes():
    done = {"number": 0, "extension": "png", "base": "a", "tag": "00112233445566aa-1", "exists": 0,
            "results": [{"plane": "", "size": 8, "mtime": 0}]}
    counts = {"attempts": 1, "crashes": 0, "interruptions": 0, "alone": 0}
    for note in (counts, {**counts, "done": done}, {**counts, "done": {**done, "exists": 1, "base": "%2e%2e%2fx"}},
                 {**counts, "failed": {"number": 0, "reason": "{\"message\":\"damaged\"}\n"}},
                 {**counts, "done": {**done, "results": [{"plane": "dx", "size": 8, "mtime": 1},
                                                          {"plane": "../x", "size": 8, "mtime": 1}]}}):
        for front in ("out\n\n", "in\nsub/deep\n", "out/../beside\n../x\n"):
            yield front + json.dumps(note)
    yield "out\n\n{"
    yield "\n\n"


def library_calls():
    """A byte of flags, two layouts, and a chain: see fuzz_library.c."""
    plane = bytes([1 | 1 << 3, 20, 12, 0, 24])
    planes = bytes([0, 20, 12]) + bytes(6) + 3 * plane + b"\0"
    video = [bytes([64 | form | matrix << 4 | full << 7, 20, 12]) + bytes(6) + b"\1\0"
             for form in range(1, 14) for matrix, full in ((0, 0), (1, 1))]
    for i, chain in enumerate(chains()[:60]):
        layout = planes if i % 3 == 0 else video[i % len(video)]
        for flags in (2, 6, 10):
            yield bytes([flags | (i & 7) << 5]) + layout + planes + chain.encode() + b"\0"
    yield b"\4" + bytes([0, 20, 12]) + bytes(6) + bytes([255, 255, 255, 255, 255, 255]) * 3 + b"\0" + planes + b"sobel\0"


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def entries():
    for key, binary in ((b"device\ndriver\nflags\nsource", b"\x7fELF" + bytes(60)), (b"", b""), (b"k", b"")):
        header = struct.pack("<16sQQQ", b"sluicebin1", len(key), len(binary), fnv(key + binary))
        yield header + key + binary
        yield (header + key + binary)[:-1]
    yield struct.pack("<16sQQQ", b"sluicebin1", 2**64 - 1, 2, 0) + b"x"


def write(name, texts, words=r"[A-Za-z0-9_@-]{2,}"):
    folder = output / name
    folder.mkdir(parents=True, exist_ok=True)
    found = set()
    for text in texts:
        data = text.encode("latin-1", "replace") if isinstance(text, str) else text
        (folder / hashlib.sha1(data).hexdigest()[:16]).write_bytes(data)
        found |= set(re.findall(words, data.decode("latin-1")))
    lines = sorted(w for w in found if len(w) <= 40 and w.isascii())
    (output / f"{name}.dict").write_text("".join(f'"{word}"\n' for word in lines))


write("chain", [f"{chr(i % 8)}{chr(0x11 * (i % 7))}{c}\npng:level=1\norient=0:raw=nv12:w=64:h=48\n"
                for i, c in enumerate(chains())])
write("library", library_calls())
write("config", [*configurations(), *definitions()])
write("http", requests())
write("view", views())
write("jobs", job_messages())
write("worker", worker_messages())
write("relay", relay_messages(), r"[A-Za-z0-9_-]{2,}|%[0-9a-f]{2}|://|\.\.")
write("spool", notes())
write("cache", entries())
