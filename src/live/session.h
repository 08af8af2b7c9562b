// A scene that a person plays with: takes messages, advances frame by frame, tells what is to be drawn. It knows
// nothing of sockets, workers, clocks or files, so that the native server and the WebAssembly worker run the same one.
// docs/live.md lists the messages.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::live {

inline constexpr int most_lanes = 4;
/// Metrics of a lane in a frame, in this order, as the scene message names them.
const std::vector<std::string>& metric_names();

/// A key and a value of a link (docs/live.md).
struct LinkItem {
  std::string key, value;
};
/// The part of an address after the #, or the whole text where there is none; decoded.
std::vector<LinkItem> parse_link(std::string_view link);

class Session {
 public:
  explicit Session(const RunOptions& options = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// One message, JSON text. What comes back are JSON texts for whoever sent it; what is wrong with a message comes
  /// back as one of type "error", and changes nothing.
  std::vector<std::string> handle(std::string_view message);
  /// A scene from elsewhere than a message; the texts are as those of "load".
  std::vector<std::string> load(const Scene& scene);

  bool loaded() const { return !lanes_.empty(); }
  /// Whether frames should follow each other by themselves.
  bool running() const;
  /// Real time between frames [s].
  double interval() const;
  /// One frame of every lane that has not failed. The texts tell what else happened: elements torn, a lane stopped.
  std::vector<std::string> advance();

  /// What there is to see, with the metrics of every frame since the last call, as bytes (docs/live.md). Empty before a
  /// scene is loaded.
  std::string frame();
  /// True once after frame() has become another one by a message, not by advance().
  bool take_changed();

  const Simulation& simulation(int lane = 0) const { return *lanes_[lane]->simulation; }
  int lanes() const { return int(lanes_.size()); }
  /// By how much H of a lane misses its target, as a share of the energy that moves, and whether the page was told.
  double off(int lane) const { return lanes_[lane]->watch.off; }
  bool warned(int lane) const { return lanes_[lane]->watch.warned; }
  /// Nothing pulls at bodies from afar; the scene holds this one; nothing holds this one.
  bool weightless() const;
  bool anchored(int body, int lane = 0) const;
  bool free(int body, int lane = 0) const;
  bool calming() const { return calming_ > 0; }
  bool driven(int body, double from, double to) const;

 private:
  /// What a lane should have of energy, and whether it has it.
  struct Watch {
    bool rebase = true;   // something changes the energy by the next frame: begin anew after it
    double given = 0;     // energy when it last began anew, and all that came in by pushes since [J]
    double account = 0;   // energy after the last frame, with all that was taken on purpose [J]
    double scale = 0;     // the most kinetic and elastic energy since it began anew [J]
    double kept = 1;      // share of the energy that is there
    double off = 0;       // by how much H misses its target, as a share of `scale`
    bool warned = false;  // the page was told, and H has not been on its target long enough since
    int good = 0;         // frames in a row on target
  };
  struct Lane {
    std::string method;
    std::unique_ptr<Simulation> simulation;
    StepReport report;
    std::vector<RemovedElements> removed;  // that the page knows of
    bool failed = false;
    Watch watch;
    std::vector<bool> shaped;  // bodies that Calm brings to their shape at rest, their pins lifted
  };
  /// Metrics of a frame of all lanes that the page has not been sent yet.
  struct Row {
    int frame = 0;
    double time = 0;
    std::vector<double> values;
  };
  /// What holds a few vertices: a hand that pulls, or a pin.
  struct Hand {
    int body = 0, vertex = 0;   // counted from the first of the body
    std::vector<int> vertices;  // of the body
    double stiffness = 0;       // of each
    // Displacements from where it was activated. Pointers speak now and then; between that the hand goes from where it
    // was to where it is wanted in the time that the pointer took.
    Vec3 from, wanted, place;
    double duration = 0.1, travelled = 0;  // of that way, and since its begin [s]
    double silent = 0;                     // since the pointer spoke [s]
    Vec3 velocity;                         // of the hand, mean of the last frames [m/s]
    std::vector<int> anchors;              // by lane
    std::vector<Vec3> start;               // of the vertex, by lane
    bool pin = false;
  };
  /// Where the page draws what an anchor of the scene is held by.
  struct Support {
    bool told = false;
    Vec3 at, moved;  // mean of its points when the page was told, and how far that has gone since
  };
  /// What was turned away from what the scene says.
  struct Turned {
    std::optional<Vec3> gravity, wind;
    std::optional<double> step, friction, budget;
    std::optional<int> iterations;
    double stiffness = 1;
    std::map<int, double> half_life;  // by body
    struct Held {
      std::optional<double> energy;
      std::optional<Vec3> momentum, spin;
    };
    std::map<int, Held> held;  // likewise
  };
  struct BodyShape {
    double size = 0;  // diagonal of its box at rest
    double mass = 0;
    int dimension = 3;
  };
  /// Everything as it was before a gesture.
  struct Before {
    std::string what;  // for the person
    std::vector<Snapshot> lanes;
    std::map<int, Hand> hands;
    Turned turned;
    int next_pin = -1;
  };
  /// A moment that the person keeps, to come back to as often as they like.
  struct Kept {
    int id = 0, frame = 0;
    double time = 0;
    Before then;
  };
  struct Refusal {  // thrown by whatever reads a message, caught by handle()
    std::string text;
  };

  Session& operator=(Session&&) = default;

  void dispatch(const Json& message);
  void begin_anew(const Json& message, void (*act)(Session&, const Json&));
  void load_message(const Json& message);
  void start(const Scene& scene, const std::vector<std::string>& methods, std::optional<double> step = {});
  std::unique_ptr<Lane> make_lane(const Scene& scene, const std::string& method, Diagnostics& notes) const;
  std::vector<std::unique_ptr<Lane>> make_lanes(const Scene& scene, const std::vector<std::string>& methods,
                                                Diagnostics& notes, bool at_least_one = true) const;
  void set_methods(const Json& message);
  void tell_scene(const Diagnostics& notes);
  void tell_state();
  void tell_elements(int lane, std::vector<std::string>& out);
  void tell_supports(std::vector<std::string>& out);
  bool holds(int anchor) const;
  void restart();
  void remake(const Scene& scene);
  void set_floor(const Json& message);
  bool own_floor() const;

  // the guard (session_guard.cpp)
  void remember(const std::string& what);
  void undo();
  void touched();
  void watch(size_t lane, std::vector<std::string>& out);
  void tell_broken(size_t lane, std::vector<std::string>& out) const;
  void tell_stopped(size_t lane, std::vector<std::string>& out) const;
  void offer_ways_back(Json& offers) const;
  bool goes_on_purpose() const;
  bool aimed(const Lane& lane) const;
  bool driven_in(double from, double to) const;
  bool struck_in(double from, double to) const;
  void kicked();

  // moments and saved states (session_state.cpp)
  Before present(const std::string& what) const;
  void go_back(const Before& then);
  void forget_past();
  void keep_moment();
  void return_to(const Json& message);
  void forget_moment(const Json& message);
  std::vector<Kept>::iterator kept_of(const Json& message);
  void save();
  Snapshot without_hands(size_t lane);
  void take_state(const Json& message);
  void take_pins(const Json& message);
  void take_locks(const Json& message);
  void take_motion(const Json& message);

  // Calm (session_calm.cpp)
  void calm();
  bool calm_frame();
  void calm_lane(size_t lane, double since, bool last);
  void end_calm();
  void lift_pins(int body, size_t lane);
  void put_pins(int body, size_t lane);
  std::vector<Vec3> shape_near(int body, const std::vector<Vec3>& x) const;

  // links and explanations (session_link.cpp, session_explain.cpp)
  void open_link(const Json& message);
  std::string link_text(bool with_pins = true) const;
  void tell_hash();
  void explain();

  double half_life_of(int body, double time) const;
  void turn_dial(const Json& message);
  void turn_dial(const std::string& name, const Json& message);
  void turn_lock(const Json& message);
  void apply_turned(Lane& lane);
  void apply_stiffness(Lane& lane);
  void apply_budget(Lane& lane);
  void need_winds();
  Vec3 vector_or_length(const Json& message, double most, const Vec3& present, const Vec3& otherwise) const;

  Hand new_hand(int body, int vertex, bool pin) const;
  void grab(const Json& message, bool pin);
  void drag(const Json& message);
  void release(const Json& message);
  void push(const Json& message);
  void spin(const Json& message);
  void toggle_pin(const Json& message);
  void attach(Hand& hand, size_t lane);
  void drop_hands();
  void move_hands();
  void pull(size_t lane);
  std::vector<int> patch_around(int body, int vertex, double radius) const;

  double rigid(const Lane& lane, int body) const;
  std::vector<double> metrics(const Lane& lane) const;
  Row row() const;
  std::array<double, 2> range(const std::string& dial, int body) const;

  // reading a message
  double number(const Json& message, const char* key, double low, double high) const;
  int index(const Json& message, const char* key, int count) const;
  Vec3 vector(const Json& message, const char* key) const;
  std::string text(const Json& message, const char* key) const;
  std::pair<int, int> body_and_vertex(const Json& message) const;
  int body_of(const Json& message) const;

  RunOptions options_;
  Scene scene_;  // as loaded, with what was added since
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<BodyShape> shapes_;
  std::vector<double> masses_;
  double size_ = 1;
  std::optional<double> floor_;  // height of the one that the scene does not have [m]
  std::map<size_t, ColliderSpec> lifted_;  // floors that are switched off, by their numbers in the scene
  std::vector<Before> before_;   // gestures that can be undone, the last one last
  std::vector<Kept> kept_;
  int next_kept_ = 1;
  int calming_ = 0;     // frames until it is over
  double came_in_ = 0;  // by pushes of the scene, in the frame that the first lane has just taken [J]
  std::vector<Row> rows_;
  std::vector<Support> supports_;  // of the scene's anchors
  std::map<int, Hand> hands_;
  int next_pin_ = -1;  // numbers of pins, downwards: hands have those that the page gives
  Turned turned_;
  bool paused_ = false, changed_ = false;
  int pending_steps_ = 0;
  double speed_ = 1;
  int watched_ = -1;
  unsigned generation_ = 0;
  std::vector<std::string> answers_;
};

}  // namespace verve::live
