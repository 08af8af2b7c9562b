"""serve.py VERVE: the live page's server through real sockets: who may come in, what comes out, and that clients which
come, go, stall or send rubbish leave it alive."""
import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys

PATIENCE = 120  # seconds until a test is lost; nothing is measured by it


class Server:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, "serve", "--port", "0", *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", self.address)
        assert found, (self.address, self.process.stderr.read())
        self.port = int(found.group(1))

    def connect(self):
        link = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        link.settimeout(PATIENCE)
        return link

    def request(self, path, method="GET", host=None):
        with self.connect() as link:
            link.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\n\r\n".encode())
            answer = b""
            while part := link.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), body

    def token(self):
        return re.search(rb'name="verve-token" content="([0-9a-f]{32})"', self.request("/")[2]).group(1).decode()

    def alive(self):
        assert self.process.poll() is None, self.process.stderr.read()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        return code


class Client:
    """A page, as far as the server can tell."""

    def __init__(self, server, token, origin=None, host=None):
        self.link = server.connect()
        host = host or f"127.0.0.1:{server.port}"
        origin = f"Origin: {origin or 'http://' + host}\r\n" if origin != "" else ""
        key = base64.b64encode(os.urandom(16)).decode()
        self.link.sendall((f"GET /session?token={token} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                           f"{origin}\r\n").encode())
        self.buffer = b""
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                part = self.link.recv(4096)
                if not part:
                    break
                head += part
        except ConnectionResetError:
            head = b""
        head, _, self.buffer = head.partition(b"\r\n\r\n")
        self.open = head.startswith(b"HTTP/1.1 101")

    def exactly(self, count):
        while len(self.buffer) < count:
            part = self.link.recv(65536)
            if not part:
                raise EOFError
            self.buffer += part
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def send_frame(self, opcode, payload, final=True):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([(0x80 if final else 0) | opcode])
        head += (bytes([0x80 | size]) if size < 126 else bytes([0xfe]) + struct.pack(">H", size) if size < 65536
                 else bytes([0xff]) + struct.pack(">Q", size))
        self.link.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def send(self, message):
        self.send_frame(1, (message if isinstance(message, str) else json.dumps(message)).encode())

    def drawn(self):
        self.send_frame(2, b"\0")

    def receive(self):
        """A text as JSON, or a frame as bytes."""
        first, second = self.exactly(2)
        size = second & 127
        if size == 126:
            size = struct.unpack(">H", self.exactly(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.exactly(8))[0]
        payload = self.exactly(size)
        if first & 15 == 8:
            raise EOFError
        return json.loads(payload) if first & 15 == 1 else payload

    def until(self, kind):
        while True:
            got = self.receive()
            if isinstance(got, dict) and got["type"] == kind:
                return got

    def frame(self):
        while True:
            got = self.receive()
            if isinstance(got, bytes):
                self.drawn()
                return struct.unpack("<IIIIII", got[:24])

    def load(self, scene):
        self.send({"type": "load", "scene": scene})
        return self.until("scene")


def check_page(server):
    status, head, body = server.request("/")
    assert status == 200 and "text/html" in head and "Content-Security-Policy" in head
    # what threads in a page ask for
    assert "Cross-Origin-Opener-Policy: same-origin" in head and "Cross-Origin-Embedder-Policy: require-corp" in head
    for name in re.findall(r'(?:src|href)="([^"#]+)"', body.decode()):
        status, _, content = server.request("/" + name)
        assert status == 200 and len(content) > 20, name
    assert server.request("/thumbnails.webp")[0] == 200
    assert server.request("/", method="HEAD")[2] == b""
    assert server.request("/", method="POST")[0] == 405
    for path in ["/nothing", "/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd"]:
        assert server.request(path)[0] in (400, 403, 404), path
    # a name that merely points here is not ours
    assert server.request("/", host=f"evil.example:{server.port}")[0] == 403
    assert server.request("/", host=f"localhost:{server.port}")[0] == 200


def check_loopback(server):
    with open("/proc/net/tcp") as table:
        listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert f"0100007F:{server.port:04X}" in listening
    assert f"00000000:{server.port:04X}" not in listening


def check_doors(server, token):
    assert Client(server, token).open
    assert Client(server, token, host=f"localhost:{server.port}").open
    assert not Client(server, "").open
    assert not Client(server, "0" * 32).open
    assert not Client(server, token, origin="").open
    assert not Client(server, token, origin="http://evil.example").open
    assert not Client(server, token, origin=f"https://127.0.0.1:{server.port}").open
    assert not Client(server, token, origin=f"http://127.0.0.1:{server.port + 1}").open
    assert not Client(server, token, host=f"evil.example:{server.port}").open
    server.alive()


def check_frames(server, token):
    one, two = Client(server, token), Client(server, token)
    assert one.load("cube")["name"] == "cube"
    assert two.load("chain")["name"] == "chain"
    numbers = [one.frame()[2] for _ in range(8)]
    assert numbers == sorted(set(numbers)) and numbers[-1] >= 7, numbers
    others = [two.frame()[4] for _ in range(3)]
    assert others[0] != one.frame()[4]  # each has a scene of its own
    # a message in pieces is one message
    text = json.dumps({"type": "load", "scene": "torus"}).encode()
    one.send_frame(1, text[:10], final=False)
    one.send_frame(9, b"ping")
    one.send_frame(0, text[10:20], final=False)
    one.send_frame(0, text[20:])
    assert one.until("scene")["name"] == "torus"


def check_stalls(server, token):
    idle = Client(server, token)
    idle.load("cube")  # and draws nothing: two frames are all that it gets, however long it waits
    other = Client(server, token)
    other.load("cube")
    for _ in range(20):
        other.frame()
    idle.send({"type": "pause", "on": True})
    frames = []
    while True:
        got = idle.receive()
        if isinstance(got, bytes):
            frames.append(struct.unpack("<I", got[8:12])[0])
        elif got["type"] == "state" and got["paused"]:
            break
    assert 1 <= len(frames) <= 2, frames
    # then the newest, not those that were left out
    idle.drawn()
    idle.drawn()
    newest = idle.receive()
    assert struct.unpack("<I", newest[8:12])[0] > frames[-1] + 3

    deaf = Client(server, token)  # asks for much and reads nothing
    for _ in range(200):
        deaf.send({"type": "list"})
    deaf.send({"type": "load", "scene": "bear"})
    for _ in range(5):
        other.frame()
    server.alive()
    deaf.link.close()


def check_rubbish(server, token):
    client = Client(server, token)
    for text in ["", "nonsense", "[1, 2", "null", '{"type": "launch"}', "\x00\x01", '{"type": "load", "scene": "beer"}']:
        client.send(text)
        answer = client.until("error")
        assert answer["text"], answer
    assert "nearest: bear" in answer["text"]
    client.send_frame(1, b"\xff\xfe\xfa")  # no UTF-8
    client.until("error")
    client.load("cube")
    client.frame()
    for raw in [b"\x00" * 64, b"\xff" * 64, os.urandom(4096), b"\x81\xff" + b"\xff" * 8 + b"abcd" + b"x" * 100,
                b"GET / HTTP/1.1\r\n\r\n" * 10]:
        bad = Client(server, token)
        bad.link.sendall(raw)
        bad.link.close()
        with server.connect() as plain:  # and to the door itself
            plain.sendall(raw)
        server.alive()
    client.frame()


def check_killed(server, token):
    for _ in range(6):
        client = Client(server, token)
        client.send({"type": "load", "scene": "bear"})
        client.receive()
        client.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.link.close()  # with a reset, in the middle of what it is being sent
    client = Client(server, token)
    client.load("cube")
    assert client.frame()
    server.alive()


def check_crowd(server, token):
    crowd = []
    while True:
        client = Client(server, token)
        if not client.open:
            break
        crowd.append(client)
        assert len(crowd) <= 8
    assert crowd
    server.alive()
    for client in crowd:
        client.link.close()
    while not Client(server, token).open:  # places are given back
        server.alive()


def read_code(text):
    """The text of a QR code in half blocks, version 1 to 5, byte mode, one block: by the format bits, the mask and the
    order of modules, with its error correction checked."""
    half = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}  # 1: dark
    lines = [line for line in text.splitlines() if len(line) >= 29 and set(line) <= set(half)]
    rows = [[half[c][k] for c in line] for line in lines for k in (0, 1)]
    size = len(lines[0]) - 8
    code = [row[4:4 + size] for row in rows[4:4 + size]]
    form = [code[8][k] for k in (0, 1, 2, 3, 4, 5, 7, 8)] + [code[k][8] for k in (7, 5, 4, 3, 2, 1, 0)]
    word = int("".join(map(str, form)), 2) ^ 0x5412
    assert word >> 13 == 1, "error correction L"
    mask = [lambda i, j: (i + j) % 2, lambda i, j: i % 2, lambda i, j: j % 3, lambda i, j: (i + j) % 3,
            lambda i, j: (i // 2 + j // 3) % 2, lambda i, j: i * j % 2 + i * j % 3,
            lambda i, j: (i * j % 2 + i * j % 3) % 2, lambda i, j: ((i + j) % 2 + i * j % 3) % 2][word >> 10 & 7]

    def is_data(i, j):
        if i == 6 or j == 6 or (i < 9 and (j < 9 or j >= size - 8)) or (j < 9 and i >= size - 8):
            return False
        return size == 21 or max(abs(i - size + 7), abs(j - size + 7)) > 2

    bits, upwards = [], True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for i in range(size - 1, -1, -1) if upwards else range(size):
            bits += [code[i][j] ^ (mask(i, j) == 0) for j in (right, right - 1) if is_data(i, j)]
        upwards = not upwards
    words = [int("".join(map(str, bits[k:k + 8])), 2) for k in range(0, len(bits) - 7, 8)]
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] << 1 ^ (0x11d if powers[-1] & 128 else 0))
    words = words[:{21: 26, 25: 44, 29: 70, 33: 100, 37: 134}[size]]
    for root in range({21: 7, 25: 10, 29: 15, 33: 20, 37: 26}[size]):
        syndrome = 0
        for k, word in enumerate(reversed(words)):
            if word:
                syndrome ^= powers[(powers.index(word) + root * k) % 255]
        assert syndrome == 0, "error correction"
    text = "".join(f"{word:08b}" for word in words)
    assert text.startswith("0100"), "byte mode"
    return bytes(int(text[12 + 8 * k:20 + 8 * k], 2) for k in range(int(text[4:12], 2))).decode()


def check_lan(program):
    """For the network: by an address with a token, which the terminal shows as a QR code; and not otherwise."""
    process = subprocess.Popen([program, "serve", "cube", "--lan", "--port", "0"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    if not address:  # a machine without a network says so
        assert process.wait(PATIENCE) == 1 and "found no network" in process.stderr.read()
        print("NOT TRIED: --lan, for this machine is in no network")
        return
    host, port, token = re.fullmatch(r"http://([\d.]+):(\d+)/\?token=([0-9a-f]{32})", address).groups()
    assert host != "127.0.0.1"
    server = Server.__new__(Server)
    server.process, server.port = process, int(port)
    try:
        for name in (host, "127.0.0.1"):
            there = f"{name}:{port}"
            assert server.request("/", host=there)[0] == 403
            assert server.request("/?token=" + "0" * 32, host=there)[0] == 403
            status, head, body = server.request("/?token=" + token, host=there)
            assert status == 200 and token.encode() in body and f"ws://{there}" in head
            assert server.request("/live.js", host=there)[0] == 200
        assert server.request("/?token=" + token, host=f"evil.example:{port}")[0] == 403
        with socket.create_connection((host, int(port)), timeout=PATIENCE):
            pass  # it listens there
        assert not Client(server, "0" * 32, host=f"{host}:{port}").open
        client = Client(server, token, host=f"{host}:{port}")
        assert client.until("scene")["name"] == "cube"
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0
    assert read_code(said) == address, said


def main():
    check_lan(sys.argv[1])
    server = Server(sys.argv[1])
    try:
        check_page(server)
        check_loopback(server)
        token = server.token()
        check_doors(server, token)
        check_frames(server, token)
        check_stalls(server, token)
        check_rubbish(server, token)
        check_killed(server, token)
        check_crowd(server, token)
        # the same port twice is refused in words
        again = subprocess.run([sys.argv[1], "serve", "--port", str(server.port)], capture_output=True, text=True)
        assert again.returncode == 1 and "another program uses it" in again.stderr, again
    finally:
        code = server.stop()
    assert code == 0, code
    named = Server(sys.argv[1], "pendulum")
    try:
        assert named.token() != token  # one for each start
        client = Client(named, named.token())
        assert client.until("scene")["name"] == "pendulum"
        assert client.frame()
    finally:
        assert named.stop() == 0
    for arguments, word in [(["beer"], "beer"), (["--port", "70000"], "65535"), (["cube", "extra"], "too many")]:
        bad = subprocess.run([sys.argv[1], "serve", *arguments], capture_output=True, text=True)
        assert bad.returncode == 2 and word in bad.stderr, bad
    print("all well")


main()
