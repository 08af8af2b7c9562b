"""Lets a build of Verve inside another project take over what the build of Verve itself has compiled.

  reuse.py --compare BUILD OUTER LIST   after configuring OUTER: writes which object files are the same in both
  reuse.py LIST COMMAND...              as compiler launcher in OUTER: copies those, compiles the others

The same are object files whose commands agree in all but the level of optimisation and the folder of the build, and
whose sources take no notice of SIMD where just one of the two has it. So everything that the surrounding project could
change for the library, include paths and definitions, is still put to the test. For Ninja, which keeps records.
"""
import json
import os
import re
import shutil
import subprocess
import sys

FOLDER = "verve-build"  # of the library in OUTER
SIMD = {"-DVERVE_SIMD", "-DHWY_SHARED_DEFINE"}  # the second comes with Highway


def ninja(build, *tool):
    command = ["ninja", "-C", build, "--quiet", "-t", *tool]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commands(build, library):
    """{object file: words of its command} of the library, whose folder in the build is `library`."""
    found = {}
    here = os.path.realpath(os.path.join(build, library))
    for entry in json.loads(ninja(build, "compdb")):
        output = os.path.relpath(os.path.join(os.path.realpath(build), entry["output"]), here)
        if " -c " in entry["command"] and output.startswith("src/"):
            words = entry["command"].replace(here, "BUILD").split()
            words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
            words = words[:words.index("-MD")] + words[words.index("-c"):]
            found[output] = [word for word in words if not re.fullmatch("-O.", word)]
    return found


def that_see_simd(build):
    """Object files with a source or header that asks whether there is SIMD."""
    asks, seen, output = {}, set(), ""
    for line in ninja(build, "deps").splitlines():
        if not line.startswith(" "):
            output = line.split(":")[0]
            continue
        path = line.strip()
        if path not in asks:
            with open(os.path.join(build, path), errors="replace") as file:
                asks[path] = re.search(r"\b(VERVE_SIMD|HWY_SHARED_DEFINE)\b", file.read()) is not None
        if asks[path]:
            seen.add(output)
    return seen


def compare(build, outer, out):
    ours, theirs = commands(build, "."), commands(outer, FOLDER)
    seen = that_see_simd(build)
    same = {}
    for output, words in theirs.items():
        own = ours.get(output)
        if own is None:
            continue
        if SIMD & set(own) != SIMD & set(words) and output in seen:
            continue
        if [word for word in own if word not in SIMD] == [word for word in words if word not in SIMD]:
            same[os.path.join(FOLDER, output)] = os.path.join(build, output)
    with open(out, "w") as file:
        json.dump(same, file, indent=1)
    print(f"{len(same)} of {len(theirs)} object files are the same")


def launch(listing, command):
    same = {}
    if os.path.exists(listing):
        with open(listing) as file:
            same = json.load(file)
    output = command[command.index("-o") + 1] if "-o" in command else ""
    if output not in same:
        os.execvp(command[0], command)
    shutil.copyfile(same[output], output)
    with open(command[command.index("-MF") + 1], "w") as file:
        file.write(f"{output}: {command[command.index('-c') + 1]}\n")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
else:
    launch(sys.argv[1], sys.argv[2:])
