"""The C interface from other languages, and what it promises of its binary form.

  languages.py LIBRARY TEST_C VERVE_SOURCE   TEST_C: the C99 program, which prints a state hash
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

library, program, source = sys.argv[1:]
scene = "cube"

with tempfile.TemporaryDirectory() as place:
    done = subprocess.run([program, scene], cwd=place, text=True, capture_output=True)
if done.returncode != 0:
    sys.exit(f"test_c: {done.returncode} checks failed\n{done.stderr}")
expected = done.stdout.strip()


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("origin", ctypes.c_char_p),
                ("run_tasks", ctypes.c_void_p), ("user", ctypes.c_void_p)]


verve = ctypes.CDLL(library)
verve.verve_last_error.restype = ctypes.c_char_p
verve.verve_state_hash.restype = ctypes.c_uint64
verve.verve_default_options.restype = Options
options = verve.verve_default_options()
assert options.struct_size == ctypes.sizeof(Options)
options.threads = 1
simulation = ctypes.c_void_p()
if verve.verve_create(scene.encode(), ctypes.byref(options), ctypes.byref(simulation)):
    sys.exit(verve.verve_last_error().decode())
for _ in range(10):
    assert verve.verve_step(simulation, None) == 0
found = f"{verve.verve_state_hash(simulation):016x}"
verve.verve_destroy(simulation)
if found != expected:
    sys.exit(f"ctypes: found {found}, expected {expected} as in C")
print("C99, ctypes:", found)

try:
    import verve as package
except ImportError:
    print("PYTHON IS NOT COMPARED: the package is not built")
else:
    simulation = package.Simulation(scene, threads=1)
    for _ in simulation.run(10):
        pass
    if f"{simulation.state_hash:016x}" != expected:
        sys.exit(f"Python: found {simulation.state_hash:016x}, expected {expected} as in C")
    print("Python:", expected)

lua = """
local ffi = require("ffi")
ffi.cdef[[
typedef struct { size_t struct_size; int32_t threads; const char* origin; void* run_tasks; void* user; } verve_options;
verve_options verve_default_options(void);
int32_t verve_create(const char*, const verve_options*, void**);
int32_t verve_step(void*, void*);
uint64_t verve_state_hash(void*);
void verve_destroy(void*);
]]
local verve = ffi.load(arg[1])
local options, simulation = verve.verve_default_options(), ffi.new("void*[1]")
options.threads = 1
assert(verve.verve_create(arg[2], options, simulation) == 0)
for _ = 1, 10 do assert(verve.verve_step(simulation[0], nil) == 0) end
print(bit.tohex(verve.verve_state_hash(simulation[0]), 16))
verve.verve_destroy(simulation[0])
"""
if shutil.which("luajit"):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(lua)
        file.flush()
        found = subprocess.run(["luajit", file.name, library, scene], text=True, capture_output=True, check=True).stdout.strip()
    if found != expected:
        sys.exit(f"LuaJIT: found {found}, expected {expected} as in C")
    print("LuaJIT:", found)
else:
    print("LUAJIT IS NOT TESTED: there is none here (scripts/install-deps languages)")

csharp = """
using System;
using System.Runtime.InteropServices;
static class Program {
  [StructLayout(LayoutKind.Sequential)]
  struct Options {
    public UIntPtr struct_size; public int threads; public IntPtr origin, run_tasks, user;
  }
  [DllImport("LIBRARY")] static extern int verve_create(string scene, ref Options options, out IntPtr simulation);
  [DllImport("LIBRARY")] static extern int verve_step(IntPtr simulation, IntPtr report);
  [DllImport("LIBRARY")] static extern ulong verve_state_hash(IntPtr simulation);
  [DllImport("LIBRARY")] static extern IntPtr verve_last_error();
  [DllImport("LIBRARY")] static extern void verve_destroy(IntPtr simulation);
  static int Main(string[] names) {
    var options = new Options { struct_size = (UIntPtr)Marshal.SizeOf(typeof(Options)), threads = 1 };
    IntPtr simulation;
    if (verve_create(names[0], ref options, out simulation) != 0) {
      Console.Error.WriteLine(Marshal.PtrToStringAnsi(verve_last_error()));
      return 1;
    }
    for (int frame = 0; frame < 10; ++frame) if (verve_step(simulation, IntPtr.Zero) != 0) return 1;
    Console.WriteLine(verve_state_hash(simulation).ToString("x16"));
    verve_destroy(simulation);
    return 0;
  }
}
"""
if shutil.which("mono") and shutil.which("mcs"):
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "program.cs"), "w") as file:
            file.write(csharp.replace("LIBRARY", library))
        subprocess.run(["mcs", "-out:program.exe", "program.cs"], cwd=place, check=True)
        found = subprocess.run(["mono", "program.exe", scene], cwd=place, text=True, capture_output=True, check=True).stdout.strip()
    if found != expected:
        sys.exit(f"C#: found {found}, expected {expected} as in C")
    print("C# (Mono):", found)
else:
    print("C# IS NOT TESTED: mono and mcs are not here (scripts/install-deps languages)")

# What is exported is what the header declares, and what tests/c/abi.txt has: a change is a decision.
names = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True, check=True).stdout
exported = sorted(line.split()[-1] for line in names.splitlines())
with open(os.path.join(source, "include/verve/c.h")) as file:
    header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
declarations = [" ".join(text.split()) for text in re.findall(r"VERVE_API ([^;{]*\));", header)]
declared = sorted(re.search(r"(verve_\w+)\(", text)[1] for text in declarations)
if exported != declared:
    sys.exit(f"exported but not declared, or the other way round: {sorted(set(exported) ^ set(declared))}")
structures = [" ".join(text.split()) for text in re.findall(r"typedef struct \w+ \{.*?\} \w+;", header, flags=re.S)]
constants = re.findall(r"(VERVE_[A-Z_]+ = \d+)", header)
now = "\n".join(sorted(declarations) + structures + constants) + "\n"
place = os.path.join(source, "tests/c/abi.txt")
with open(place) as file:
    kept = file.read()
if now != kept:
    missing = [line for line in kept.splitlines() if line not in now.splitlines()]
    added = [line for line in now.splitlines() if line not in kept.splitlines()]
    sys.exit("the interface is not that of tests/c/abi.txt; if that is meant, change the file and the version\n"
             + "".join(f"- {line}\n" for line in missing) + "".join(f"+ {line}\n" for line in added))
print(len(exported), "functions")
