#include "integrators/island.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "potentials/polar.h"

namespace verve {

namespace {


}  // namespace

Island::Island(const Model& model, std::vector<int> bodies, const std::vector<int>& active_anchors)
    : model_(model), bodies_(std::move(bodies)) {
  for (const int b : bodies_) {
    offsets_.push_back(rows_);
    rows_ += model.bodies[b].count;
    total_mass_ += model.bodies[b].total_mass;
  }
  set_anchors(active_anchors);
  motion.resize(rows_);
  forcing.mass.resize(rows_), forcing.inverse_mass.resize(rows_);
  forcing.force.resize(rows_), forcing.acceleration.resize(rows_);
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Body& body = model.bodies[bodies_[k]];
    for (int r = 0; r < body.count; ++r) {
      forcing.mass[offsets_[k] + r] = body.mass[r];
      forcing.inverse_mass[offsets_[k] + r] = body.mass[r] > 0 ? 1 / body.mass[r] : 0;
    }
  }
  for (const int b : bodies_) consistent_.append(model.bodies[b]);
  if (consistent()) motion.elastic.resize(rows_);
  base_.xb.resize(rows_), base_.u.resize(rows_);
  for (std::vector<Vec4>* a :
       {&x_, &gg_, &Ag_, &last_Ag_, &lin_, &Alin_, &kr_, &Akr_, &arm_, &end_, &x_before_, &rest_pose_})
    a->resize(rows_);
  for (std::vector<Float4>* a :
       {&Ag_narrow_, &last_Ag_narrow_, &lin_narrow_, &Alin_narrow_, &kr_narrow_, &lever_narrow_})
    a->resize(rows_);
  for (const int b : bodies_)
    for (const auto& potential : model.bodies[b].potentials) {
      searches_ = searches_ || !potential->is_bounded();
      for (int e = 0; e < potential->elements(); ++e) {
        const double corners = potential->corners(e);
        elements_ += corners * std::min(corners, 4.0);
      }
    }
  if (searches_) x_before_.resize(rows_);
  body_energy_.resize(bodies_.size()), contact_energy_.resize(bodies_.size());
  rest_.resize(rows_);
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Body& body = model.bodies[bodies_[k]];
    Vec3 center{};
    for (int r = 0; r < body.count; ++r) center += body.rest[r].xyz() * body.mass[r];
    center = center / body.total_mass;
    for (int r = 0; r < body.count; ++r) {
      const Vec4 d = body.rest[r] - Vec4(center);
      rest_[offsets_[k] + r] = d;
      rest_size_ += 0.5 * body.mass[r] * dot(d, d);
      rest_second_ = rest_second_ + outer(d.xyz(), d.xyz() * body.mass[r]);
    }
  }
  rest_inverse_ = pseudo_inverse(rest_second_, 1e-10);  // of a sheet, singular
  const auto nearer = [&](int a, int b) {
    if ((forcing.mass[a] > 0) != (forcing.mass[b] > 0)) return forcing.mass[a] > 0;
    return dot(rest_[a], rest_[a]) < dot(rest_[b], rest_[b]);
  };
  for (int r = 1; r < rows_; ++r)
    if (nearer(r, middle_)) middle_ = r;
}

Island::Island(const Model& model, std::vector<Island*> parts, std::vector<int> bodies,
               const std::vector<int>& active_anchors)
    : Island(model, std::move(bodies), active_anchors) {
  parts_ = std::move(parts);
}

void Island::set_anchors(const std::vector<int>& active_anchors) {
  anchors_.clear();
  anchored_ = false;
  const auto row = [&](int body, int local) {
    const auto it = std::find(bodies_.begin(), bodies_.end(), body);
    return offsets_[it - bodies_.begin()] + local;
  };
  for (const int a : active_anchors) {
    const Anchor& anchor = model_.anchors[a];
    AnchorTerm& term = anchors_.emplace_back();
    term.anchor = a;
    term.to_world = anchor.other < 0;
    for (size_t i = 0; i < anchor.rows.size(); ++i) {
      if (term.to_world) {
        term.world.vertices.push_back(row(anchor.body, anchor.rows[i]));
      } else {
        term.links.pairs.push_back({row(anchor.body, anchor.rows[i]), row(anchor.other, anchor.other_rows[i])});
      }
    }
    term.world.points.resize(term.world.vertices.size());
    anchored_ |= term.to_world;
  }
  anchors_changed();
}

double Island::evaluate(const std::vector<Vec4>& x, std::vector<Vec4>& gradient) {
  std::fill(gradient.begin(), gradient.end(), Vec4());
  return add_gradient(x, gradient, Precision::float64);
}

double Island::add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient, Precision precision) {
  double total = 0;
  prestress_energy_ = 0;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    double energy = 0;
    for (const auto& potential : model_.bodies[bodies_[k]].potentials) {
      const double part = potential->add_gradient(x.data() + offsets_[k], gradient.data() + offsets_[k], precision);
      if (potential->prestress() > 0) prestress_energy_ += part;
      energy += part;
    }
    body_energy_[k] = energy;
    total += energy;
  }
  for (const AnchorTerm& term : anchors_) {
    const double energy = term.to_world ? term.world.add_gradient(x.data(), gradient.data())
                                        : term.links.add_gradient(x.data(), gradient.data());
    total += energy;
    const Anchor& anchor = model_.anchors[term.anchor];
    for (size_t k = 0; k < bodies_.size(); ++k) {
      if (bodies_[k] == anchor.body) body_energy_[k] += term.to_world ? energy : 0.5 * energy;
      if (bodies_[k] == anchor.other) body_energy_[k] += 0.5 * energy;
    }
  }
  work_.calls += double(bodies_.size()), work_.elements += elements_;
  work_.places += double(contacts.on_shapes.size() + contacts.faces.size() + contacts.on_edges.size());
  std::fill(contact_energy_.begin(), contact_energy_.end(), 0.0);
  if (!contacts.empty()) total += contacts.add_gradient(x.data(), gradient.data(), contact_energy_);
  return total;
}

double Island::body_total(int k) const {
  const Body& body = model_.bodies[bodies_[k]];
  const Vec4 *x = motion.x.data() + offsets_[k], *v = motion.v.data() + offsets_[k];
  const Vec4* force = forcing.conservative().data() + offsets_[k];
  double sum = body_energy_[k] + contact_energy_[k] + body.coupling.kinetic(v);
  for (int r = 0; r < body.count; ++r) sum += 0.5 * body.mass[r] * dot(v[r], v[r]) - dot(force[r], x[r]);
  return sum;
}

void Island::evaluate_motion() {
  motion.energy = evaluate(motion.x, motion.gradient);
  evaluated_ = true;
}

void Island::assemble(SymmetricAssembly& assembly, bool& has_pattern, double hh, bool without_hessians,
                      const std::vector<LowRankTerm>& anchors) const {
  if (!has_pattern) {
    assembly.begin_pattern(rows_);
  } else {
    assembly.begin_values();
  }
  // rows without mass or element stand still
  for (int r = 0; r < rows_; ++r) assembly.add(r, r, forcing.mass[r] > 0 ? forcing.mass[r] / (hh * hh) : 1);
  const MassCoupling& coupling = consistent_.coupling;
  for (int r = 0; consistent() && r < rows_; ++r) {
    double sum = 0;
    for (int k = coupling.start[r]; k < coupling.start[r + 1]; ++k) {
      sum += coupling.weight[k];
      if (coupling.column[k] < r) assembly.add(r, coupling.column[k], coupling.weight[k] / (hh * hh));
    }
    assembly.add(r, r, -sum / (hh * hh));
  }
  for (size_t k = 0; k < bodies_.size(); ++k)
    for (const auto& potential : model_.bodies[bodies_[k]].potentials)
      if (!(without_hessians && potential->has_hessian())) potential->add_weights(assembly, offsets_[k], 1);
  for (const AnchorTerm& term : anchors_)
    if (!term.to_world) term.links.add_weights(assembly);
  if (!has_pattern) assembly.finish_pattern();
  has_pattern = true;
  for (const LowRankTerm& term : anchors) assembly.add_to_diagonal(term.a, term.weight);  // the pattern stays
}

void Island::set_planes(const std::vector<LowRankTerm>& terms) {
  const auto same = [](const LowRankTerm& p, const LowRankTerm& q) { return p.a == q.a && p.weight == q.weight; };
  if (std::equal(terms.begin(), terms.end(), planes_.begin(), planes_.end(), same)) return;
  planes_ = terms;
  anchors_changed();
}

/// Weights of the anchors to the world and of planes, one term per vertex, vertices ascending.
std::vector<LowRankTerm> Island::world_anchors() const {
  std::vector<LowRankTerm> terms = planes_;
  for (const AnchorTerm& term : anchors_)
    if (term.to_world)
      for (size_t i = 0; i < term.world.vertices.size(); ++i)
        terms.push_back({term.world.vertices[i], -1, term.world.weight(i)});
  std::stable_sort(terms.begin(), terms.end(), [](const LowRankTerm& p, const LowRankTerm& q) { return p.a < q.a; });
  size_t kept = 0;
  for (const LowRankTerm& term : terms) {
    if (kept > 0 && terms[kept - 1].a == term.a) {
      terms[kept - 1].weight += term.weight;
    } else {
      terms[kept++] = term;
    }
  }
  terms.resize(kept);
  return terms;
}

std::shared_ptr<const FactorBase> Island::factor_base() const {
  auto base = std::make_shared<FactorBase>();
  base->anchors = world_anchors();
  for (const int b : bodies_) {
    auto& removed = base->removed.emplace_back();
    for (const auto& potential : model_.bodies[b].potentials)
      removed.push_back(model_.bodies[b].tearing ? potential->removed() : std::vector<char>());
  }
  return base;
}

bool Island::refactorize(Factor& factor, std::shared_ptr<const FactorBase> base) {
  assemble(assembly_, has_pattern_, factor.hh, false, base->anchors);
  ++factorizations_;
  factor.version = -1;
  if (!factor.solver.factorize(assembly_.matrix(), bodies_.size() == 1, factor.precision)) return false;
  factor.version = matrix_version_, factor.anchor_version = anchor_version_;
  factor.base = std::move(base);
  work_.factors += 1, work_.made += double(factor.solver.nonzeros());
  return true;
}

/// Elements that have gone since the factor was made, as terms that take w A^T A of each out: its rows sum to zero, so
/// that it is a sum over pairs of corners. One term per pair of rows. False when there are too many.
bool Island::add_removed(const FactorBase& base, std::vector<LowRankTerm>& changes) const {
  std::vector<LowRankTerm> terms;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Body& body = model_.bodies[bodies_[k]];
    for (size_t p = 0; body.tearing && p < body.potentials.size(); ++p) {
      const Potential& potential = *body.potentials[p];
      const std::vector<char>&now = potential.removed(), &then = base.removed[k][p];
      for (size_t e = 0; e < now.size(); ++e) {
        if (!now[e] || (e < then.size() && then[e])) continue;
        for (int i = 0; i < potential.corners(int(e)); ++i)
          for (int j = 0; j < i; ++j) {
            const int a = potential.vertex(int(e), i) + offsets_[k], b = potential.vertex(int(e), j) + offsets_[k];
            terms.push_back({std::min(a, b), std::max(a, b), potential.metric(int(e), i, j)});
          }
        if (terms.size() > 64 * LowRankUpdate::rank_limit) return false;
      }
    }
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const LowRankTerm& p, const LowRankTerm& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; });
  size_t kept = 0;
  for (const LowRankTerm& term : terms) {
    if (kept > 0 && terms[kept - 1].a == term.a && terms[kept - 1].b == term.b) {
      terms[kept - 1].weight += term.weight;
    } else {
      terms[kept++] = term;
    }
  }
  if (kept > LowRankUpdate::rank_limit) return false;
  changes.insert(changes.end(), terms.begin(), terms.begin() + kept);
  return true;
}

/// The factor as it is plus what has changed since it was made, where that is little.
bool Island::follow_changes(Factor& factor) {
  std::vector<LowRankTerm> changes = world_anchors();
  for (const LowRankTerm& old : factor.base->anchors) {
    const auto same = std::find_if(changes.begin(), changes.end(), [&](const LowRankTerm& t) { return t.a == old.a; });
    if (same != changes.end()) {
      same->weight -= old.weight;
    } else {
      changes.push_back({old.a, -1, -old.weight});
    }
  }
  if (!add_removed(*factor.base, changes)) return false;
  std::erase_if(changes, [](const LowRankTerm& t) { return t.weight == 0; });
  if (factor.solver.set_changes(changes) != LowRankUpdate::Status::done) return false;
  factor.anchor_version = anchor_version_;
  return true;
}

void Island::record_factors(std::vector<FactorRecord>& records) const {
  for (const auto& f : factors_)
    if (f->version == matrix_version_)
      records.push_back({bodies_[0], f->hh, f->precision, f->base, f->solver.extra_work(),
                         f->anchor_version == anchor_version_});
}

void Island::restore_factors(const std::vector<FactorRecord>& records, const Settings& settings) {
  const auto is = [](const Factor& f, const FactorRecord& r) { return f.hh == r.hh && f.precision == r.precision; };
  std::erase_if(factors_, [&](const auto& f) {
    return f->version != matrix_version_ || std::none_of(records.begin(), records.end(), [&](const FactorRecord& r) {
      return r.body == bodies_[0] && is(*f, r) && (f->base == r.base || *f->base == *r.base);
    });
  });
  factor_.clear(), slot_ = nullptr;
  for (const FactorRecord& r : records) {
    if (r.body != bodies_[0]) continue;
    const auto known = std::find_if(factors_.begin(), factors_.end(), [&](const auto& f) { return is(*f, r); });
    Factor* factor = known == factors_.end() ? nullptr : known->get();
    if (!factor) {
      factor = new_factor(r.hh, r.precision, settings);
      // as the elements were when it was made
      std::vector<std::vector<char>> now;
      const auto set_removed = [&](auto&& flags) {
        for (size_t k = 0, i = 0; k < bodies_.size(); ++k)
          for (size_t p = 0; model_.bodies[bodies_[k]].tearing && p < model_.bodies[bodies_[k]].potentials.size();
               ++p, ++i)
            flags(*model_.bodies[bodies_[k]].potentials[p], k, p, i);
      };
      const auto assign = [](Potential& potential, std::vector<char> flags) {
        flags.resize(potential.elements());
        if (potential.can_lose_elements() && potential.removed() != flags) potential.set_removed(flags);
      };
      set_removed([&](Potential& potential, size_t k, size_t p, size_t) {
        now.push_back(potential.removed()), assign(potential, r.base->removed[k][p]);
      });
      const bool made = refactorize(*factor, r.base);
      set_removed([&](Potential& potential, size_t, size_t, size_t i) { assign(potential, now[i]); });
      if (!made) continue;
    }
    // what has changed since, unless the factor has not been used since: then its next use will see to it
    factor->anchor_version = -1;
    if (r.current && follow_changes(*factor)) factor->solver.set_extra_work(r.extra_work);
  }
}

Island::Factor* Island::factor_for(double hh, const Settings& settings) {
  const Precision precision = settings.precision;
  for (const auto& f : factors_) {
    if (f->hh != hh || f->precision != precision || f->version != matrix_version_) continue;
    const bool current = f->anchor_version == anchor_version_ || follow_changes(*f);
    if (current && !f->solver.refactoring_pays()) return f.get();
    return refactorize(*f, factor_base()) ? f.get() : nullptr;
  }
  Factor* const factor = new_factor(hh, precision, settings);
  return refactorize(*factor, factor_base()) ? factor : nullptr;
}

/// In the storage of a factor for an older matrix, if there is one.
Island::Factor* Island::new_factor(double hh, Precision precision, const Settings& settings) {
  Factor* slot = nullptr;
  for (const auto& f : factors_)
    if (f->version != matrix_version_) slot = f.get();
  if (!slot) {
    slot = factors_.emplace_back(std::make_unique<Factor>()).get();
    if (factors_.size() > 1) slot->solver.share_pattern(factors_.front()->solver);
  }
  slot->hh = hh, slot->precision = precision;
  slot->solver.wanted = settings.solver, slot->solver.storage = settings.storage;
  return slot;
}

void Island::make_factors(double h, const Settings& settings) {
  constexpr double most = 4e6;  // entries, of all of them: 32 MB
  double made = 0;
  Motion motion;
  BaseStep base;
  std::vector<int> substeps{1, 2, 4, 8};
  if (settings.substeps > 0) substeps = {settings.substeps};
  for (const int n : substeps)
    for (const Integrator* integrator :
         {settings.sheets && !is_solid() ? settings.sheets.get() : settings.integrator.get(), settings.touching.get(),
          settings.fallback.get()}) {
      if (!integrator) continue;
      integrator->begin(motion, h / n * integrator->share(0), true, base);
      const Factor* const factor = factor_for(base.hh, settings);
      if (!factor) return;
      made += double(factor->solver.nonzeros());
      if (made > most) return;
    }
}

bool Island::find_factor(double hh, const Settings& settings) {
  const auto done = [this](bool found) {
    entries_ = found ? double(factor_.nonzeros()) : 0;
    return found;
  };
  factor_.clear();
  slot_ = nullptr, entries_ = 0;
  if (parts_.empty()) {
    slot_ = factor_for(hh, settings);
    if (slot_) factor_.add(slot_->solver, 0);
    return done(slot_);
  }
  part_slots_.clear();
  int first = 0;
  for (Island* part : parts_) {
    const Work before = part->work_;
    Factor* factor = part->factor_for(hh, settings);
    if (!factor) return factor_.clear(), false;
    work_.factors += part->work_.factors - before.factors, work_.made += part->work_.made - before.made;
    part_slots_.push_back(factor);
    factor_.add(factor->solver, first);
    first += part->rows_;
  }
  return done(true);
}

bool Island::is_solid() const {
  return std::all_of(bodies_.begin(), bodies_.end(),
                     [this](int b) { return !model_.bodies[b].mesh.tetrahedra.empty(); });
}

std::optional<Deformation> Island::deformation() {
  double distance = 0;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Body& body = model_.bodies[bodies_[k]];
    const Vec4 *x = motion.x.data() + offsets_[k], *rest = rest_.data() + offsets_[k];
    const Vec3 origin = x[0].xyz();
    const RowShape shape = ordered_sum<RowShape>(body.count, 1024, shape_parts_, [&](int begin, int end) {
      return shape_rows(body.mass.data(), x, rest, origin, begin, end);
    });
    const Vec3 center = origin + shape.x / body.total_mass;
    const Mat3 rotation = nearest_rotation(shape.moment);
    distance += 0.5 * ordered_sum<double>(body.count, 1024, distance_parts_, [&](int begin, int end) {
                  return distance_rows(body.mass.data(), x, rest, center, rotation, begin, end);
                });
  }
  if (distance < 1e-18 * rest_size_) return std::nullopt;  // round-off, not a deformation
  double elastic = motion.energy - prestress_energy_;
  for (const double energy : contact_energy_) elastic -= energy;
  return Deformation{elastic, distance};
}

double Island::impact_frequency(double h) {
  if (contacts.near_rows().empty()) return 0;
  constexpr double strain = 1e-3;  // whose square is far above round-off, and small beside any deformation that counts
  struck_.assign(bodies_.size(), {});
  const auto body_of = [&](int row) {
    return int(std::upper_bound(offsets_.begin(), offsets_.end(), row) - offsets_.begin()) - 1;
  };
  for (const ContactRow& row : contacts.rows())
    for (int i = 0; i < row.count; ++i) struck_[body_of(row.rows[i])].pressed = true;
  for (const ContactRow& row : contacts.near_rows()) {
    // what lies down, or settles, is no faster than gravity makes it in a few frames
    const bool strikes = -row.along(motion.v.data()) > 3 * h * std::abs(row.along(forcing.acceleration.data()));
    for (int i = 0; strikes && i < row.count; ++i) struck_[body_of(row.rows[i])].along += row.direction * row.share[i];
  }
  double fastest = 0;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    if (struck_[k].pressed || !(norm(struck_[k].along) > 0)) continue;
    const Body& body = model_.bodies[bodies_[k]];
    const Vec3 n = struck_[k].along / norm(struck_[k].along);
    const Vec4* x = motion.x.data() + offsets_[k];
    Vec3 center{};
    for (int i = 0; i < body.count; ++i) center += x[i].xyz() * (body.mass[i] / body.total_mass);
    double curvature = 0, inertia = 0;  // 2 W and |d|^2_M of d = strain n n.(x - c)
    impact_x_.resize(body.count), impact_gradient_.assign(body.count, {});
    for (const double e : {strain, -strain, 0.0}) {
      for (int i = 0; i < body.count; ++i) impact_x_[i] = x[i] + Vec4(n * (e * dot(n, x[i].xyz() - center)));
      for (const auto& potential : body.potentials)
        curvature +=
            (e == 0 ? -2 : 1) * potential->add_gradient(impact_x_.data(), impact_gradient_.data(), Precision::float64);
    }
    for (int i = 0; i < body.count; ++i) {
      const double d = strain * dot(n, x[i].xyz() - center);
      inertia += body.mass[i] * d * d;
    }
    if (inertia > 0) fastest = std::max(fastest, curvature / inertia);
  }
  return h * std::sqrt(fastest);
}

}  // namespace verve
