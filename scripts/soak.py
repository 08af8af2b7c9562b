"""What scripts/soak runs: one scene after another in processes of their own, each watched while it runs."""
import json
import os
import subprocess
import sys
import time

HEAVIEST = ["bin", "pile", "garden", "drape", "strip", "t_pipe_major", "fabrics", "bears", "crush", "stack"]

WORKER = """
import json, sys, time
import verve
name, frames, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
end = time.monotonic() + seconds
sim = verve.Simulation(name, threads=1)
def account(m): return m.total + m.booked_loss + m.heat - m.work
start, most, gain, works, memory = account(sim.measure()), 0.0, 0.0, [], []
for frame in range(frames):
    if frame > 30 and time.monotonic() > end:
        break
    report = sim.step()
    m = sim.measure()
    most = max(most, m.kinetic + abs(m.elastic) + abs(m.contact))
    gain = max(gain, account(m) - start)
    works.append(report.work)
    with open("/proc/self/statm") as f:
        memory.append(int(f.read().split()[1]))
third = max(1, len(works) // 3)
print(json.dumps({"frames": len(works), "gain": gain / most if most else 0.0,
                  "longest": max(works) / (sum(works) / len(works)) if sum(works) else 0.0,
                  "memory": memory[-1] * 4096, "growth": memory[-1] / memory[third] - 1}))
"""


def main(out, hours):
    os.makedirs(out, exist_ok=True)
    seconds = 3600 * float(hours)
    end = time.monotonic() + seconds
    failed = number = 0
    table = open(os.path.join(out, "soak.csv"), "a")
    while time.monotonic() < end:
        name = HEAVIEST[number % len(HEAVIEST)]
        number += 1
        try:
            done = subprocess.run([sys.executable, "-c", WORKER, name, "1200", str(seconds / len(HEAVIEST))],
                                  capture_output=True, text=True, timeout=max(60.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            print(f"{name}: not done in time", flush=True)
            break
        if done.returncode != 0:
            failed = 1
            print(f"{name}: FAILED: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        found = json.loads(done.stdout)
        # (what is being filled is no leak)
        bad = found["gain"] > 1e-3 or (found["frames"] >= 300 and found["growth"] > 0.1)
        failed |= bad
        print(f"{name}: {found['frames']} frames, gain {found['gain']:.1e} of E, longest frame {found['longest']:.1f} of the "
              f"mean, {found['memory'] / 2**20:.0f} MiB, grew by {100 * found['growth']:.1f} %{'  DOES NOT HOLD' if bad else ''}",
              flush=True)
        table.write(f"{name},{json.dumps(found)}\n")
        table.flush()
    print(f"{number} runs")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
