// A small game: soft toys in an arena.
//
//   playground                       left button drags a toy, right button removes it, middle button turns the view,
//                                    wheel nears it; arrows, Page Up and Down move the paddle; Space drops a toy; Escape
//   playground --script [PICTURE]    plays itself for some seconds without waiting, checks what has happened and writes
//                                    the last picture as a bitmap; with SDL_VIDEODRIVER=dummy it needs no screen
#include <SDL.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "canvas.h"
#include "game.h"

namespace {

constexpr int width = 960, height = 540;

class Window {
 public:
  Window() {
    if (SDL_Init(SDL_INIT_VIDEO) != 0) throw std::runtime_error(SDL_GetError());
    window_ = SDL_CreateWindow("Verve playground", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width, height, 0);
    renderer_ = window_ ? SDL_CreateRenderer(window_, -1, 0) : nullptr;
    texture_ = renderer_ ? SDL_CreateTexture(renderer_, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, width, height)
                         : nullptr;
    if (!texture_) throw std::runtime_error(SDL_GetError());
  }
  ~Window() {
    SDL_DestroyTexture(texture_), SDL_DestroyRenderer(renderer_), SDL_DestroyWindow(window_);
    SDL_Quit();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void show(const Canvas& canvas) {
    SDL_UpdateTexture(texture_, nullptr, canvas.pixels().data(), width * 4);
    SDL_RenderCopy(renderer_, texture_, nullptr, nullptr);
    SDL_RenderPresent(renderer_);
  }
  void say(const std::string& text) { SDL_SetWindowTitle(window_, text.c_str()); }

 private:
  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  SDL_Texture* texture_ = nullptr;
};

/// From events to what the game is told.
class Player {
 public:
  explicit Player(Game& game) : game_(game) {}

  /// False: the player leaves.
  bool take(const SDL_Event& event) {
    switch (event.type) {
      case SDL_QUIT: return false;
      case SDL_KEYDOWN:
        if (event.key.keysym.sym == SDLK_ESCAPE) return false;
        if (event.key.keysym.sym == SDLK_SPACE) controls_.spawn = true;
        [[fallthrough]];
      case SDL_KEYUP: key(event.key.keysym.sym, event.type == SDL_KEYDOWN); break;
      case SDL_MOUSEBUTTONDOWN:
        if (event.button.button == SDL_BUTTON_LEFT) grabbed_ += game_.grab(camera.eye(), ray(event.button.x, event.button.y));
        if (event.button.button == SDL_BUTTON_RIGHT) removed_ += game_.remove(camera.eye(), ray(event.button.x, event.button.y));
        turning_ = event.button.button == SDL_BUTTON_MIDDLE;
        break;
      case SDL_MOUSEBUTTONUP:
        if (event.button.button == SDL_BUTTON_LEFT) game_.release();
        turning_ = false;
        break;
      case SDL_MOUSEMOTION:
        if (turning_) camera.turn -= 0.006 * event.motion.xrel, camera.rise += 0.006 * event.motion.yrel;
        camera.rise = std::min(1.4, std::max(0.05, camera.rise));
        game_.drag(camera.eye(), ray(event.motion.x, event.motion.y));
        break;
      case SDL_MOUSEWHEEL: camera.distance = std::min(9.0, std::max(2.0, camera.distance - 0.3 * event.wheel.y)); break;
      default: break;
    }
    return true;
  }
  /// For the coming frame; a toy is asked for once.
  Controls controls() {
    Controls out = controls_;
    controls_.spawn = false;
    return out;
  }
  int grabbed() const { return grabbed_; }
  int removed() const { return removed_; }

  Camera camera;

 private:
  verve::Vec3 ray(int x, int y) const { return camera.ray(x, y, width, height); }
  void key(SDL_Keycode code, bool down) {
    const double on = down ? 1 : 0;
    if (code == SDLK_LEFT) controls_.left_right = -on;
    if (code == SDLK_RIGHT) controls_.left_right = on;
    if (code == SDLK_UP) controls_.near_far = -on;
    if (code == SDLK_DOWN) controls_.near_far = on;
    if (code == SDLK_PAGEUP) controls_.up_down = on;
    if (code == SDLK_PAGEDOWN) controls_.up_down = -on;
  }

  Game& game_;
  Controls controls_;
  bool turning_ = false;
  int grabbed_ = 0, removed_ = 0;
};

void draw(Game& game, const Camera& camera, Canvas& canvas) {
  canvas.clear();
  for (const Game::Thing& thing : game.things())
    canvas.draw(camera, thing.points, thing.normals, thing.triangles, thing.color);
}

/// 60 frames a second; a machine that cannot keep up shows the world more slowly rather than in jumps.
void play(Game& game, Window& window) {
  Player player(game);
  Canvas canvas(width, height);
  const double ticks = double(SDL_GetPerformanceFrequency());
  const auto now = [&] { return double(SDL_GetPerformanceCounter()) / ticks; };
  double due = now(), slowest = 0;
  for (int frame = 0;; ++frame) {
    for (SDL_Event event; SDL_PollEvent(&event);)
      if (!player.take(event)) return;
    const double begin = now();
    game.step(player.controls());
    slowest = std::max(slowest, now() - begin);
    draw(game, player.camera, canvas);
    window.show(canvas);
    if (frame % 30 == 0) {
      char text[200];
      std::snprintf(text, sizeof text, "Verve playground: %d toys, step %.1f ms  %s", game.bodies(), 1e3 * slowest,
                    game.last_event().c_str());
      window.say(text), slowest = 0;
    }
    due = std::max(due + frame_time, now() - frame_time);
    if (due > now()) SDL_Delay(Uint32(1e3 * (due - now())));
  }
}

SDL_Event key_event(Uint32 type, SDL_Keycode code) {
  SDL_Event event{};
  event.type = type, event.key.keysym.sym = code;
  return event;
}
SDL_Event mouse_event(Uint32 type, Uint8 button, int x, int y) {
  SDL_Event event{};
  event.type = type;
  if (type == SDL_MOUSEMOTION) event.motion.x = x, event.motion.y = y;
  else event.button.button = button, event.button.x = x, event.button.y = y;
  return event;
}

/// Where a body is on the screen, to click on it as a player would.
SDL_Point on_screen(const Game& game, const Camera& camera, verve::BodyId body) {
  const verve::Vec3 center = game.simulation().measure(body).center - camera.eye();
  SDL_Point best{0, 0};
  double angle = -1;
  for (int y = 0; y < height; y += 6)
    for (int x = 0; x < width; x += 6) {
      const verve::Vec3 way = camera.ray(x, y, width, height);
      if (const double c = dot(way, center) / (norm(way) * norm(center)); c > angle) angle = c, best = {x, y};
    }
  return best;
}

int failed = 0;
void check(bool good, const std::string& what) {
  if (!good) std::fprintf(stderr, "playground: failed: %s\n", what.c_str()), ++failed;
}

/// The same events as from hand and keys, in the same loop without the waiting.
int play_itself(Game& game, Window& window, const char* picture) {
  Player player(game);
  Canvas canvas(width, height);
  const auto send = [&](const SDL_Event& event) { player.take(event); };
  const verve::Simulation& world = game.simulation();
  double lifted = 0;
  verve::BodyId dragged;
  SDL_Point hand{};
  for (int frame = 0; frame < 300; ++frame) {
    if (frame % 20 == 0 && frame < 200) send(key_event(SDL_KEYDOWN, SDLK_SPACE));
    if (frame == 30) send(key_event(SDL_KEYDOWN, SDLK_LEFT));  // the paddle goes into the toys,
    if (frame == 120) send(key_event(SDL_KEYUP, SDLK_LEFT));
    if (frame == 60) {  // and one of them is lifted,
      dragged = world.find_body("box");
      hand = on_screen(game, player.camera, dragged);
      send(mouse_event(SDL_MOUSEBUTTONDOWN, SDL_BUTTON_LEFT, hand.x, hand.y));
    }
    if (frame > 60 && frame <= 150) send(mouse_event(SDL_MOUSEMOTION, 0, hand.x, hand.y - 2 * (frame - 60)));
    if (frame == 150) lifted = world.measure(dragged).center.y;
    if (frame == 160) send(mouse_event(SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, hand.x, hand.y));
    for (const int k : {210, 230})  // and two are taken away
      if (frame == k) {
        verve::BodyId highest;
        for (int b = 0; b < world.bodies(); ++b)
          if (world.has_body(b) && (highest < 0 || world.measure(b).center.y > world.measure(highest).center.y))
            highest = world.body_id(b);
        const SDL_Point at = on_screen(game, player.camera, highest);
        send(mouse_event(SDL_MOUSEBUTTONDOWN, SDL_BUTTON_RIGHT, at.x, at.y));
        send(mouse_event(SDL_MOUSEBUTTONUP, SDL_BUTTON_RIGHT, at.x, at.y));
      }
    const Controls controls = player.controls();
    if (controls.spawn) game.wait_for_toy();
    game.step(controls);
    draw(game, player.camera, canvas);
    window.show(canvas);
  }
  for (const verve::Vec3& p : world.positions()) check(p.y > -0.1 && norm(p) < 20, "every toy is above the floor");
  check(game.bodies() >= 8, std::to_string(game.bodies()) + " toys, expected at least 8");
  check(player.grabbed() == 1, "the box was grabbed");
  check(lifted > 0.7, "the box was lifted: its centre is at " + std::to_string(lifted) + " m");
  check(player.removed() == 2, "two toys were removed");
  check(game.hits() > 10, "toys meet");
  check(world.measure().work != 0, "the paddle has done work");
  // (2.05 of them: where many things are about to pass each other, three quarters of the sub-steps that this takes may be
  // left out within a budget, and no more)
  check(game.longest_work() < 2.2 * frame_budget, "the longest frame has " + std::to_string(game.longest_work()) + " ms by count");
  if (picture) {
    SDL_Surface* surface = SDL_CreateRGBSurfaceWithFormatFrom(const_cast<std::uint32_t*>(canvas.pixels().data()), width,
                                                              height, 32, width * 4, SDL_PIXELFORMAT_ARGB8888);
    check(SDL_SaveBMP(surface, picture) == 0, std::string(picture) + " can be written");
    SDL_FreeSurface(surface);
  }
  std::printf("%d frames, %d toys, %d hits, longest frame %.1f ms by count, box lifted to %.2f m\n", world.frame(),
              game.bodies(), game.hits(), game.longest_work(), lifted);
  return failed > 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const bool script = count > 1 && std::strcmp(arguments[1], "--script") == 0;
  if (count > (script ? 3 : 1)) return std::fprintf(stderr, "usage: playground [--script [PICTURE]]\n"), 2;
  Game game;
  Window window;
  if (script) return play_itself(game, window, count > 2 ? arguments[2] : nullptr);
  play(game, window);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "playground: %s\n", error.what());
  return 1;
}
