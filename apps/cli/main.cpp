// The command line of verve. The only file that sees the argument parser; the work is in the files of the commands.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "commands.h"
#include "flags.h"
#include "verve/version.h"

char** verve::cli::arguments = nullptr;

namespace {

using namespace verve;
using namespace verve::cli;

/// A text option that takes one value; given again, the last one counts.
void text(CLI::App* app, const std::string& names, std::string& value, const std::string& help, const char* type) {
  app->add_option(names, value, help)->type_name(type)->take_last();
}
void texts(CLI::App* app, const std::string& names, std::vector<std::string>& values, const std::string& help,
           const char* type) {
  app->add_option(names, values, help)->type_name(type)->allow_extra_args(false);
}

std::vector<std::string> long_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// What the parser let pass: flags with nothing as their value, unknown flags, arguments too many.
Diagnostics leftovers(const CLI::App& app) {
  Diagnostics problems;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) problems.error(option->get_name(), "found \"\", expected a value");
  bool unknown_flag = false;
  for (const std::string& word : app.remaining()) {
    if (word.size() < 2 || word[0] != '-') {
      // after an unknown flag it is most likely that flag's value
      if (!unknown_flag) problems.error(word, "one argument too many for verve " + app.get_name());
      continue;
    }
    unknown_flag = true;
    const std::string flag = word.substr(0, word.find('='));
    problems.error(flag, "unknown option, " + expected_one_of(flag, long_flags(app)));
  }
  return problems;
}

std::string examples(std::initializer_list<const char*> lines) {
  std::string text = "Examples:";
  for (const char* line : lines) text += std::string("\n  ") + line;
  return text;
}

int unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  Diagnostics problems;
  if (word.empty())
    problems.error("verve", "no command given, " + expected_one_of("", names));
  else if (word[0] == '-')
    problems.error(word, "unknown option, " + expected_one_of(word, long_flags(app)));
  else
    problems.error(word, "unknown command, " + expected_one_of(word, names));
  return refuse(problems, "see verve --help");
}

int dispatch(int argc, char** argv) {
  CLI::App app("Deformable bodies that keep their energy.", "verve");
  app.set_version_flag("--version", "verve " VERVE_VERSION, "Show the version");
  app.set_help_flag("-h,--help", "Show this help");
  app.allow_extras();
  app.footer(examples({"verve demo", "verve simulate cube --frames 600 --out runs/cube", "verve list scenes",
                       "verve simulate --help"}));

  const auto command = [&](const char* name, const char* help, std::initializer_list<const char*> lines) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->set_help_flag("-h,--help", "Show this help");
    sub->allow_extras();
    sub->footer(examples(lines));
    return sub;
  };

  DemoOptions demo_options;
  CLI::App* demo_command =
      command("demo", "Run a scene by CPD and by plain PD, compare what each keeps, write a report of both",
              {"verve demo", "verve demo --scene cube --frames 600"});
  text(demo_command, "--scene", demo_options.scene, "Built-in scene or JSON file (default: bear)", "SCENE");
  text(demo_command, "--frames", demo_options.frames, "Number of frames (default: the scene's)", "N");
  text(demo_command, "--out", demo_options.out, "Where the report goes (default: runs/demo)", "DIR");
  text(demo_command, "--threads", demo_options.threads, "Threads (default: all); results do not depend on it", "N");
  demo_command->add_flag("--quiet", demo_options.quiet, "Print errors only");

  ListOptions list_options;
  CLI::App* list_command =
      command("list", "Scenes, materials, potentials, methods, mesh generators and shapes of colliders by name",
              {"verve list", "verve list generators", "verve list scenes --plain"});
  text(list_command, "kind", list_options.kind,
       "scenes, materials, potentials, methods, generators or shapes (default: all)", "");
  list_command->add_flag("--plain", list_options.plain, "One name per line, nothing else");

  CheckOptions check_options;
  CLI::App* check_command = command("check", "Validate scenes without running them: every problem at once",
                                    {"verve check my_scene.json", "verve check cube bear --set solver.method=pd"});
  check_command->add_option("scenes", check_options.scenes, "Built-in scenes or JSON files")->type_name("");
  texts(check_command, "--set", check_options.set, "Override any key of the scenes (repeatable)", "PATH=VALUE");

  SimulateOptions simulate_options;
  CLI::App* simulate_command =
      command("simulate", "Run a scene; writes metrics.csv, positions.npy, scene.json and report.html",
              {"verve simulate cube", "verve simulate hippo --method pd --frames 100 --out runs/hippo_pd",
               "verve simulate my_scene.json --set solver.tolerance=1e-4 --set bodies[0].density=500",
               "verve simulate runs/cube/scene.json --out runs/again", "verve simulate bunny.obj",
               "verve simulate stack --snapshot-every 50 --out runs/stack",
               "verve simulate stack --resume runs/stack/snapshots/000100.verve"});
  text(simulate_command, "scene", simulate_options.scene, "Built-in scene or JSON file; or a mesh file, as verve drop", "");
  text(simulate_command, "--out", simulate_options.out, "Where the results go (default: runs/<scene>)", "DIR");
  text(simulate_command, "--frames", simulate_options.frames, "Number of frames; same as --set frames=N", "N");
  text(simulate_command, "--method", simulate_options.method,
       "See verve list methods; same as --set solver.method=NAME", "NAME");
  texts(simulate_command, "--set", simulate_options.set,
        "Override any key of the scene (repeatable); --frames, --method and --precision come after", "PATH=VALUE");
  text(simulate_command, "--threads", simulate_options.threads, "Threads (default: all); results do not depend on it",
       "N");
  text(simulate_command, "--precision", simulate_options.precision,
       "Of the kernels: double or float; same as --set solver.precision", "NAME");
  text(simulate_command, "--record", simulate_options.record, "Numbers in positions.npy: float (default) or double",
       "NAME");
  text(simulate_command, "--snapshot-every", simulate_options.snapshot_every,
       "Write DIR/snapshots/FRAME.verve after every N frames, to go on from", "N");
  text(
      simulate_command, "--resume", simulate_options.resume,
      "Go on from a snapshot of the same scene, up to the frame --frames; default for --out: runs/<scene>_from_<frame>",
      "FILE");
  simulate_command->add_flag("--no-report", simulate_options.no_report,
                             "Leave out report.html: for many runs, of which nobody looks at each");
  simulate_command->add_flag("--quiet", simulate_options.quiet, "Print errors only");

  DropOptions drop_options;
  CLI::App* drop_command =
      command("drop", "Make mesh files solid and drop them on a floor; writes a run with report, picture and scene",
              {"verve drop bunny.obj", "verve drop scan.stl --material rubber --up z --out runs/scan",
               "verve drop cow.glb teapot.ply --size 0.5 --frames 300"});
  drop_command->add_option("files", drop_options.files, "Mesh files of any format, surfaces or tetrahedra")->type_name("");
  text(drop_command, "--material", drop_options.material, "See verve list materials (default: jelly)", "NAME");
  text(drop_command, "--frames", drop_options.frames, "Number of frames of 1/60 s (default: 150)", "N");
  text(drop_command, "--out", drop_options.out, "Where the results go (default: runs/<file>)", "DIR");
  text(drop_command, "--size", drop_options.size, "Longest side of each [m] (default: 0.3)", "M");
  text(drop_command, "--cells", drop_options.cells, "Cells along it, of what fills a surface (default: 24)", "N");
  text(drop_command, "--up", drop_options.up, "Axis that points up in the files: y (default) or z", "AXIS");
  text(drop_command, "--object", drop_options.object, "Only this object of the files (see verve mesh info)", "NAME");
  texts(drop_command, "--set", drop_options.set, "Override any key of the scene (repeatable)", "PATH=VALUE");
  text(drop_command, "--threads", drop_options.threads, "Threads (default: all); results do not depend on it", "N");
  drop_command->add_flag("--quiet", drop_options.quiet, "Print errors only");

  CompareOptions compare_options;
  CLI::App* compare_command = command(
      "compare",
      "Run a scene by several methods and a fine-step reference; writes compare.csv, quality.csv and compare.html",
      {"verve compare cube --methods cpd,pd", "verve compare bear --methods cpd,cpd_euler,pd --iterations 10",
       "verve compare cloth --methods cpd,pd --budget 5 --out runs/equal_time",
       "verve compare cube --methods pd:5,pd:50 --reference none"});
  text(compare_command, "scene", compare_options.scene, "Built-in scene or JSON file", "");
  text(compare_command, "--methods", compare_options.methods,
       "See verve list methods; NAME:N with at most N iterations per step (default: those of verve demo)",
       "NAME[:N][,NAME...]");
  text(compare_command, "--out", compare_options.out, "Where the results go (default: runs/compare/<scene>)", "DIR");
  text(compare_command, "--frames", compare_options.frames, "Number of frames; same as --set frames=N", "N");
  text(compare_command, "--reference", compare_options.reference,
       "Sub-steps per frame of the reference run, or none (default: 16)", "N|none");
  text(compare_command, "--iterations", compare_options.iterations,
       "Equal iterations: every method that iterates gets at most this many per step, and one step per frame", "N");
  text(compare_command, "--budget", compare_options.budget,
       "Equal time: each method's iterations are chosen by trial runs so that a frame takes this long", "MS");
  texts(compare_command, "--set", compare_options.set, "Override any key of the scene for all methods (repeatable)",
        "PATH=VALUE");
  text(compare_command, "--threads", compare_options.threads, "Threads (default: all); results do not depend on it",
       "N");
  text(compare_command, "--precision", compare_options.precision,
       "Of the kernels: double or float; same as --set solver.precision", "NAME");
  compare_command->add_flag("--quiet", compare_options.quiet, "Print errors only");

  MeshOptions mesh_options;
  CLI::App* mesh_command = command("mesh", "Generate, convert or examine a mesh",
                                   {"verve mesh bear --set resolution=20 --out bear.mesh",
                                    "verve mesh scan.stl --out scan.ply", "verve mesh solid --around scan.stl --set cells=30 --out body.mesh", "verve mesh info bear.mesh"});
  text(mesh_command, "source", mesh_options.source, "Generator (verve list generators) or mesh file", "");
  text(mesh_command, "--out", mesh_options.out, "File to write: .mesh, or the surface as .obj, .ply, .stl; without it: examine", "FILE");
  text(mesh_command, "--around", mesh_options.around, "Mesh file that generators like solid fill", "FILE");
  text(mesh_command, "--object", mesh_options.object, "Only this object of the file", "NAME");
  texts(mesh_command, "--set", mesh_options.set, "Parameter of the generator (repeatable)", "NAME=VALUE");
  mesh_command->add_flag("--strict", mesh_options.strict, "Refuse faulty elements instead of repairing them");
  CLI::App* info_command =
      mesh_command->add_subcommand("info", "Size, volume, parts, open edges, self-intersections and other faults of a mesh");
  info_command->set_help_flag("-h,--help", "Show this help");
  info_command->allow_extras();
  info_command->footer(examples({"verve mesh info bear.mesh", "verve mesh info ball --set size=2"}));
  text(info_command, "source", mesh_options.source, "Mesh file or generator", "");
  text(info_command, "--around", mesh_options.around, "Mesh file that generators like solid fill", "FILE");
  text(info_command, "--object", mesh_options.object, "Only this object of the file", "NAME");
  texts(info_command, "--set", mesh_options.set, "Parameter of the generator (repeatable)", "NAME=VALUE");
  info_command->add_flag("--strict", mesh_options.strict, "Refuse faulty elements instead of repairing them");

  ConvertOptions convert_options;
  CLI::App* convert_command =
      command("convert", "Write the frames of a run for other programs: animations and numbered surfaces",
              {"verve convert runs/cube --to glb", "verve convert runs/car --to pc2 --body car --frames 0:300:2",
               "verve convert runs/bear --to usda --up z --out bear_usd", "verve convert runs/cube --to vtu --simulated"});
  text(convert_command, "run", convert_options.run, "Folder of a run, finished or interrupted", "");
  text(convert_command, "--to", convert_options.to, "usda, glb, pc2, mdd, vtu, vat; or a file per frame: obj, ply, stl", "FORMAT");
  text(convert_command, "--out", convert_options.out, "Where the files go (default: RUN_DIR/FORMAT)", "DIR");
  text(convert_command, "--body", convert_options.body, "Only this one (default: all, a file each)", "NAME");
  text(convert_command, "--frames", convert_options.frames, "From A to B, every STEP-th (default: all); or one frame",
       "A:B:STEP");
  text(convert_command, "--up", convert_options.up, "Axis that is to point up: y (default) or z", "AXIS");
  text(convert_command, "--scale", convert_options.scale, "Units per metre (default: 1)", "S");
  convert_command->add_flag("--simulated", convert_options.simulated,
                            "The mesh that was simulated, inside and all, not the surface that it carries");
  convert_command->add_flag("--quantize", convert_options.quantize,
                            "Of a glb: numbers of 16 and 8 bits, the motion of bodies in nodes");
  convert_command->add_flag("--quiet", convert_options.quiet, "Print errors only");

  PictureOptions picture_options;
  CLI::App* picture_command =
      command("picture", "Draw frames of a run or a scene: a strip as PNG, a moving picture as GIF",
              {"verve picture runs/bear --frames 0,30,60,90", "verve picture cube --movie cube.gif --size 480x360",
               "verve picture runs/cloth --color strain --camera 60,15 --out cloth.png"});
  text(picture_command, "source", picture_options.source,
       "Folder of a run, finished or interrupted; or a built-in scene or JSON file, which is then simulated", "");
  text(picture_command, "--out", picture_options.out,
       "Strip of frames to write (default: picture.png in the folder of the run, or in runs/<scene>)", "FILE.png");
  text(picture_command, "--movie", picture_options.movie, "Moving picture to write; without --out it is the only file",
       "FILE.gif");
  text(picture_command, "--frames", picture_options.frames,
       "Frames or ranges with commas between (default: five from first to last; of a movie all, at most 25 per second)",
       "N|A:B:STEP[,...]");
  text(picture_command, "--size", picture_options.size, "Pixels of each frame (default: 480x360)", "WxH");
  text(picture_command, "--color", picture_options.color, "By body (default), strain or speed", "NAME");
  text(picture_command, "--camera", picture_options.camera,
       "Position: degrees around from the front, degrees up, and how much nearer than needed to see all "
       "(default: 30,20,1)",
       "AROUND,UP[,ZOOM]");
  text(picture_command, "--columns", picture_options.columns, "Frames in a row of the strip (default: up to 5)", "N");
  text(picture_command, "--fps", picture_options.fps, "Frames per second of the movie (default: as simulated)", "N");
  texts(picture_command, "--set", picture_options.set, "Override any key of the scene (repeatable); not of a run",
        "PATH=VALUE");
  text(picture_command, "--threads", picture_options.threads, "Threads (default: all); results do not depend on it",
       "N");
  picture_command->add_flag("--wireframe", picture_options.wireframe, "Show the edges of the triangles");
  picture_command->add_flag("--plain", picture_options.plain, "No text in the pictures");
  picture_command->add_flag("--quiet", picture_options.quiet, "Print errors only");

  BenchOptions bench_options;
  CLI::App* bench_command =
      command("bench", "Measure iterations, frames and growth beside two baselines; writes a CSV and a plot",
              {"verve bench --quick", "verve bench --csv speed.csv --plot speed.svg",
               "verve bench --only pd_iteration --name hippo,bear --quick"});
  bench_command->add_flag("--quick", bench_options.quick,
                          "About half a minute: fewer repeats and frames, no large box");
  text(bench_command, "--csv", bench_options.csv, "Table to write (default: runs/bench/bench.csv)", "FILE");
  text(bench_command, "--plot", bench_options.plot, "Plot to write (default: beside the table, .svg)", "FILE");
  text(bench_command, "--threads", bench_options.threads, "Most threads to measure (default: all, at least 2)", "N");
  text(bench_command, "--only", bench_options.only,
       "Groups: local, global, pd_iteration, cpd_iteration, cpd_setup, refactor, sweep, frame, growth_iteration, "
       "growth_factor, woodbury, kernel, pairs, tearing, world, contact, budget, minimisers",
       "GROUP[,GROUP]");
  text(bench_command, "--name", bench_options.name, "Cases, scenes or boxes by name, as in the table", "NAME[,NAME]");
  bench_command->add_flag("--quiet", bench_options.quiet, "Print errors only");

  FiguresOptions figures_options;
  CLI::App* figures_command = command(
      "figures",
      "Reproduce every table and figure of the papers, each with the measurement that decides it; writes a page",
      {"verve figures", "verve figures cpd-fig7 cpd-fig8", "verve figures --quick --out runs/figures",
       "verve figures cpd-fig2 --method published", "verve figures --list"});
  figures_command->add_option("names", figures_options.names, "Figures by name (default: all)")->type_name("");
  figures_command->add_flag("--quick", figures_options.quick, "A part of them with shorter runs, below a minute");
  figures_command->add_flag("--list", figures_options.list, "List their names and exit");
  text(figures_command, "--out", figures_options.out, "Where page and files go (default: runs/figures)", "DIR");
  text(figures_command, "--method", figures_options.method,
       "Judge this method by the same bounds, in the place of the conserving one", "NAME");
  text(figures_command, "--threads", figures_options.threads, "Figures at a time (default: all cores)", "N");
  figures_command->add_flag("--no-pictures", figures_options.no_pictures, "Measurements and curves only");
  figures_command->add_flag("--quiet", figures_options.quiet, "Print the closing line and errors only");

  TruthOptions truth_options;
  CLI::App* truth_command = command(
      "truth",
      "Judge motion beside fine-step runs: scenes by methods in equal time, profiles, what must hold; writes a page",
      {"verve truth", "verve truth --quick", "verve truth trampoline cloth --methods cpd,pd_bdf2,xpbd",
       "verve truth --random 20 --seed 7 --out runs/random", "verve truth bars", "verve truth variants",
       "verve truth --list"});
  truth_command
      ->add_option("names", truth_options.names, "Scenes by name, bars or variants (default: the twelve and bars)")
      ->type_name("");
  truth_command->add_flag("--quick", truth_options.quick, "Three scenes, six methods and one bar, about ten seconds");
  truth_command->add_flag("--list", truth_options.list, "List the scenes and exit");
  text(truth_command, "--method", truth_options.method, "Method that is judged (default: cpd)", "NAME");
  text(truth_command, "--methods", truth_options.methods, "Methods to compare it with (default: all stable ones)",
       "NAME[,NAME...]");
  text(truth_command, "--budgets", truth_options.budgets, "Milliseconds per frame (default: 0.5,1,2,4,8,16)",
       "MS[,MS...]");
  text(truth_command, "--random", truth_options.random, "Scenes to draw beside the others, reported apart (default: 0)",
       "N");
  text(truth_command, "--seed", truth_options.seed, "Of the random scenes (default: 1)", "N");
  text(truth_command, "--out", truth_options.out, "Where page, tables and plots go (default: runs/truth)", "DIR");
  text(truth_command, "--threads", truth_options.threads, "Runs at a time, one thread each (default: all cores)", "N");
  truth_command->add_flag("--quiet", truth_options.quiet, "Print the closing line and errors only");

  ServeOptions serve_options;
  CLI::App* serve_command =
      command("serve", "Serve the live page on 127.0.0.1: drag bodies, turn dials, compare methods in a browser",
              {"verve serve", "verve serve bear --open", "verve serve my_scene.json --port 9000", "verve serve bear --lan"});
  text(serve_command, "scene", serve_options.scene, "Built-in scene or JSON file (default: the page's choice)", "");
  text(serve_command, "--port", serve_options.port,
       "Of 127.0.0.1; 0 takes any that is free (default: 8765, or any when that is taken)", "N");
  text(serve_command, "--threads", serve_options.threads, "Threads (default: all); results do not depend on it", "N");
  serve_command->add_flag("--lan", serve_options.lan,
                          "For phones and others in the network, by an address with a token and a QR code");
  serve_command->add_flag("--open", serve_options.open, "Open it in the browser, where there is a desktop");

  LinkOptions link_options;
  CLI::App* link_command = command(
      "link", "Run what a link of the live page names, without a page; prints where each method is and its hash",
      {"verve link 'scene=cube&methods=cpd,pd&stiffness=2' --frames 60"});
  text(link_command, "link", link_options.link, "An address of the page, or the part after its # (docs/live.md)",
       "");
  text(link_command, "--frames", link_options.frames, "Number of frames (default: 60)", "N");
  text(link_command, "--threads", link_options.threads, "Threads (default: all); results do not depend on it", "N");

  CLI::App* study_command = command(
      "study", "Many runs of a scene over grids or samples of its keys, one table; --help has its options",
      {"verve study cube --grid bodies.cube.potentials.tet_strain.mu=1e3,1e4,1e5 --out runs/mu"});
  study_command->set_help_flag();
  study_command->prefix_command();

  CLI::App* doctor_command =
      command("doctor", "Say what program and machine this is, and test both in seconds: for reports of faults",
              {"verve doctor"});
  CLI::App* schema_command = command("schema", "Print the JSON schema of scene files", {"verve schema > schema.json"});

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ArgumentMismatch& error) {
    Diagnostics problems;
    const std::string text = error.what();
    problems.error(text.substr(0, text.find(':')), "nothing found after it, expected a value");
    return refuse(problems, "see verve --help");
  } catch (const CLI::ParseError& error) {
    Diagnostics problems;
    problems.error("verve", error.what());
    return refuse(problems, "see verve --help");
  }

  if (demo_command->parsed()) return demo(demo_options, leftovers(*demo_command));
  if (list_command->parsed()) return list(list_options, leftovers(*list_command));
  if (check_command->parsed()) return check(check_options, leftovers(*check_command));
  if (simulate_command->parsed()) return simulate(simulate_options, leftovers(*simulate_command));
  if (drop_command->parsed()) return drop(drop_options, leftovers(*drop_command));
  if (compare_command->parsed()) return compare(compare_options, leftovers(*compare_command));
  if (info_command->parsed()) return mesh(mesh_options, leftovers(*info_command));
  if (mesh_command->parsed()) return mesh(mesh_options, leftovers(*mesh_command));
  if (convert_command->parsed()) return convert(convert_options, leftovers(*convert_command));
  if (picture_command->parsed()) return picture(picture_options, leftovers(*picture_command));
  if (bench_command->parsed()) return bench(bench_options, leftovers(*bench_command));
  if (figures_command->parsed()) return figures(figures_options, leftovers(*figures_command));
  if (truth_command->parsed()) return truth(truth_options, leftovers(*truth_command));
  if (serve_command->parsed()) return serve(serve_options, leftovers(*serve_command));
  if (link_command->parsed()) return link(link_options, leftovers(*link_command));
  if (study_command->parsed()) return study(study_command->remaining());
  if (doctor_command->parsed()) return doctor(leftovers(*doctor_command));
  if (schema_command->parsed()) return schema(leftovers(*schema_command));
  return unknown_command(app, app.remaining().empty() ? "" : app.remaining().front());
}

}  // namespace

int main(int argc, char** argv) {
  arguments = argv;
  // With a standard stream closed, the next file opened would take its number and receive what is printed.
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) != fd) return exit_failed;
  int code = exit_failed;
  try {
    if (!start_on_ranks(argc, argv, code)) code = dispatch(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("verve: not enough memory for this; fewer cells or vertices need less\n", stderr);
  } catch (const std::length_error&) {
    std::fputs("verve: this needs more memory than there can be; fewer cells or vertices need less\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "verve: %s\n", error.what());
  }
  // what was printed has to have come to where it was to go
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "verve: the standard output cannot be written: %s\n", std::strerror(errno));
    if (code == exit_done) code = exit_failed;
  }
  return code;
}
