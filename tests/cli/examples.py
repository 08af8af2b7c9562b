"""Runs the commands that README, docs and --help show as examples: those that make, read and write meshes, scenes and runs.

  examples.py VERVE SOURCE PLACE

Frames are cut to two; files that examples only name (bunny.obj, scan.stl, ...) are made first.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

VERVE, SOURCE, PLACE = sys.argv[1:]
COMMANDS = {"simulate", "drop", "mesh", "convert", "list", "check", "picture", "link"}
FRAMES = {"simulate": "2", "drop": "2", "link": "2", "picture": "0:2:2", "convert": "0:2:2"}
NOT_RUN = re.compile(r"\[|\.\.\.|…|\b[A-Z]{3,}\b|--resume|--snapshot")  # a synopsis; snapshots have tests of their own
NAMED = {"bunny.obj": "bear", "scan.stl": "torus", "teapot.ply": "torus"}


def run(words, check=True):
    done = subprocess.run([VERVE, *words], text=True, capture_output=True, cwd=PLACE)
    if check and done.returncode != 0:
        sys.exit(f"failed: verve {shlex.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def shown():
    """(where, command line)"""
    for command in sorted(COMMANDS):
        for sub in ([command], [command, "info"]) if command == "mesh" else ([command],):
            for line in run([*sub, "--help"]).splitlines():
                if line.strip().startswith("verve ") and "Usage" not in line:
                    yield f"verve {' '.join(sub)} --help", line.strip()
    for page in [pathlib.Path(SOURCE, "README.md"), *sorted(pathlib.Path(SOURCE, "docs").glob("*.md"))]:
        inside = False
        for line in page.read_text().splitlines():
            inside = inside != line.startswith("```")
            if line.startswith("    verve ") or (inside and line.startswith("verve ")):
                yield page.name, line.strip()


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(PLACE)
    for file, generator in NAMED.items():
        run(["mesh", generator, "--set", "resolution=12", "--out", file])
    run(["drop", "bunny.obj", "--cells", "8", "--frames", "2", "--out", "runs/cow", "--quiet"])
    run(["convert", "runs/cow", "--to", "glb", "--out", ".", "--quiet"])
    os.replace(os.path.join(PLACE, "bunny.glb"), os.path.join(PLACE, "cow.glb"))
    for scene in ("cube", "bear", "car", "cloth"):
        run(["simulate", scene, "--frames", "2", "--out", f"runs/{scene}", "--quiet"])
    shutil.copy(os.path.join(PLACE, "runs", "cube", "scene.json"), os.path.join(PLACE, "my_scene.json"))
    done = []
    for where, line in shown():
        words = shlex.split(re.split(r"  +|\s#\s", line)[0])[1:]
        if not words or words[0] not in COMMANDS or NOT_RUN.search(line):
            continue
        frames = FRAMES.get(words[0])
        if frames and "--frames" in words:
            words[words.index("--frames") + 1] = frames
        elif frames and words[0] != "convert" and not any(w.startswith("frames=") for w in words):
            words += ["--frames", frames]
        words = ["frames=2" if w.startswith("frames=") else w for w in words]
        if words not in done:
            print(f"{where}: verve {shlex.join(words)}", flush=True)
            run(words)
            done.append(words)
    if len(done) < 20:
        sys.exit(f"failed: found {len(done)} examples, expected what the pages have")


main()
