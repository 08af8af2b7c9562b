"""Lets a build of Verve inside another project take over what the build of Verve itself has compiled.

  reuse.py BUILD OUTER SAME   after configuring OUTER: makes the folder SAME, of links from object files that OUTER is to
                              have to those that are the same in BUILD. reuse.sh, as compiler launcher, copies them.

The same are object files whose commands agree in all but the level of optimisation, warnings and the folder of the
build, and whose sources take no notice of SIMD where just one of the two has it. So everything that the surrounding
project could change for the library, include paths and definitions, is still put to the test. For Ninja, which keeps
records.
"""
import json
import os
import re
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
            if "-include" in words:  # a precompiled header, of which the same object file comes
                at = words.index("-include")
                words = words[:at] + words[at + 2:]
            found[output] = [word for word in words if not re.fullmatch("-O.|-W.*", word)]
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


def main(build, outer, folder):
    ours, theirs = commands(build, "."), commands(outer, FOLDER)
    seen = that_see_simd(build)
    same = 0
    for output, words in theirs.items():
        own = ours.get(output)
        if own is None:
            continue
        if SIMD & set(own) != SIMD & set(words) and output in seen:
            continue
        if [word for word in own if word not in SIMD] == [word for word in words if word not in SIMD]:
            link = os.path.join(folder, FOLDER, output)
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.realpath(os.path.join(build, output)), link)
            same += 1
    print(f"{same} of {len(theirs)} object files are the same")


main(*sys.argv[1:])
