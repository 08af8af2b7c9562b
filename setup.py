"""Builds the extension of the Python package by the project's own CMake: pip install ."""

import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

root = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def build_extension(self, extension: Extension) -> None:
        build = Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        flags = ["-DCMAKE_BUILD_TYPE=Release", "-DVERVE_BUILD_CLI=OFF", "-DVERVE_BUILD_TESTS=OFF", "-DVERVE_PYTHON=ON"]
        flags.append(f"-DPython3_EXECUTABLE={sys.executable}")
        subprocess.run(["cmake", "-S", root, "-B", build, "-G", "Ninja", *flags], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "verve_python"], check=True)
        target = Path(self.get_ext_fullpath(extension.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        made = next((build / "python" / "verve").glob("_core.*.so"))
        target.write_bytes(made.read_bytes())


setup(ext_modules=[Extension("verve._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
