"""Runs the commands that README.md and the pages of docs/ show, on a few frames each.

  commands.py SOURCE VERVE PLACE   VERVE: the program; PLACE: a folder of its own
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

# servers and minutes of measurements, which have tests of their own
LEFT_OUT = {"serve", "figures", "bench", "truth", "demo", "python"}


def shown(text):
    """Commands in fenced blocks: without comments, without those that have placeholders."""
    for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            match = re.match(r"(?:\./run|verve) ([a-z].*?)(?:\s+#.*|\s{3,}.*)?$", line)
            if match and not re.search(r"\b[A-Z]{2,}\b|\[-|\.\.\.|my_scene", match[1]):
                yield match[1]


def shortened(command):
    words = shlex.split(command)
    if words[0] in ("simulate", "compare"):
        words += ["--frames", "3", "--quiet"]
    if "--movie" in words and "--frames" not in words:
        words += ["--frames", "0:3"]
    # a snapshot of every frame, and the second in place of the hundredth
    words = ["1" if before == "--snapshot-every" else word for before, word in zip([""] + words, words)]
    return [re.sub(r"/000\d*\.verve$", "/000002.verve", word) for word in words]


def main(source, verve, place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    run = 0
    pages = [os.path.join(source, "README.md")] + sorted(glob.glob(os.path.join(source, "docs", "*.md")))
    # runs that other commands begin with
    commands = [("", ["simulate", name, "--frames", frames, "--quiet"])
                for name, frames in (("cube", "3"), ("bear", "90"))]
    for page in pages:
        with open(page) as file:
            commands += [(os.path.basename(page), shortened(command)) for command in shown(file.read())]
    for page, words in commands:
        if words[0] in LEFT_OUT:
            continue
        done = subprocess.run([verve] + words, cwd=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{page}: verve {' '.join(words)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
        run += 1
    print(f"{run} commands")
    if run < 15:
        sys.exit("expected at least 15")


main(*sys.argv[1:])
