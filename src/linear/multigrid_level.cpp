#include "linear/multigrid_level.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace verve {

namespace {

void to_starts(std::vector<int>& counts) {  // counts[i + 1] -> start[i]
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

std::vector<double> diagonal(const SparseRows& m) {
  std::vector<double> out(m.rows(), 0.0);
  for (int i = 0; i < m.rows(); ++i)
    for (int k = m.start[i]; k < m.start[i + 1]; ++k)
      if (m.column[k] == i) out[i] = m.value[k];
  return out;
}

/// c = a b, row by row (Gustavson 1978). A chunk of rows has a table of its own, so the rows may be shared out.
void multiply(const SparseRows& a, const SparseRows& b, SparseRows& c, bool keep) {
  const int rows = a.rows(), grain = std::max(1024, rows / 16 + 1);
  std::vector<std::vector<int>> tables(chunk_count(rows, grain));
  if (!keep) {
    c.columns = b.columns;
    c.start.assign(rows + 1, 0);
    parallel_for(rows, grain, [&](int begin, int end, int chunk) {
      std::vector<int>& seen = tables[chunk];
      seen.assign(b.columns, -1);
      for (int i = begin; i < end; ++i)
        for (int k = a.start[i]; k < a.start[i + 1]; ++k)
          for (int l = b.start[a.column[k]]; l < b.start[a.column[k] + 1]; ++l)
            if (seen[b.column[l]] != i) seen[b.column[l]] = i, ++c.start[i + 1];
    });
    to_starts(c.start);
    c.column.resize(c.start[rows]);
    c.value.resize(c.start[rows]);
  }
  parallel_for(rows, grain, [&](int begin, int end, int chunk) {
    std::vector<int>& place = tables[chunk];
    place.assign(b.columns, -1);
    for (int i = begin; i < end; ++i) {
      const int first = c.start[i];
      int next = first;
      for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
        const double v = a.value[k];
        for (int l = b.start[a.column[k]]; l < b.start[a.column[k] + 1]; ++l) {
          int& p = place[b.column[l]];
          if (p < first) {  // left over from an earlier row
            p = next++;
            c.column[p] = b.column[l];
            c.value[p] = v * b.value[l];
          } else {
            c.value[p] += v * b.value[l];
          }
        }
      }
    }
  });
}

void transpose(const SparseRows& a, SparseRows& out) {
  out.columns = a.rows();
  out.start.assign(a.columns + 1, 0);
  for (const int c : a.column) ++out.start[c + 1];
  to_starts(out.start);
  out.column.resize(a.column.size());
  out.value.resize(a.column.size());
  std::vector<int> next(out.start.begin(), out.start.end() - 1);
  for (int i = 0; i < a.rows(); ++i) {
    for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
      const int p = next[a.column[k]]++;
      out.column[p] = i;
      out.value[p] = a.value[k];
    }
  }
}

/// P = (I - 4/3 D^-1 A_F) T, where T puts each row into its aggregate and A_F has the weak couplings lumped into its
/// diagonal. D = diagonal + sum of the moduli beside it bounds the spectrum of D^-1 A_F by one, so that the damping
/// 4/3 of Vanek et al. needs no estimate of the largest eigenvalue.
void smooth_prolongation(const MultigridLevel& level, SparseRows& p, bool keep) {
  const SparseRows& a = level.matrix;
  if (!keep) {
    p = {};
    p.columns = level.aggregates;
    p.start.assign(1, 0);
  }
  for (int i = 0; i < a.rows(); ++i) {
    const int begin = p.start[i];
    const auto entry = [&](int column) -> double& {
      int k = begin;
      const int end = keep ? p.start[i + 1] : int(p.column.size());
      while (k < end && p.column[k] != column) ++k;
      if (k == end) p.column.push_back(column), p.value.push_back(0);
      return p.value[k];
    };
    if (keep) std::fill(p.value.begin() + begin, p.value.begin() + p.start[i + 1], 0.0);
    if (level.aggregate[i] >= 0) {
      double lumped = 0, beside = 0;
      for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
        if (level.strong[k]) {
          beside += std::abs(a.value[k]);
        } else {
          lumped += a.value[k];
        }
      }
      lumped = std::max(lumped, 0.0);
      const double omega = lumped + beside > 0 ? 4.0 / 3 / (lumped + beside) : 0;
      entry(level.aggregate[i]) += 1 - omega * lumped;
      for (int k = a.start[i]; k < a.start[i + 1]; ++k)
        if (level.strong[k]) entry(level.aggregate[a.column[k]]) -= omega * a.value[k];
    }
    if (!keep) p.start.push_back(int(p.column.size()));
  }
}

}  // namespace

std::vector<int> breadth_first_order(const SymmetricMatrix& matrix) {
  const int n = matrix.size;
  std::vector<int> start(n + 1, 0), neighbour(2 * matrix.row.size());
  for (int c = 0; c < n; ++c)
    for (int k = matrix.start[c]; k < matrix.start[c + 1]; ++k) ++start[c + 1], ++start[matrix.row[k] + 1];
  to_starts(start);
  std::vector<int> next(start.begin(), start.end() - 1);
  for (int c = 0; c < n; ++c)
    for (int k = matrix.start[c]; k < matrix.start[c + 1]; ++k)
      neighbour[next[c]++] = matrix.row[k], neighbour[next[matrix.row[k]]++] = c;

  std::vector<int> order;
  order.reserve(n);
  std::vector<char> seen(n, 0);
  for (int root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = 1;
    order.push_back(root);
    for (size_t head = order.size() - 1; head < order.size(); ++head) {
      const int i = order[head];
      for (int k = start[i]; k < start[i + 1]; ++k) {
        if (seen[neighbour[k]]) continue;
        seen[neighbour[k]] = 1;
        order.push_back(neighbour[k]);
      }
    }
  }
  return order;
}

void expand(const SymmetricMatrix& matrix, const std::vector<int>& position, SparseRows& out) {
  const int n = matrix.size;
  out.columns = n;
  out.start.assign(n + 1, 0);
  for (int c = 0; c < n; ++c) {
    for (int k = matrix.start[c]; k < matrix.start[c + 1]; ++k) {
      ++out.start[position[matrix.row[k]] + 1];
      if (matrix.row[k] != c) ++out.start[position[c] + 1];
    }
  }
  to_starts(out.start);
  out.column.resize(out.start[n]);
  out.value.resize(out.start[n]);
  std::vector<int> next(out.start.begin(), out.start.end() - 1);
  const auto put = [&](int i, int j, double v) {
    out.column[next[i]] = j;
    out.value[next[i]++] = v;
  };
  for (int c = 0; c < n; ++c) {
    for (int k = matrix.start[c]; k < matrix.start[c + 1]; ++k) {
      const int i = position[matrix.row[k]], j = position[c];
      put(i, j, matrix.value[k]);
      if (i != j) put(j, i, matrix.value[k]);
    }
  }
}

int find_strong(const SparseRows& m, double threshold, std::vector<char>& strong) {
  const std::vector<double> d = diagonal(m);
  const double squared = threshold * threshold;
  strong.resize(m.column.size(), 0);
  int changed = 0;
  for (int i = 0; i < m.rows(); ++i) {
    for (int k = m.start[i]; k < m.start[i + 1]; ++k) {
      const double v = m.value[k];
      const char now = v < 0 && v * v > squared * d[i] * d[m.column[k]];
      changed += strong[k] != now;
      strong[k] = now;
    }
  }
  return changed;
}

void form_aggregates(MultigridLevel& level) {
  const SparseRows& a = level.matrix;
  const int n = a.rows();
  std::vector<int>& aggregate = level.aggregate;
  aggregate.assign(n, -1);
  int count = 0;
  const auto for_strong = [&](int i, auto&& function) {
    for (int k = a.start[i]; k < a.start[i + 1]; ++k)
      if (level.strong[k]) function(a.column[k], -a.value[k]);
  };
  // whole neighbourhoods that touch no other aggregate
  for (int i = 0; i < n; ++i) {
    if (aggregate[i] >= 0) continue;
    bool free = true, alone = true;
    for_strong(i, [&](int j, double) { free = free && aggregate[j] < 0, alone = false; });
    if (!free || alone) continue;
    aggregate[i] = count;
    for_strong(i, [&](int j, double) { aggregate[j] = count; });
    ++count;
  }
  // rows between them join the one they are coupled to most
  std::vector<int> joined(n, -1);
  for (int i = 0; i < n; ++i) {
    if (aggregate[i] >= 0) continue;
    double best = 0;
    for_strong(i, [&](int j, double v) {
      if (aggregate[j] >= 0 && v > best) best = v, joined[i] = aggregate[j];
    });
  }
  for (int i = 0; i < n; ++i)
    if (joined[i] >= 0) aggregate[i] = joined[i];
  // what is left forms aggregates of its own
  for (int i = 0; i < n; ++i) {
    if (aggregate[i] >= 0) continue;
    bool alone = true;
    for_strong(i, [&](int j, double) {
      alone = false;
      if (aggregate[j] < 0) aggregate[j] = count;
    });
    if (!alone) aggregate[i] = count++;
  }
  level.aggregates = count;
}

void coarsen(MultigridLevel& level, SparseRows& next, bool keep) {
  smooth_prolongation(level, level.prolongation, keep);
  transpose(level.prolongation, level.restriction);
  SparseRows product;
  multiply(level.matrix, level.prolongation, product, false);
  multiply(level.restriction, product, next, keep);
}

void round_to_float(MultigridLevel& level, double scale) {
  const SparseRows& a = level.matrix;
  const auto copy = [](const std::vector<double>& from, double factor, std::vector<float>& to) {
    to.resize(from.size());
    for (size_t k = 0; k < from.size(); ++k) to[k] = float(from[k] * factor);
  };
  copy(a.value, 1 / scale, level.value);
  copy(level.prolongation.value, 1, level.prolongation_value);
  copy(level.restriction.value, 1, level.restriction_value);
  // the sum of the moduli of a row bounds the spectrum of D^-1 A by one: Baker et al. 2011, "Multigrid smoothers for
  // ultraparallel computing"
  level.inverse_diagonal.resize(a.rows());
  for (int i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (int k = a.start[i]; k < a.start[i + 1]; ++k) sum += std::abs(a.value[k]);
    level.inverse_diagonal[i] = sum > 0 ? float(scale / sum) : 0;
  }
}

double largest_diagonal(const SparseRows& matrix) {
  double out = 0;
  for (const double d : diagonal(matrix)) out = std::max(out, d);
  return out;
}

SymmetricMatrix lower_triangle(const SparseRows& m) {
  SymmetricMatrix out;
  out.size = m.rows();
  out.start.assign(out.size + 1, 0);
  for (int i = 0; i < m.rows(); ++i)
    for (int k = m.start[i]; k < m.start[i + 1]; ++k) out.start[m.column[k] + 1] += m.column[k] <= i;
  to_starts(out.start);
  out.row.resize(out.start[out.size]);
  out.value.resize(out.start[out.size]);
  std::vector<int> next(out.start.begin(), out.start.end() - 1);
  for (int i = 0; i < m.rows(); ++i) {  // rows in order, so each column ascends
    for (int k = m.start[i]; k < m.start[i + 1]; ++k) {
      if (m.column[k] > i) continue;
      const int p = next[m.column[k]]++;
      out.row[p] = i;
      out.value[p] = m.value[k];
    }
  }
  return out;
}

size_t bytes_of(const MultigridLevel& l) {
  const auto size = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  size_t sum = size(l.strong) + size(l.aggregate) + size(l.value) + size(l.prolongation_value) +
               size(l.restriction_value) + size(l.inverse_diagonal);
  for (const SparseRows* m : {&l.matrix, &l.prolongation, &l.restriction})
    sum += size(m->start) + size(m->column) + size(m->value);
  return sum;
}

}  // namespace verve
