"""Stages the documentation as a site: docs/ as it is, and pages made of what the live page knows (home, gallery, lessons).

  make.py SOURCE STAGE   STAGE gets mkdocs.yml and docs/; scripts/build-site does the rest
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

# Every page of docs/ has its place here.
NAV = [
    ("Start", ["index", "getting_started", "gallery", "lessons"]),
    ("Use", ["commands", "scenes", "meshes", "materials", "live", "outputs", "blender", "pictures", "compare", "beside_others", "snapshots", "distributed", "budget",
             "tearing", "plasticity", "library", "python", "python_api", "extending"]),
    ("Methods", ["step", "pd", "cpd", "published", "integrators", "minimisers", "not_built", "constraints", "explicit", "position_based",
                 "fepr", "after_the_step", "potentials", "contact", "contact_methods", "detection"]),
    ("Measured", ["figures", "truth", "performance"]),
    ("Words", ["glossary"]),
]


def scene_facts(path):
    """Description and method of a scene, which may have comments."""
    with open(path) as file:
        text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", file.read(), flags=re.S)
    scene = json.loads(text)
    return scene["description"], scene.get("solver", {}).get("method", "cpd")


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def live(link):
    return "live/index.html#" + html.escape(link)


def home(source):
    with open(os.path.join(source, "README.md")) as file:
        readme = file.read()
    sentence = re.search(r"^# Verve\n\n(.*?)\n", readme)[1]
    picture = re.search(r"^!\[(.*?)\]\(docs/(.*?)\)", readme, re.M)
    return f"""---
hide: [navigation, toc]
---
# Verve

{sentence}

<p class="buttons">
<a class="md-button md-button--primary" href="live/index.html">Touch it, in this browser</a>
<a class="md-button" href="getting_started.html">Ten minutes to your own</a>
<a class="md-button" href="lessons.html">Ten lessons</a>
<a class="md-button" href="gallery.html">Every scene</a>
</p>

<iframe class="live" src="live/index.html#scene=bear&amp;methods=cpd,pd&amp;ui=none" title="Two bears pushed alike, by CPD and by PD" loading="lazy" allow="fullscreen"></iframe>

*Same bear, same pushes: by CPD it keeps its energy, by PD, the usual method, it goes stiff. Drag one of them.*

![{picture[1]}]({picture[2]})

What Verve is for, what it holds and what it does not: [all pages](commands.md), [how a step works](step.md), [the figures of the papers](figures.md), [words](glossary.md).
"""


def gallery(source, data):
    thumbnails = data["thumbnails"]
    columns, rows = thumbnails["columns"], -(-len(thumbnails["names"]) // thumbnails["columns"])
    out = ["---\nhide: [navigation, toc]\n---\n# Gallery\n\nEvery built-in scene. A click opens it on the live page, beside "
           "plain PD; `verve simulate NAME` runs it.\n"]
    known = set()
    for title, scenes in data["groups"]:
        out.append(f"\n## {title}\n\n<div class=\"scenes\">")
        for name, human in scenes.items():
            known.add(name)
            description, method = scene_facts(os.path.join(source, "scenes", name + ".json"))
            at = thumbnails["names"].index(name)
            x, y = 100 * (at % columns) / (columns - 1), 100 * (at // columns) / (rows - 1)
            out.append(f'<a class="scene" href="{live("scene=" + name)}"><span class="picture" style="background-position: '
                       f'{x:.3f}% {y:.3f}%; background-size: {100 * columns}% {100 * rows}%"></span><b>{html.escape(human)}</b>'
                       f'<span>{html.escape(description)}</span><code>{name}</code> by '
                       f'{html.escape(data["methods"].get(method, method))}</a>')
        out.append("</div>")
    missing = set(thumbnails["names"]) - known
    if missing:
        sys.exit(f"make.py: web/gallery.js: found no group for {', '.join(sorted(missing))}")
    return "\n".join(out) + "\n"


def lesson(index, data):
    lessons = data["lessons"]
    one = lessons[index]
    choices = "\n".join(f"{k + 1}. {choice}" for k, choice in enumerate(one["choices"]))
    around = [f"[{word} {lessons[k]['title']}]({lessons[k]['id']}.md)" for word, k in (("←", index - 1), ("→", index + 1))
              if 0 <= k < len(lessons)]
    link = f"../live/index.html#lesson={one['id']}"
    return f"""---
hide: [navigation, toc]
---
# {index + 1}. {one["title"]}

{one["sentence"]}

<p class="formula">{one["formula"]}</p>

*{one["legend"]}*

<iframe class="live tall" src="{link}" title="{html.escape(one["title"])}, live" loading="lazy" allow="fullscreen"></iframe>

**Do.** {one["task"]} ([On a page of its own]({link}))

**Question.** {one["question"]}

{choices}

<details markdown="1"><summary>Answer</summary>

**{one["choices"][one["right"]].capitalize()}.** {one["answer"]}

</details>

{" · ".join(around)} · [All lessons](../lessons.md)
"""


def without_sources(text, folder):
    """Links to files outside of docs/ lead nowhere on a site: their words stay."""
    def leaves(link):
        return os.path.normpath(os.path.join(folder, link)).startswith("..")
    return re.sub(r"\[([^\]]*)\]\((\.\./[^)]*)\)", lambda m: m[1] if leaves(m[2]) else m[0], text)


def decisions(source):
    folder = os.path.join(source, "docs", "decisions")
    return sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".md"))


def navigation(source, data):
    """As YAML; every page has a place."""
    pages = {name[:-3] for name in os.listdir(os.path.join(source, "docs")) if name.endswith(".md")}
    placed = {name for _, names in NAV for name in names}
    if lost := sorted(pages - placed):
        sys.exit(f"site/make.py: found docs/{lost[0]}.md, expected a place for it in NAV")
    out = ["nav:"]
    for title, names in NAV:
        out.append(f"  - {title}:")
        for name in names:
            out.append(f"    - {'All pages, the program: ' if name == 'commands' else ''}{name}.md")
            if name == "lessons":
                out += [f"    - lessons/{each['id']}.md" for each in data["lessons"]]
    out.append("  - Decisions:")
    out += [f"    - decisions/{name}.md" for name in decisions(source)]
    return "\n".join(out)


def main(source, stage):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data.mjs")
    data = json.loads(subprocess.run(["node", script], check=True, stdout=subprocess.PIPE, text=True).stdout)
    shutil.rmtree(stage, ignore_errors=True)
    docs = os.path.join(stage, "docs")
    shutil.copytree(os.path.join(source, "docs"), docs)
    for folder, _, names in os.walk(docs):
        for name in names:
            if not name.endswith(".md"):
                continue
            path = os.path.join(folder, name)
            with open(path) as file:
                text = file.read()
            # blocks that name their file behind the language
            text = re.sub(r"^```(\w+) (\S+)$", r"`\2`\n\n```\1", text, flags=re.M)
            write(folder, name, without_sources(text, os.path.relpath(folder, docs)))
    # the start of docs/ lists the pages and the commands; the start of a site is for whoever sees it first
    os.rename(os.path.join(docs, "index.md"), os.path.join(docs, "commands.md"))
    write(docs, "index.md", home(source))
    write(docs, "gallery.md", gallery(source, data))
    for k, each in enumerate(data["lessons"]):
        write(docs, f"lessons/{each['id']}.md", lesson(k, data))
    with open(os.path.join(docs, "lessons.md")) as file:
        text = file.read()
    write(docs, "lessons.md", re.sub(r"^\| (\d+\. .*?) \| `(\w+)` \|", r"| [\1](lessons/\2.md) | `\2` |", text, flags=re.M))
    for name, place in [("site/site.css", "site.css"), ("web/thumbnails.webp", "thumbnails.webp"), ("web/icon.svg", "icon.svg")]:
        shutil.copy(os.path.join(source, name), os.path.join(docs, place))
    write(stage, "mkdocs.yml", f"""site_name: Verve
docs_dir: docs
site_dir: site
use_directory_urls: false
strict: true
theme:
  name: material
  font: false
  favicon: icon.svg
  logo: icon.svg
  features: [navigation.tabs, navigation.top, toc.follow]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      primary: white
      accent: deep orange
      toggle: {{icon: material/weather-night, name: Dark}}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      primary: black
      accent: deep orange
      toggle: {{icon: material/weather-sunny, name: Light}}
extra: {{generator: false}}
extra_css: [site.css]
plugins: [search]
markdown_extensions: [md_in_html, pymdownx.highlight, pymdownx.superfences, toc: {{permalink: true}}]
{navigation(source, data)}
""")


main(*sys.argv[1:])
