"""Faults from outside, one at a time: the n-th write, rename, link, open or allocation of a run fails, a disk is full from
there on, the process is killed there or at any moment; a folder is read-only; two write into one folder; the time of day
jumps. After each: what is there is readable to the last whole
frame, what belongs to others is as it was, no file is left that is not one of a run's, and the exit code says it.

  run.py VERVE PRELOAD PLACE [POINTS]   POINTS of each kind, evenly over the run (default: a few)
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

FILES = {"metrics.csv", "positions.npy", "scene.json", "report.html", "torn.csv", "snapshots"}
FRAMES = 4
SCENE = """{"version": 1, "name": "small", "frames": %d, "bodies": [{"name": "flag",
 "mesh": {"generator": "cloth", "columns": 4, "rows": 4}, "initial": {"stretch": [1.5, 1, 1]},
 "potentials": [{"type": "tri_strain", "mu": 100, "tear": 1.4}]}]}""" % FRAMES


def run(verve, place, *arguments, **environment):
    return subprocess.run([verve, *arguments], cwd=place, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def shape(file):
    with open(file, "rb") as f:
        head = f.read(128)
        f.seek(0, 2)
        size = f.tell()
    text = head[10:].decode()
    numbers = text[text.index("(") + 1:text.index(")")].split(",")
    frames, vertices = int(numbers[0]), int(numbers[1])
    assert size >= 128 + frames * vertices * 12, f"{file}: {size} bytes for {frames} frames of {vertices} vertices"
    return frames


def check(place, what, outcome, before):
    def hold(good, text):
        if not good:
            sys.exit(f"{what}: {text}\nexit code {outcome.returncode}\n{outcome.stdout[-500:]}{outcome.stderr[-1500:]}")

    with open(os.path.join(place, "other.txt")) as f:
        hold(f.read() == "not ours\n", "a file of somebody else was changed")
    hold(set(os.listdir(place)) <= {"scene.json", "other.txt", "o", "count"}, f"found {os.listdir(place)}")
    out = os.path.join(place, "o")
    left = set(os.listdir(out)) if os.path.isdir(out) else set()
    if outcome.returncode >= 0:
        hold(left <= FILES, f"found {sorted(left - FILES)}")
    else:  # killed: what has no name yet is gone, what had one may be there
        hold(sum(name not in FILES for name in left) <= 1, f"found {sorted(left - FILES)}")
    frames = rows = 0
    if "positions.npy" in left and "metrics.csv" in left:
        frames = shape(os.path.join(out, "positions.npy"))
        with open(os.path.join(out, "metrics.csv")) as f:
            text = f.read()
        if outcome.returncode >= 0:
            hold(text.endswith("\n"), "the last line of metrics.csv is not whole")
        rows = (text.count("\n") - 1) // 2
        if not before or outcome.returncode >= 0:
            hold(abs(rows - frames) <= (outcome.returncode < 0), f"{rows} frames in metrics.csv, {frames} in positions.npy")
    if outcome.returncode == 0:
        hold(frames == FRAMES + 1, f"exit code 0 with {frames} frames")
    elif outcome.returncode > 0:
        hold(outcome.returncode in (1, 2), "expected 1 or 2")
        hold(outcome.stderr.strip(), "no message")
        if "nothing was written" in outcome.stderr and not before:
            hold(not left, f"said that nothing was written, and there is {sorted(left)}")


def main(verve, preload, place, points=3):
    verve, preload = os.path.abspath(verve), os.path.abspath(preload)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)

    def fresh(again):
        for name in os.listdir(place):
            path = os.path.join(place, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        with open(os.path.join(place, "scene.json"), "w") as f:
            f.write(SCENE)
        with open(os.path.join(place, "other.txt"), "w") as f:
            f.write("not ours\n")
        if again:
            assert run(verve, place, *words).returncode == 0

    words = ["simulate", "scene.json", "--out", "o", "--quiet", "--threads", "1"]
    trials = 0
    for again in (False, True):  # into a folder that is not there, and into that of an earlier run
        for kind, errors in (("write", ("ENOSPC", "KILL")), ("open", ("EACCES",)), ("link", ("EIO", "KILL")),
                             ("rename", ("EIO", "KILL")), ("truncate", ("EIO",)), ("memory", ("ENOMEM",))):
            fresh(again)
            count = os.path.join(place, "count")
            outcome = run(verve, place, *words, LD_PRELOAD=preload, FAIL=f"{kind}:-1:EIO", FAIL_COUNT=count)
            assert outcome.returncode == 0, outcome.stderr
            with open(count) as f:
                calls = int(f.read())
            if calls == 0 and kind not in ("truncate",):
                sys.exit(f"found no call of {kind}: is the library loaded?")
            few = max(1, points if kind != "memory" else 2 * points)
            for i in range(min(few, calls)):
                number = 1 + i * (calls - 1) // max(1, min(few, calls) - 1)
                for error in errors:
                    for more in ("", "+") if error == "ENOSPC" else ("",):
                        fresh(again)
                        plan = f"{kind}:{number}{more}:{error}"
                        outcome = run(verve, place, *words, LD_PRELOAD=preload, FAIL=plan)
                        check(place, f"{plan} of {calls}{', into an earlier run' if again else ''}", outcome, again)
                        trials += 1
    # killed at any moment of its run
    long = ["simulate", "scene.json", "--out", "o", "--quiet", "--threads", "1", "--frames", "4"]
    fresh(False)
    begin = time.monotonic()
    assert run(verve, place, *long).returncode == 0
    takes = time.monotonic() - begin
    chance = random.Random(20261119)
    for _ in range(2 * points):
        fresh(False)
        process = subprocess.Popen([verve, *long], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(takes * chance.random())
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        check(place, "killed", subprocess.CompletedProcess(long, process.returncode, out, err), False)
        trials += 1

    # two at once: one has the folder, the other is refused, and what is there is of the one
    fresh(False)
    both = [subprocess.Popen([verve, *words], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    told = [process.communicate() for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 2]), (codes, told)  # (or one after the other)
    check(place, "two at once", subprocess.CompletedProcess(words, 0, *told[0]), False)
    trials += 1

    def positions():
        with open(os.path.join(place, "o", "positions.npy"), "rb") as f:
            return f.read()

    usual = positions()
    fresh(False)
    outcome = run(verve, place, *words, LD_PRELOAD=preload, FAIL="clock:0:JUMP")
    check(place, "a clock that jumps", outcome, False)
    assert outcome.returncode == 0 and positions() == usual, "another result where the clock jumps"
    trials += 1

    if os.geteuid() != 0:
        fresh(True)
        os.chmod(os.path.join(place, "o"), 0o555)
        outcome = run(verve, place, *words)
        os.chmod(os.path.join(place, "o"), 0o755)
        assert outcome.returncode == 2, outcome
        check(place, "read-only folder", outcome, True)
        trials += 1
    print(f"{trials} faults, none left anything behind that should not be there")


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:5]))
