"""Builds the extension of the Python package by the project's own CMake: pip install ., scripts/build-wheel.

VERVE_BUILD_DIR names a build folder to be used and kept, as build/ of the tree; without one it is built anew.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

root = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def build_extension(self, extension: Extension) -> None:
        given = os.environ.get("VERVE_BUILD_DIR")
        build = Path(given or self.build_temp).resolve()
        if not given:
            flags = ["-DCMAKE_BUILD_TYPE=Release", "-DVERVE_BUILD_CLI=OFF", "-DVERVE_BUILD_TESTS=OFF", "-DVERVE_PYTHON=ON"]
            if shutil.which("ccache"):
                flags.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
            flags.append(f"-DPython3_EXECUTABLE={sys.executable}")
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []
            subprocess.run(["cmake", "-S", root, "-B", build, *generator, *flags], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "verve_python", "--parallel"], check=True)
        target = Path(self.get_ext_fullpath(extension.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        made = build / "python" / "verve" / target.name
        if not made.exists():
            there = ", ".join(p.name for p in made.parent.glob("_core.*.so")) or "none"
            raise SystemExit(f"{made.parent}: found {there}, expected {target.name}: built for another Python")
        shutil.copyfile(made, target)


setup(ext_modules=[Extension("verve._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
