"""release.py SCRIPT PAGE PLACE: the release archive has the page, byte by byte, and is the same twice; unpacked to
PLACE/verve-page, where other tests open it."""
import os
import shutil
import subprocess
import sys
import zipfile

script, page, place = sys.argv[1:]
shutil.rmtree(place, ignore_errors=True)
archives = []
for turn in ("one", "two"):
    subprocess.run([script, "--page", page, os.path.join(place, turn)], check=True)
    (name,) = os.listdir(os.path.join(place, turn))
    archives.append(os.path.join(place, turn, name))
assert open(archives[0], "rb").read() == open(archives[1], "rb").read(), "the same page gives the same bytes"
with zipfile.ZipFile(archives[0]) as archive:
    assert archive.testzip() is None
    folders = {each.split("/")[0] for each in archive.namelist()}
    assert folders == {os.path.basename(archives[0])[:-len(".zip")]}, folders
    archive.extractall(place)
unpacked = os.path.join(place, "verve-page")
os.rename(os.path.join(place, folders.pop()), unpacked)
there, given = set(os.listdir(unpacked)), set(os.listdir(page))
assert there - given == {"README.txt", "LICENSE.txt"} and given <= there, there ^ given
for name in given:
    assert open(os.path.join(page, name), "rb").read() == open(os.path.join(unpacked, name), "rb").read(), name
print(f"{len(there)} files")
