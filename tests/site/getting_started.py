"""getting_started.py PAGE PROGRAM PYTHONPATH PLACE: follows docs/getting_started.md in a folder of its own.

"```sh" blocks are run line by line, where "./run" is the program ("./run python" Python with the package); "```text" is what
the block above must have written, line by line; "```LANGUAGE FILE" creates a file. What serves is opened and ended.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

page, program, packages, place = sys.argv[1:]
PATIENCE = 300  # seconds until a test is lost; nothing is measured by it


def serve(line):
    """The first page, by the address that is written; on any free port."""
    process = subprocess.Popen([program, *line.split()[1:], "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": ""})
    address = process.stdout.readline().strip()
    assert b"verve-token" in urllib.request.urlopen(address, timeout=PATIENCE).read()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    return re.sub(r":\d+/", ":8765/", address)


def run(line):
    if re.match(r"\./run serve\b", line):
        return serve(line)
    command = re.sub(r"^\./run python\b", f"PYTHONPATH='{packages}' PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3", line)
    command = re.sub(r"^\./run\b", f"'{program}'", command)
    done = subprocess.run(["bash", "-c", command], cwd=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=PATIENCE)
    assert done.returncode == 0, f"{line}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout


shutil.rmtree(place, ignore_errors=True)
os.makedirs(place)
with open(page) as file:
    blocks = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", file.read(), re.M | re.S)
said, count = "", 0
for language, name, text in blocks:
    if name:
        with open(os.path.join(place, name), "w") as file:
            file.write(text)
    elif language == "sh":
        said = "\n".join(run(line) for line in text.splitlines())
        count += len(text.splitlines())
    else:
        assert language == "text", f"found a block of {language}, expected sh, text or one that names its file"
        for line in text.splitlines():
            assert line in said, f"expected {line!r} in what was written:\n{said}"
assert count >= 8, f"found {count} commands"
for made in ("runs/first/compare.html", "runs/mine/report.html", "runs/mine/picture.png", "runs/mine/strain.png",
             "runs/dial/metrics.csv"):
    assert os.path.getsize(os.path.join(place, made)) > 100, made
# what the page says of the two methods and of the dial
with open(os.path.join(place, "runs/dial/metrics.csv")) as file:
    head, *rows = [line.strip().split(",") for line in file]
at = head.index("total")
energies = [float(row[at]) for row in rows]
assert abs(energies[-1] - 400) < 4 and energies[20] > 600, energies[-3:]
print(f"{count} commands")
