"""Compiles the C++ that the pages of docs/ show: each block as the body of a function, with what the text around it has.

  snippets.py SOURCE COMPILER
"""
import glob
import os
import re
import subprocess
import sys

# what blocks take for granted, where they do not declare it themselves
GIVEN = {
    "scene": "verve::Scene scene",
    "body": "verve::BodySpec body",
    "skin": "std::vector<std::array<int, 3>> skin",
    "spec": "verve::BodySpec spec",
    "box": "verve::ColliderSpec box",
    "position": "verve::Vec3 position",
    "rotation": "verve::Quaternion rotation",
    "eye": "verve::Vec3 eye",
    "look": "verve::Vec3 look",
}


def function(name, block):
    def takes(variable):
        return re.search(rf"\b{variable}\b", block) and not re.search(rf"[&\w>] {variable}(;|\s*=|\()", block)
    given = [text for variable, text in GIVEN.items() if takes(variable)]
    for variable in ("simulation", "sim"):
        if takes(variable):
            kind = "verve::Expected<verve::Simulation>" if re.search(rf"\b{variable}->|\*{variable}\b", block) else \
                "verve::Simulation"
            given.append(f"{kind}& {variable}")
    body = "\n".join(line for line in block.splitlines() if line.strip() != "...")
    return f"int {name}({', '.join(given)}) {{\n{body}\nreturn 0;\n}}\n"


def main(source, compiler):
    text = "#include <verve/verve.h>\n#include <cstdio>\n#include <thread>\nint fail(const std::string&);\n"
    count = 0
    for page in sorted(glob.glob(os.path.join(source, "docs", "*.md"))):
        with open(page) as file:
            blocks = re.findall(r"^```cpp\n(.*?)^```", file.read(), re.M | re.S)
        for block in blocks:
            # programs are examples, built and run; src/render/ is not part of the public interface
            if "int main" not in block and "render::" not in block:
                count += 1
                line = f"{os.path.basename(page)[:-3]}_{count}"
                text += function(line, block)
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", os.path.join(source, "include"), "-x", "c++", "-"],
                          input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(done.stdout + "\nin\n" + text)
    print(f"{count} blocks")
    if count < 7:
        sys.exit("expected at least 7")


main(*sys.argv[1:])
