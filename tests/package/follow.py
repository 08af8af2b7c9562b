"""Follows docs/extending.md on a copy of the sources, builds it, and runs what new entries must pass.

  follow.py SOURCE BUILD PLACE LAUNCHER   PLACE: a folder of its own; BUILD: a build of SOURCE with Ninja and tests

Blocks of the page name their file behind the language: "```cpp FILE" creates it, "```diff FILE" replaces its lines
" " and "-" by those with " " and "+". Object files whose command is that of BUILD, apart from the level of
optimisation, and whose sources are untouched are taken from there (reuse.sh): what is compiled is what was added.
"""
import json
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ["CMakeLists.txt", "apps", "bench", "cmake", "docs", "examples", "figures", "include", "scenes", "src", "tests",
           "web"]
NEW = {"potentials": "edge_green_strain", "methods": "pd_two_step", "shapes": "disc", "scenes": "over_a_disc"}


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout[-8000:]}")
    return done.stdout


def apply(page, root):
    """Applies the blocks of the page; returns the files that were created or changed."""
    touched = set()
    with open(page) as file:
        blocks = re.findall(r"^```(\w+) (\S+)\n(.*?)^```$", file.read(), re.M | re.S)
    for language, name, text in blocks:
        path = os.path.join(root, name)
        touched.add(name)
        if language != "diff":
            if os.path.exists(path):
                sys.exit(f"{page}: creates {name}, which is there already")
            with open(path, "w") as file:
                file.write(text)
            continue
        lines = text.splitlines()
        before = "".join(line[1:] + "\n" for line in lines if line[0] in " -")
        after = "".join(line[1:] + "\n" for line in lines if line[0] in " +")
        with open(path) as file:
            content = file.read()
        if content.count(before) != 1:
            sys.exit(f"{page}: found {content.count(before)} times in {name}, expected once:\n{before}")
        with open(path, "w") as file:
            file.write(content.replace(before, after))
    if len(blocks) < 10:
        sys.exit(f"{page}: found {len(blocks)} blocks with a file, expected those of five recipes")
    return touched


def ninja(build, *tool):
    return run("ninja", "-C", build, "--quiet", "-t", *tool)


def commands(source, build):
    """{object file: (words of its command, source file)}"""
    found = {}
    for entry in json.loads(ninja(build, "compdb")):
        words = entry["command"].replace(build, "BUILD").replace(source, "SOURCE").split()
        if "-c" not in words or "-MD" not in words:
            continue
        words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
        words = words[:words.index("-MD")] + words[words.index("-c"):]
        if "-include" in words:  # a precompiled header, of which the same object file comes
            at = words.index("-include")
            words = words[:at] + words[at + 2:]
        found[entry["output"]] = [word for word in words if not re.fullmatch("-O.|-W.*", word)], entry["file"]
    return found


def dependencies(build):
    found, output = {}, ""
    for line in ninja(build, "deps").splitlines():
        if line and not line.startswith(" "):
            output = line.split(":")[0]
            found[output] = []
        elif line:
            found[output].append(os.path.realpath(os.path.join(build, line.strip())))
    return found


def same_file(ours, theirs, build, copy_build):
    """Of files that the build generates: those of the copy may not be there yet."""
    if not os.path.exists(theirs):
        return True
    with open(ours) as a, open(theirs) as b:
        return a.read() == b.read().replace(copy_build, build)


def link_objects(source, build, copy, copy_build, touched, folder):
    ours, theirs, depends = commands(source, build), commands(copy, copy_build), dependencies(build)
    changed = {os.path.join(source, name) for name in touched}
    rooms = {os.path.dirname(name) for name in touched if name.endswith("CMakeLists.txt")}
    same = 0
    for output, (words, file) in theirs.items():
        if output not in ours or ours[output][0] != words or output not in depends or changed & set(depends[output]):
            continue
        if not all(same_file(made, made.replace(build, copy_build), build, copy_build)
                   for made in depends[output] if made.startswith(build + os.sep)):
            continue
        generated = file.startswith(copy_build)
        if generated and (any(output.startswith(room) for room in rooms) or
                          not same_file(file.replace(copy_build, build), file, build, copy_build)):
            continue
        link = os.path.join(folder, output)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(os.path.join(build, output), link)
        same += 1
    print(f"{same} of {len(theirs)} object files are the same")
    if same < 0.8 * len(theirs):
        sys.exit("expected most of them to be: is the build up to date?")


def main(source, build, place, launcher):
    source, build = os.path.realpath(source), os.path.realpath(build)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    place = os.path.realpath(place)
    copy, copy_build, same = (os.path.join(place, name) for name in ("verve", "build", "same"))
    os.makedirs(copy)
    for name in FOLDERS:
        if os.path.isdir(os.path.join(source, name)):
            shutil.copytree(os.path.join(source, name), os.path.join(copy, name),
                            ignore=shutil.ignore_patterns("node_modules", "pictures"))
        else:
            shutil.copy2(os.path.join(source, name), copy)
    touched = apply(os.path.join(source, "docs", "extending.md"), copy)

    here = os.path.dirname(os.path.realpath(__file__))
    words = ["sh", os.path.join(here, "reuse.sh"), same] + [word for word in launcher.split(";") if word]
    run("cmake", "-S", copy, "-B", copy_build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNDEBUG", "-DVERVE_PRECOMPILE=OFF", "-DVERVE_BUILD_TESTS=ON",
        "-DCMAKE_CXX_COMPILER_LAUNCHER=" + ";".join(words))
    link_objects(source, build, copy, copy_build, touched, same)
    print(run("cmake", "--build", copy_build, "--target", "verve_cli", "test_contracts", "test_potentials",
              "test_integrators", "--", "--quiet"))

    verve = os.path.join(copy_build, "bin", "verve")
    for kind, name in NEW.items():
        if not re.search(rf"^{name}\b", run(verve, "list", kind, "--plain"), re.M):
            sys.exit(f"verve list {kind} does not list {name}")
    run(verve, "check", "over_a_disc")
    run(verve, "simulate", "over_a_disc", "--out", os.path.join(place, "run"), "--quiet")
    with open(os.path.join(place, "run", "metrics.csv")) as file:
        rows = file.read().splitlines()
    if len(rows) < 121:
        sys.exit(f"found {len(rows)} rows of metrics.csv, expected one for each of 120 frames")

    def tests(program, *which):
        print(run(os.path.join(copy_build, "tests", program, f"test_{program}"), *which).splitlines()[-2])
    tests("potentials", "-sf=*test_contract.cpp")
    tests("contracts", "-tc=every*")
    tests("integrators", "-tc=a run restarted*,every method goes on from a snapshot*")


main(*sys.argv[1:])
