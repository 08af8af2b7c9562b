"""Runs check.py inside Blender, or says loudly that it is skipped.

  run.py VERVE SOURCE PLACE
"""
import os
import shutil
import subprocess
import sys

verve, source, place = sys.argv[1:]
blender = shutil.which("blender")
if not blender:
    print("SKIPPED: no Blender here, so the add-on is NOT tested; scripts/install-deps blender installs it", flush=True)
    sys.exit(77)
shutil.rmtree(place, ignore_errors=True)
os.makedirs(place)
archive = os.path.join(place, "verve_blender.zip")
subprocess.run([os.path.join(source, "integrations", "blender", "make-zip"), archive], check=True)
environment = dict(os.environ, BLENDER_USER_SCRIPTS=os.path.join(place, "scripts"), BLENDER_USER_CONFIG=os.path.join(place, "config"))
done = subprocess.run([blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python",
                       os.path.join(source, "tests", "blender", "check.py"), "--", verve, archive,
                       os.path.join(place, "a place with spaces")], env=environment)
sys.exit(done.returncode)
