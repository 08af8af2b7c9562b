// State into the memory of whoever asks.
#include "integrators/simulation_impl.h"

namespace verve {

namespace {

/// Vectors of three numbers, so many bytes apart.
template <class Number>
class Rows {
 public:
  Rows(const char* function, Number* out, std::size_t stride) : out_(out), step_(stride / sizeof(Number)) {
    if (stride == 0) step_ = 3;
    require(out != nullptr, std::string(function) + ": found null, expected memory for the vectors");
    require(step_ >= 3 && stride % sizeof(Number) == 0,
            std::string(function) + ": found a stride of " + std::to_string(stride) +
                " bytes, expected 0 or a multiple of " + std::to_string(sizeof(Number)) + " from " +
                std::to_string(3 * sizeof(Number)));
  }
  void set(int i, const Vec3& v) const {
    Number* const to = out_ + i * step_;
    to[0] = Number(v.x), to[1] = Number(v.y), to[2] = Number(v.z);
  }
  Vec3 get(int i) const { return {out_[i * step_], out_[i * step_ + 1], out_[i * step_ + 2]}; }

 private:
  Number* out_;
  std::size_t step_;
};

template <class Number>
void read(const Body& body, const std::vector<Vec4>& from, int to, const Rows<Number>& out) {
  for (int r = 0; r < body.count; ++r) out.set(to + body.vertex_of_row[r], from[body.first + r].xyz());
}

/// Sums of the areas of the triangles at each point, made unit.
template <class Number, class At>
void write_normals(const std::vector<std::array<int, 3>>& triangles, int count, At&& at, const Rows<Number>& out) {
  for (int i = 0; i < count; ++i) out.set(i, {});
  for (const auto& [a, b, c] : triangles) {
    const Vec3 area = cross(at(b) - at(a), at(c) - at(a));
    for (const int v : {a, b, c}) out.set(v, out.get(v) + area);
  }
  for (int i = 0; i < count; ++i) out.set(i, direction(out.get(i), {}));
}

}  // namespace

template <class Number>
void Simulation::read_positions(Number* out, std::size_t stride) const {
  const Rows<Number> rows("read_positions", out, stride);
  for (const Body& body : impl_->world.model.bodies) read(body, impl_->world.state.x, body.first_vertex, rows);
}

template <class Number>
void Simulation::read_positions(BodyId b, Number* out, std::size_t stride) const {
  read(impl_->shown("read_positions", b), impl_->world.state.x, 0, Rows<Number>("read_positions", out, stride));
}

template <class Number>
void Simulation::read_velocities(Number* out, std::size_t stride) const {
  const Rows<Number> rows("read_velocities", out, stride);
  for (const Body& body : impl_->world.model.bodies) read(body, impl_->world.state.v, body.first_vertex, rows);
}

template <class Number>
void Simulation::read_normals(BodyId b, Number* out, std::size_t stride) const {
  const Body& body = impl_->shown("read_normals", b);
  const Vec4* const x = impl_->world.state.x.data() + body.first;
  write_normals(impl_->skin(b).triangles, body.count, [&](int v) { return x[body.row_of_vertex[v]].xyz(); },
                Rows<Number>("read_normals", out, stride));
}

namespace {

/// Of the surface that a body carries, one point.
Vec3 carried_point(const Body& body, const Vec4* x, int i) {
  Vec3 sum{};
  for (int k = 0; k < 4; ++k)
    sum += x[body.row_of_vertex[body.embedding.vertices[i][k]]].xyz() * body.embedding.weights[i][k];
  return sum;
}

}  // namespace

template <class Number>
void Simulation::read_embedded_positions(BodyId b, Number* out, std::size_t stride) const {
  const Body& body = impl_->shown("read_embedded_positions", b);
  const Rows<Number> rows("read_embedded_positions", out, stride);
  const Vec4* const x = impl_->world.state.x.data() + body.first;
  for (int i = 0; i < int(body.embedding.vertices.size()); ++i) rows.set(i, carried_point(body, x, i));
}

template <class Number>
void Simulation::read_embedded_normals(BodyId b, Number* out, std::size_t stride) const {
  const Body& body = impl_->shown("read_embedded_normals", b);
  const Vec4* const x = impl_->world.state.x.data() + body.first;
  write_normals(body.embedded.triangles, int(body.embedding.vertices.size()),
                [&](int i) { return carried_point(body, x, i); }, Rows<Number>("read_embedded_normals", out, stride));
}

template void Simulation::read_positions(double*, std::size_t) const;
template void Simulation::read_positions(float*, std::size_t) const;
template void Simulation::read_positions(BodyId, double*, std::size_t) const;
template void Simulation::read_positions(BodyId, float*, std::size_t) const;
template void Simulation::read_velocities(double*, std::size_t) const;
template void Simulation::read_velocities(float*, std::size_t) const;
template void Simulation::read_normals(BodyId, double*, std::size_t) const;
template void Simulation::read_normals(BodyId, float*, std::size_t) const;
template void Simulation::read_embedded_positions(BodyId, double*, std::size_t) const;
template void Simulation::read_embedded_positions(BodyId, float*, std::size_t) const;
template void Simulation::read_embedded_normals(BodyId, double*, std::size_t) const;
template void Simulation::read_embedded_normals(BodyId, float*, std::size_t) const;

void Simulation::Impl::renew_view() {
  if (!viewed) return;
  view.resize(world.vertices());
  for (const Body& body : world.model.bodies)
    for (int r = 0; r < body.count; ++r)
      view[body.first_vertex + body.vertex_of_row[r]] = world.state.x[body.first + r].xyz();
}

void Simulation::Impl::publish() {
  if (!publishing) return;
  std::unique_ptr<PublishedFrame> frame;
  {
    const std::lock_guard lock(publishing->mutex);
    if (!publishing->free.empty()) frame = std::move(publishing->free.back()), publishing->free.pop_back();
  }
  if (!frame) frame = std::make_unique<PublishedFrame>();
  frame->frame = world.state.frame, frame->time = world.state.time;
  frame->positions.resize(world.vertices()), frame->velocities.resize(world.vertices());
  frame->bodies.resize(world.model.bodies.size());
  for (size_t b = 0; b < world.model.bodies.size(); ++b) {
    const Body& body = world.model.bodies[b];
    frame->bodies[b] = {world.has_body(int(b)) ? BodyId(int(b), world.state.bodies[b].generation) : BodyId(),
                        body.first_vertex, body.count};
    for (int r = 0; r < body.count; ++r) {
      const int v = body.first_vertex + body.vertex_of_row[r];
      frame->positions[v] = world.state.x[body.first + r].xyz();
      frame->velocities[v] = world.state.v[body.first + r].xyz();
    }
  }
  std::shared_ptr<const PublishedFrame> next(frame.release(), [to = std::weak_ptr(publishing)](PublishedFrame* read) {
    std::unique_ptr<PublishedFrame> back(read);
    const std::shared_ptr<Published> home = to.lock();
    if (!home) return;
    const std::lock_guard lock(home->mutex);
    home->free.push_back(std::move(back));
  });
  {
    const std::lock_guard lock(publishing->mutex);
    std::swap(publishing->last, next);
  }
}  // (what was the last before goes home here, if nobody reads it)

void Simulation::publish(bool on) {
  if (!on) return impl_->publishing.reset();
  if (!impl_->publishing) impl_->publishing = std::make_shared<Impl::Published>();
  impl_->publish();
}

std::shared_ptr<const PublishedFrame> Simulation::published() const {
  if (!impl_->publishing) return nullptr;
  const std::lock_guard lock(impl_->publishing->mutex);
  return impl_->publishing->last;
}

std::span<const Vec3> Simulation::position_view() const {
  impl_->viewed = true;
  impl_->renew_view();
  return impl_->view;
}

}  // namespace verve
