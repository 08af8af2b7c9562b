#include "integrators/elastic_energy.h"

#include "base/ranks.h"

#include <algorithm>

namespace verve {

ElasticEnergy::ElasticEnergy(const Model& model, const Matter& matter, const std::vector<int>& bodies,
                             const std::vector<AnchorTerm>& anchors)
    : bodies_(bodies), anchors_of_all_(matter.anchors), anchors_(anchors), of_bodies_(bodies.size()) {
  int first = 0;
  for (const int b : bodies) {
    parts_.push_back({&matter.bodies[b].potentials, first, model.bodies[b].shared.get(), {}, {}});
    first += model.bodies[b].count;
    for (const auto& potential : matter.bodies[b].potentials)
      for (int e = 0; e < potential->elements(); ++e) {
        const double corners = potential->corners(e);
        elements_ += corners * std::min(corners, 4.0);
      }
  }
}

double ElasticEnergy::add_gradient(const Vec4* x, Vec4* gradient, Precision precision) {
  double total = 0;
  prestress_ = 0;
  for (size_t k = 0; k < parts_.size(); ++k) {
    OfBody& body = parts_[k];
    const Vec4* at = x + body.first;
    Vec4* to = gradient + body.first;
    if (body.shared) {
      at = body.shared->with_copies(at, body.x);
      body.gradient.assign(body.x.size(), Vec4());
      to = body.gradient.data();
    }
    double energy = 0;
    for (const auto& potential : *body.potentials) {
      const double part = potential->add_gradient(at, to, precision);
      if (potential->prestress() > 0) prestress_ += part;
      energy += part;
    }
    if (body.shared) {
      body.shared->give_back(to);
      for (int r = 0; r < body.shared->owned(); ++r) gradient[body.first + r] += to[r];
    }
    of_bodies_[k] = energy;
    total += energy;
  }
  for (const AnchorTerm& term : anchors_) {
    const double energy = term.to_world ? term.world.add_gradient(x, gradient) : term.links.add_gradient(x, gradient);
    total += energy;
    const Anchor& anchor = anchors_of_all_[term.anchor];
    for (size_t k = 0; k < bodies_.size(); ++k) {
      if (bodies_[k] == anchor.body) of_bodies_[k] += term.to_world ? energy : 0.5 * energy;
      if (bodies_[k] == anchor.other) of_bodies_[k] += 0.5 * energy;
    }
  }
  if (ranks()) {
    of_bodies_.push_back(total), of_bodies_.push_back(prestress_);
    ranks()->sum(of_bodies_.data(), int(of_bodies_.size()));
    prestress_ = of_bodies_.back(), of_bodies_.pop_back();
    total = of_bodies_.back(), of_bodies_.pop_back();
  }
  return total;
}

bool ElasticEnergy::is_bounded() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const OfBody& body) {
    return std::all_of(body.potentials->begin(), body.potentials->end(), [](const auto& p) { return p->is_bounded(); });
  });
}

double ElasticEnergy::scale_of_prestress() const {
  double most = 0;
  for (const OfBody& body : parts_)
    for (const auto& potential : *body.potentials) most = std::max(most, potential->prestress());
  return most;
}

double ElasticEnergy::reference(long version) {
  if (reference_version_ == version) return reference_;
  reference_ = 0, reference_version_ = version;
  for (const OfBody& body : parts_)
    for (const auto& potential : *body.potentials) reference_ += potential->reference_energy();
  return reference_ = sum_over_ranks(reference_);
}

}  // namespace verve
