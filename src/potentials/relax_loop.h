// The loop of a sweep over the constraints of elements that have no vertex in common. Read by block_loop.h, plainly and
// once per set of instructions.
#if defined(VERVE_RELAX_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_RELAX_LOOP_H
#undef VERVE_RELAX_LOOP_H
#else
#define VERVE_RELAX_LOOP_H
#endif

VERVE_NAMESPACE_BEGIN

/// The one update of all position-based methods: Macklin et al. 2016, "XPBD", Eq. 26; without damping (gamma = 0) its
/// Eq. 18; without compliance (alpha = 0) and with a share k the projection of Mueller et al. 2007, "Position Based
/// Dynamics", Eq. 8-9. `weighted` is grad C M^-1 grad C^T, `along` grad C (x - x_n), alpha = 1/(k h^2).
template <class T>
T multiplier_change(const T& C, const T& alpha, const T& lambda, const T& weighted, const T& gamma, const T& along,
                    const T& share) {
  const T residual = C + alpha * lambda + gamma * along;
  const T stiffness = (T(1) + gamma) * weighted + alpha;
  return T(-share) * T(residual / stiffness);
}

template <class Kernel>
inline constexpr bool has_constraints = requires {
  Kernel::constraints;
};

template <class Kernel>
constexpr int constraints_of() {
  if constexpr (has_constraints<Kernel>)
    return Kernel::constraints;
  else
    return 1;
}

/// C with dC/dz, whichever way the kernel gives it. Any energy that is never negative is k/2 C^2 for
/// C = sqrt(2 Psi / k), for a projective one the distance to its set; that has no gradient on the set, and zero is
/// given for it.
template <class Kernel, class T>
T constraint_and_gradient(const typename Kernel::template Element<T>& e, [[maybe_unused]] int which,
                          const Columns<T, Kernel::rows>& z, Columns<T, Kernel::rows>& dz) {
  if constexpr (has_constraints<Kernel>) {
    return Kernel::constraint(e, which, z, dz);
  } else {
    const T twice = T(2) * energy_and_gradient<Kernel, T>(e, z, dz), ratio = twice / e.weight;
    const T C = sqrt(max(ratio, T(0)));
    const T size = e.weight * C;
    const MaskOf<T> off = size > T(0);
    const T scale = select(off, T(T(1) / select(off, size, T(1))), T(0));
    unroll<Kernel::rows>([&](auto r) { dz[r] = dz[r] * scale; });
    return C;
  }
}

template <class Kernel, class T>
T constraint_stiffness_of(const typename Kernel::template Element<T>& e, [[maybe_unused]] int which) {
  if constexpr (has_constraints<Kernel>)
    return Kernel::stiffness(e, which);
  else
    return e.weight;
}

/// What a projection that must reach C = 0 by itself, without compliance, takes for C: less where its slope changes.
template <class Kernel, class T>
T full_step_of([[maybe_unused]] const typename Kernel::template Element<T>& e, [[maybe_unused]] int which, const T& C) {
  if constexpr (requires { Kernel::full_step(e, which, C); })
    return Kernel::full_step(e, which, C);
  else
    return C;
}

#ifdef VERVE_PACKS
template <class T>
VERVE_INLINE void store_lanes(const T& value, typename LaneOf<T>::Type* to) {
  hn::Store(value.v, typename T::D(), to);
}
#else
template <class T>
void store_lanes(const T& value, T* to) {
  *to = value;
}
#endif

/// Differences of corner rows to the first, for one pack of elements.
template <class T, int Vertices>
Columns<T, Vertices - 1> gather_rows(const double* x, const int* corner) {
  const auto first = collect<lanes<T>>([&](auto l) { return Row::load(x + 4 * size_t(corner[l * Vertices])); });
  return collect<Vertices - 1>([&](auto i) {
    const auto d =
        collect<lanes<T>>([&](auto l) { return Row::load(x + 4 * size_t(corner[l * Vertices + i + 1])) - first[l]; });
    return Rows<T>::join(d.data());
  });
}

/// The constraint `which` of one pack of elements, the first `count` of which are there.
template <class Kernel, class T>
VERVE_INLINE void relax_pack(const RelaxRange& range, const typename Kernel::template Element<T>& e, int which,
                             const int* corner, int count, double* multipliers) {
  constexpr int vertices = Kernel::vertices;
  const Relaxation& sweep = *range.sweep;
  double* x = &sweep.x->x;
  const auto d = gather_rows<T, vertices>(x, corner);
  const Columns<T, Kernel::rows> z = reduce<Kernel, T>(e, d.data());
  Columns<T, Kernel::rows> dz = z;
  const T value = constraint_and_gradient<Kernel, T>(e, which, z, dz);
  const T C = sweep.inverse_h2 > 0 ? value : full_step_of<Kernel, T>(e, which, value);
  // for each corner: gradient and inverse mass; those of the first balance the others
  const auto others = collect<vertices - 1>([&](auto i) {
    Vec3T<T> g = dz[0] * e.coefficient(0, i);
    unroll<Kernel::rows - 1>([&](auto r) { g = add_scaled(g, dz[r + 1], e.coefficient(r + 1, i)); });
    return g;
  });
  Vec3T<T> first = -others[0];
  unroll<vertices - 2>([&](auto i) { first = first - others[i + 1]; });
  const auto inverse_mass = collect<vertices>([&](auto i) {
    alignas(64) double w[lanes<T>];
    unroll<lanes<T>>([&](auto l) { w[l] = x[4 * size_t(corner[l * vertices + i]) + 3]; });
    return load_lanes<T>(w);
  });
  T weighted = inverse_mass[0] * T(dot(first, first));
  unroll<vertices - 1>([&](auto i) { weighted = weighted + inverse_mass[i + 1] * T(dot(others[i], others[i])); });
  T along = T(0);
  if (sweep.damping > 0) {
    // the gradients sum to zero: all but the way of the first vertex counts in differences
    const auto before = gather_rows<T, vertices>(&sweep.start->x, corner);
    unroll<vertices - 1>([&](auto i) { along = along + T(dot(others[i], d[i] - before[i])); });
  }
  const T k = constraint_stiffness_of<Kernel, T>(e, which);
  const MaskOf<T> stiff = k > T(0), active = stiff & (weighted > T(0));
  const T alpha = T(sweep.inverse_h2) / select(stiff, k, T(1));
  const T lambda = load_lanes<T>(multipliers);
  T change =
      multiplier_change<T>(C, alpha, lambda, select(active, weighted, T(1)), T(sweep.damping), along, T(sweep.share));
  change = select(active, change, T(0));
  store_lanes<T>(T(lambda + change), multipliers);
  const auto move = [&](int corner_index, const Vec3T<T>& g, const T& w) {
    const T step = w * change;
    const Rows<T> rows(select<T>(active, g * step, Vec3T<T>{T(0), T(0), T(0)}));  // not a number times zero is none
    unroll<lanes<T>>([&](auto l) {
      if (l >= count) return;
      double* to = x + 4 * size_t(corner[l * vertices + corner_index]);
      (Row::load(to) + rows.row(l)).store(to);
    });
  };
  move(0, first, inverse_mass[0]);
  unroll<vertices - 1>([&](auto i) { move(i + 1, others[i], inverse_mass[i + 1]); });
}

/// Patches are swept element by element, by those who own them (SparsePotential, GroupPotential).
template <class Kernel, class T>
VERVE_NOINLINE VERVE_FLATTEN void relax_elements([[maybe_unused]] const RelaxRange& range) {
  if constexpr (!is_patch<Kernel>) {
    constexpr int constraints = constraints_of<Kernel>();
    const double* block = static_cast<const double*>(range.elements);
    double* multipliers = range.multipliers;
    const int* corner = range.corners;
    for (int left = range.count; left > 0; left -= block_size) {
      for (int l = 0; l < block_size && l < left; l += lanes<T>) {
        const auto e = load_element<Kernel, T>(block + l);
        const int count = left - l < lanes<T> ? left - l : lanes<T>;
        unroll<constraints>([&](auto which) {
          relax_pack<Kernel, T>(range, e, which, corner + l * Kernel::vertices, count,
                                multipliers + which * block_size + l);
        });
      }
      block += element_fields<Kernel> * block_size;
      multipliers += constraints * block_size;
      corner += Kernel::vertices * block_size;
    }
  }
}

VERVE_NAMESPACE_END

#endif
