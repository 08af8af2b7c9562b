#include "integrators/system_matrix.h"

#include <algorithm>

namespace verve {

namespace {

/// Terms of the same vertices become one, ascending.
void add_up_equal(std::vector<LowRankTerm>& terms) {
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
  terms.resize(kept);
}

}  // namespace

void SystemMatrix::assemble(SymmetricAssembly& assembly, bool& has_pattern, double hh, bool without_hessians,
                            const std::vector<LowRankTerm>& diagonal) const {
  const std::vector<double>& mass = *terms_.mass;
  const int all = shared() ? shared()->rows() : rows();
  if (!has_pattern) {
    assembly.begin_pattern(all);
  } else {
    assembly.begin_values();
  }
  // rows without mass or element stand still
  for (int r = 0; r < rows(); ++r) assembly.add(r, r, mass[r] > 0 ? mass[r] / (hh * hh) : 1);
  for (int r = rows(); r < all; ++r) assembly.add(r, r, 0);  // copies: the diagonal is part of the pattern
  const MassCoupling& coupling = *terms_.coupling;
  for (int r = 0; !coupling.empty() && r < rows(); ++r) {
    double sum = 0;
    for (int k = coupling.start[r]; k < coupling.start[r + 1]; ++k) {
      sum += coupling.weight[k];
      if (coupling.column[k] < r) assembly.add(r, coupling.column[k], coupling.weight[k] / (hh * hh));
    }
    assembly.add(r, r, -sum / (hh * hh));
  }
  for (const MatrixTerms::Elements& body : terms_.bodies)
    for (const auto& potential : *body.potentials)
      if (!(without_hessians && potential->has_hessian())) potential->add_weights(assembly, body.first, 1);
  for (const AnchorTerm& term : *terms_.anchors)
    if (!term.to_world) term.links.add_weights(assembly);
  if (!has_pattern) assembly.finish_pattern();
  has_pattern = true;
  for (const LowRankTerm& term : diagonal) assembly.add_to_diagonal(term.a, term.weight);  // the pattern stays
}

bool SystemMatrix::set_planes(const std::vector<LowRankTerm>& terms) {
  const auto same = [](const LowRankTerm& p, const LowRankTerm& q) { return p.a == q.a && p.weight == q.weight; };
  if (std::equal(terms.begin(), terms.end(), planes_.begin(), planes_.end(), same)) return false;
  planes_ = terms;
  terms_changed();
  return true;
}

/// Weights of the anchors to the world and of planes, one term per vertex, vertices ascending.
std::vector<LowRankTerm> SystemMatrix::diagonal_terms() const {
  std::vector<LowRankTerm> terms = planes_;
  for (const AnchorTerm& term : *terms_.anchors)
    if (term.to_world)
      for (size_t i = 0; i < term.world.vertices.size(); ++i)
        terms.push_back({term.world.vertices[i], -1, term.world.weight(i)});
  add_up_equal(terms);
  return terms;
}

/// What a factor of now is made with.
std::shared_ptr<const FactorBase> SystemMatrix::present() const {
  auto base = std::make_shared<FactorBase>();
  base->anchors = diagonal_terms();
  for (const MatrixTerms::Elements& body : terms_.bodies) {
    auto& removed = base->removed.emplace_back();
    for (const auto& potential : *body.potentials)
      removed.push_back(body.tears ? potential->removed() : std::vector<char>());
  }
  return base;
}

bool SystemMatrix::factorize(Factor& factor, std::shared_ptr<const FactorBase> base) {
  assemble(assembly_, has_pattern_, factor.hh, false, base->anchors);
  ++factorizations_;
  factor.version = -1;
  const bool made = shared() ? factor.solver.factorize(assembly_.matrix(), *shared())
                             : factor.solver.factorize(assembly_.matrix(), terms_.bodies.size() == 1, factor.precision);
  if (shared()) assembly_ = {}, has_pattern_ = false;  // as large as all the rest
  if (!made) return false;
  factor.version = version_, factor.changes = changes_, factor.state = ++states_;
  factor.base = std::move(base);
  work_.factors += 1, work_.made += double(factor.solver.nonzeros());
  return true;
}

/// With the elements that were there then.
bool SystemMatrix::factorize_as_it_was(Factor& factor, const std::shared_ptr<const FactorBase>& base) {
  const auto each_that_tears = [&](auto&& visit) {
    for (size_t k = 0; k < terms_.bodies.size(); ++k)
      for (size_t p = 0; terms_.bodies[k].tears && p < terms_.bodies[k].potentials->size(); ++p)
        visit(*(*terms_.bodies[k].potentials)[p], k, p);
  };
  const auto set_removed = [](Potential& potential, std::vector<char> flags) {
    flags.resize(potential.elements());
    if (potential.can_lose_elements() && potential.removed() != flags) potential.set_removed(flags);
  };
  std::vector<std::vector<char>> now;
  each_that_tears([&](Potential& potential, size_t k, size_t p) {
    now.push_back(potential.removed()), set_removed(potential, base->removed[k][p]);
  });
  const bool made = factorize(factor, base);
  size_t i = 0;
  each_that_tears([&](Potential& potential, size_t, size_t) { set_removed(potential, now[i++]); });
  return made;
}

/// Elements that have gone since the factor was made, as terms that take w A^T A of each out: its rows sum to zero, so
/// that it is a sum over pairs of corners. One term per pair of rows. False when there are too many.
bool SystemMatrix::add_removed(const FactorBase& base, std::vector<LowRankTerm>& changes) const {
  std::vector<LowRankTerm> terms;
  for (size_t k = 0; k < terms_.bodies.size(); ++k) {
    const MatrixTerms::Elements& body = terms_.bodies[k];
    for (size_t p = 0; body.tears && p < body.potentials->size(); ++p) {
      const Potential& potential = *(*body.potentials)[p];
      const std::vector<char>&now = potential.removed(), &then = base.removed[k][p];
      for (size_t e = 0; e < now.size(); ++e) {
        if (!now[e] || (e < then.size() && then[e])) continue;
        for (int i = 0; i < potential.corners(int(e)); ++i)
          for (int j = 0; j < i; ++j) {
            const int a = potential.vertex(int(e), i) + body.first, b = potential.vertex(int(e), j) + body.first;
            terms.push_back({std::min(a, b), std::max(a, b), potential.metric(int(e), i, j)});
          }
        if (terms.size() > 64 * LowRankUpdate::rank_limit) return false;
      }
    }
  }
  add_up_equal(terms);
  if (int(terms.size()) > LowRankUpdate::rank_limit) return false;
  changes.insert(changes.end(), terms.begin(), terms.end());
  return true;
}

/// The factor as it is plus what has changed since it was made, where that is little.
bool SystemMatrix::follow_changes(Factor& factor) {
  std::vector<LowRankTerm> changes = diagonal_terms();
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
  factor.changes = changes_, factor.state = ++states_;
  return true;
}

SystemMatrix::Factor* SystemMatrix::factor_for(double hh, const FactorKind& kind) {
  for (const auto& f : factors_) {
    if (f->hh != hh || f->precision != kind.precision || f->version != version_) continue;
    const bool current = f->changes == changes_ || (!shared() && follow_changes(*f));
    if (current && !f->solver.refactoring_pays()) return f.get();
    return factorize(*f, present()) ? f.get() : nullptr;
  }
  Factor& factor = new_factor(hh, kind.precision, kind);
  return factorize(factor, present()) ? &factor : nullptr;
}

/// In the storage of a factor for an older matrix, if there is one.
SystemMatrix::Factor& SystemMatrix::new_factor(double hh, Precision precision, const FactorKind& kind) {
  Factor* slot = nullptr;
  for (const auto& f : factors_)
    if (f->version != version_) slot = f.get();
  if (!slot) {
    slot = factors_.emplace_back(std::make_unique<Factor>()).get();
    if (factors_.size() > 1) slot->solver.share_pattern(factors_.front()->solver);
  }
  slot->hh = hh, slot->precision = precision;
  slot->solver.wanted = kind.solver, slot->solver.storage = kind.storage;
  return *slot;
}

void SystemMatrix::adopt(SystemMatrix& from) {
  factors_ = std::move(from.factors_);
  from.factors_.clear();
  for (const auto& f : factors_) f->version = version_, f->changes = changes_;
  states_ = from.states_, factorizations_ += from.factorizations_;
}

void SystemMatrix::record(int body, std::vector<FactorRecord>& records) const {
  for (const auto& f : factors_)
    if (f->version == version_)
      records.push_back({body, f->hh, f->precision, f->base, f->solver.extra_work(), f->changes == changes_});
}

void SystemMatrix::restore(int body, const std::vector<FactorRecord>& records, const FactorKind& kind) {
  if (shared()) return factors_.clear();  // made again when next needed
  const auto is = [](const Factor& f, const FactorRecord& r) { return f.hh == r.hh && f.precision == r.precision; };
  std::erase_if(factors_, [&](const auto& f) {
    return f->version != version_ || std::none_of(records.begin(), records.end(), [&](const FactorRecord& r) {
             return r.body == body && is(*f, r) && (f->base == r.base || *f->base == *r.base);
           });
  });
  for (const FactorRecord& r : records) {
    if (r.body != body) continue;
    const auto known = std::find_if(factors_.begin(), factors_.end(), [&](const auto& f) { return is(*f, r); });
    const bool missing = known == factors_.end();
    Factor& factor = missing ? new_factor(r.hh, r.precision, kind) : **known;
    if (missing && !factorize_as_it_was(factor, r.base)) continue;
    // what has changed since, unless the factor has not been used since: then its next use will see to it
    factor.changes = -1;
    if (r.current && follow_changes(factor)) factor.solver.set_extra_work(r.extra_work);
  }
}

}  // namespace verve
