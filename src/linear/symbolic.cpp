// Davis 2006, "Direct Methods for Sparse Linear Systems", ch. 4: elimination tree, postorder, counts, supernodes.
#include "linear/symbolic.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace verve {

namespace {

/// Lower triangle by rows without the diagonal, in the order of elimination: columns[start[i] … start[i + 1]) < i.
struct LowerRows {
  std::vector<int> start, column;

  LowerRows(const SymmetricMatrix& m, const std::vector<int>& order) {
    std::vector<int> position(m.size);
    for (int k = 0; k < m.size; ++k) position[order[k]] = k;
    start.assign(m.size + 1, 0);
    const auto for_entries = [&](auto&& f) {
      for (int c = 0; c < m.size; ++c) {
        for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
          const int a = position[c], b = position[m.row[k]];
          if (a != b) f(std::max(a, b), std::min(a, b));
        }
      }
    };
    for_entries([&](int i, int) { ++start[i + 1]; });
    std::partial_sum(start.begin(), start.end(), start.begin());
    column.resize(start.back());
    std::vector<int> next(start.begin(), start.end() - 1);
    for_entries([&](int i, int j) { column[next[i]++] = j; });
  }
};

/// Liu 1986, with path compression.
std::vector<int> elimination_tree(const LowerRows& a) {
  const int n = int(a.start.size()) - 1;
  std::vector<int> parent(n, -1), ancestor(n, -1);
  for (int i = 0; i < n; ++i) {
    for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
      for (int j = a.column[k]; j != -1 && j < i;) {
        const int next = ancestor[j];
        ancestor[j] = i;
        if (next == -1) parent[j] = i;
        j = next;
      }
    }
  }
  return parent;
}

/// Nodes of a forest, children before parents and subtrees in one piece; brothers keep their order.
std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = int(parent.size());
  std::vector<int> child(n, -1), brother(n, -1), out, stack;
  for (int j = n - 1; j >= 0; --j)
    if (parent[j] >= 0) brother[j] = child[parent[j]], child[parent[j]] = j;
  out.reserve(n);
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int j = stack.back();
      if (child[j] >= 0) {
        stack.push_back(child[j]);
        child[j] = brother[child[j]];
      } else {
        out.push_back(j);
        stack.pop_back();
      }
    }
  }
  return out;
}

/// Entries of each column of the factor, diagonal included, by walking the subtree of each row.
std::vector<int> column_counts(const LowerRows& a, const std::vector<int>& parent) {
  const int n = int(parent.size());
  std::vector<int> count(n, 1), mark(n, -1);
  for (int i = 0; i < n; ++i) {
    mark[i] = i;
    for (int k = a.start[i]; k < a.start[i + 1]; ++k)
      for (int j = a.column[k]; mark[j] != i; j = parent[j]) ++count[j], mark[j] = i;
  }
  return count;
}

/// A supernode while the tree is still changing.
struct Node {
  int width = 0, rows = 0;  // width 0: taken into another node
  int parent = -1;
  std::vector<int> columns, children;
};

/// Time of a node in a solve, in the time to multiply one group of eight rows of a column, forward and back. Fitted to
/// measurements on meshes from 1 k to 100 k vertices; merging nodes trades zeros for fewer, wider panels.
double solve_cost(double width, double rows) {
  constexpr double per_node = 12, per_group = 2;
  const double groups = (rows + 7) / 8;  // not rounded up: the padding is a matter of luck
  return per_node + groups * (per_group + width);
}

/// Time to factorise a node of 3 x 3 blocks in float, in the same unit of about two nanoseconds: its flops, its columns
/// and its update matrix, which are cleared, filled and added to the parent's. Measured on the bar of PD Fig. 12 and
/// the hippo; half or twice of any of the four changes the whole by less than 5 %.
double factor_cost(double width, double rows) {
  constexpr double per_node = 200, per_column_entry = 0.15, per_update_entry = 0.10, per_flop = 0.012;
  const double w = 3 * width, r = 3 * rows, below = r - w;
  return per_node + per_column_entry * w * r + per_update_entry * below * below +
         per_flop * w * (r * r - r * w + w * w / 3);
}

using Cost = double (*)(double width, double rows);
Cost cost_for(Purpose purpose) { return purpose == Purpose::solving ? solve_cost : factor_cost; }

/// Maximal supernodes: a column joins the next one when they have the same rows.
std::vector<Node> fundamental_nodes(const std::vector<int>& parent, const std::vector<int>& count) {
  const int n = int(parent.size());
  std::vector<Node> nodes;
  std::vector<int> node_of(n);
  for (int j = 0; j < n; ++j) {
    if (j > 0 && parent[j - 1] == j && count[j - 1] == count[j] + 1) {
      ++nodes.back().width;
      nodes.back().columns.push_back(j);
    } else {
      nodes.push_back({1, count[j], -1, {j}, {}});
    }
    node_of[j] = int(nodes.size()) - 1;
  }
  for (size_t s = 0; s < nodes.size(); ++s) {
    const int above = parent[nodes[s].columns.back()];
    if (above < 0) continue;
    nodes[s].parent = node_of[above];
    nodes[node_of[above]].children.push_back(int(s));
  }
  return nodes;
}

/// Relaxed amalgamation (Ashcraft and Grimes 1989): a child is taken into its parent where that lowers the cost of
/// both. The best children first; grandchildren that move up have their turn in the next round.
void amalgamate(std::vector<Node>& nodes, Cost cost) {
  std::vector<std::pair<double, int>> by_gain;
  for (size_t s = 0; s < nodes.size(); ++s) {
    Node& node = nodes[s];
    const auto gain = [&](int c) {
      const Node& child = nodes[c];
      return cost(child.width, child.rows) + cost(node.width, node.rows) -
             cost(child.width + node.width, child.width + node.rows);
    };
    for (bool merged = true; merged;) {
      merged = false;
      by_gain.clear();
      for (const int c : node.children) by_gain.push_back({-gain(c), c});
      std::sort(by_gain.begin(), by_gain.end());
      node.children.clear();
      for (const auto& [unused, c] : by_gain) {
        Node& child = nodes[c];
        if (gain(c) <= 0) {
          node.children.push_back(c);
          continue;
        }
        merged = true;
        node.width += child.width;
        node.rows += child.width;
        node.columns.insert(node.columns.end(), child.columns.begin(), child.columns.end());
        for (const int grandchild : child.children) nodes[grandchild].parent = int(s);
        node.children.insert(node.children.end(), child.children.begin(), child.children.end());
        child = {};
      }
    }
    std::sort(node.columns.begin(), node.columns.end());
    std::sort(node.children.begin(), node.children.end());
  }
}

/// Children in the order that needs the least memory for update matrices (Liu 1986): those first that leave the
/// greatest part of their own peak free again.
void order_children(std::vector<Node>& nodes) {
  std::vector<double> peak(nodes.size()), left(nodes.size());
  for (size_t s = 0; s < nodes.size(); ++s) {
    Node& node = nodes[s];
    if (node.width == 0) continue;
    std::stable_sort(node.children.begin(), node.children.end(),
                     [&](int a, int b) { return peak[a] - left[a] > peak[b] - left[b]; });
    double stacked = 0;
    for (const int c : node.children) {
      peak[s] = std::max(peak[s], stacked + peak[c]);
      stacked += left[c];
    }
    const double below = node.rows - node.width;
    left[s] = below * below;
    peak[s] = std::max(peak[s], stacked + left[s]);
  }
}

/// Nodes with their final columns, in postorder.
void number_nodes(const std::vector<Node>& nodes, const std::vector<int>& order, Symbolic& out) {
  std::vector<int> final_node(nodes.size(), -1), stack, sequence;
  // reversed preorder with reversed children is a postorder
  for (int s = int(nodes.size()) - 1; s >= 0; --s) {
    if (nodes[s].width == 0 || nodes[s].parent >= 0) continue;
    stack.push_back(s);
    while (!stack.empty()) {
      const int t = stack.back();
      stack.pop_back();
      sequence.push_back(t);
      stack.insert(stack.end(), nodes[t].children.begin(), nodes[t].children.end());
    }
  }
  std::reverse(sequence.begin(), sequence.end());
  out.order.clear();
  out.order.reserve(order.size());
  for (size_t k = 0; k < sequence.size(); ++k) {
    const Node& node = nodes[sequence[k]];
    final_node[sequence[k]] = int(k);
    out.nodes.push_back({int(out.order.size()), node.width, node.rows, 0, -1, -1});
    for (const int column : node.columns) out.order.push_back(order[column]);
  }
  for (size_t k = 0; k < sequence.size(); ++k) {
    const int parent = nodes[sequence[k]].parent;
    out.nodes[k].parent = parent < 0 ? -1 : final_node[parent];
  }
}

/// Rows of every node: the columns of the matrix and the rows of the children.
void find_rows(const SymmetricMatrix& pattern, Symbolic& out) {
  const int n = out.size;
  // lower triangle by columns, which is the upper one by rows
  const LowerRows by_row(pattern, out.order);
  std::vector<int> start(n + 1, 0), lower(by_row.column.size());
  for (const int j : by_row.column) ++start[j + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<int> next(start.begin(), start.end() - 1);
  for (int i = 0; i < n; ++i)
    for (int k = by_row.start[i]; k < by_row.start[i + 1]; ++k) lower[next[by_row.column[k]]++] = i;

  std::vector<int> first_child(out.nodes.size(), -1), brother(out.nodes.size(), -1), mark(n, -1);
  for (size_t s = 0; s < out.nodes.size(); ++s) {
    Supernode& node = out.nodes[s];
    node.row_start = out.row.size();
    const int end = node.first + node.width;
    for (int j = node.first; j < end; ++j) out.row.push_back(j);
    const auto add = [&](int i) {
      if (i >= end && mark[i] != int(s)) mark[i] = int(s), out.row.push_back(i);
    };
    for (int k = start[node.first]; k < start[end]; ++k) add(lower[k]);
    for (int c = first_child[s]; c >= 0; c = brother[c]) {
      const Supernode& child = out.nodes[c];
      const size_t row_end = child.row_start + child.rows;
      for (size_t k = child.row_start + child.width; k < row_end; ++k) add(out.row[k]);
    }
    std::sort(out.row.begin() + node.row_start + node.width, out.row.end());
    node.rows = int(out.row.size() - node.row_start);
    if (node.parent >= 0) brother[s] = first_child[node.parent], first_child[node.parent] = int(s);
  }
}

/// Chooses the subtrees to be worked on at the same time and deals them out to tasks.
class Split {
 public:
  Split(Symbolic& symbolic, Purpose purpose)
      : s_(symbolic),
        purpose_(purpose),
        cost_of_(cost_for(purpose)),
        children_(s_.nodes.size()),
        subtree_(s_.nodes.size(), 0.0) {
    for (size_t k = 0; k < s_.nodes.size(); ++k) {
      subtree_[k] += cost(int(k));
      total_ += cost(int(k));
      if (const int parent = s_.nodes[k].parent; parent >= 0) {
        subtree_[parent] += subtree_[k];
        children_[parent].push_back(int(k));
      } else {
        heap_.push_back({subtree_[k], int(k)});
      }
    }
    std::make_heap(heap_.begin(), heap_.end());
  }

  /// Opens the heaviest subtree again and again and keeps the cut with the least time to be expected: opening evens out
  /// the load, but what is opened goes to the top, where threads have to wait for each other.
  void run() {
    std::vector<int> best;
    double best_time = 2 * total_ - overhead;
    while (!heap_.empty() && int(heap_.size()) < most_subtrees) {
      std::vector<int> roots;
      for (const auto& [work, node] : heap_) roots.push_back(node);
      std::sort(roots.begin(), roots.end());
      if (const double time = expected_time(roots, 2) + expected_time(roots, 8); time < best_time)
        best_time = time, best = roots;
      std::pop_heap(heap_.begin(), heap_.end());
      const int heaviest = heap_.back().second;
      heap_.pop_back();
      if (shared(heaviest)) {
        top_shared_ += cost(heaviest);
      } else {
        top_serial_ += cost(heaviest);
      }
      for (const int c : children_[heaviest]) {
        heap_.push_back({subtree_[c], c});
        std::push_heap(heap_.begin(), heap_.end());
      }
    }
    assign(best);
  }

 private:
  // In the unit of solve_cost, about two nanoseconds: two parallel regions.
  static constexpr double overhead = 2000;
  static constexpr int most_subtrees = 128, most_tasks = 32;

  double cost(int node) const { return cost_of_(s_.nodes[node].width, s_.nodes[node].rows); }
  /// All threads work on one panel where it is large.
  bool shared(int node) const {
    const Supernode& n = s_.nodes[node];
    if (purpose_ == Purpose::solving) return double(n.rows) * std::min(widest_panel, n.width) >= 2 * shared_part_values;
    const int width = std::min(widest_panel, 3 * n.width), below = 3 * n.rows - width;
    return double(below) * below * width >= shared_update_products;
  }

  double expected_time(const std::vector<int>& roots, int threads) const {
    double sum = 0, done = 0;
    for (const int r : roots) sum += subtree_[r];
    std::vector<double> load(threads, 0.0);
    for (const int r : roots) {
      load[share(done + 0.5 * subtree_[r], sum, threads)] += subtree_[r];
      done += subtree_[r];
    }
    return *std::max_element(load.begin(), load.end()) + top_serial_ + top_shared_ / threads;
  }
  static int share(double place, double sum, int count) { return std::min(count - 1, int(place / sum * count)); }

  void assign(const std::vector<int>& roots) {
    double sum = 0, done = 0;
    for (const int r : roots) sum += subtree_[r];
    const int count = std::min(most_tasks, int(roots.size()));
    for (const int r : roots) {
      s_.nodes[r].task = share(done + 0.5 * subtree_[r], sum, count);
      done += subtree_[r];
    }
    for (int k = int(s_.nodes.size()) - 1; k >= 0; --k)
      if (const int p = s_.nodes[k].parent; p >= 0 && s_.nodes[p].task >= 0) s_.nodes[k].task = s_.nodes[p].task;
    // a subtree that is more than a share leaves tasks beside it empty
    std::vector<int> number(count, -1);
    for (size_t k = 0; k < s_.nodes.size(); ++k) {
      int& task = s_.nodes[k].task;
      if (task < 0) {
        s_.top.push_back(int(k));
        continue;
      }
      if (number[task] < 0) {
        number[task] = int(s_.tasks.size());
        s_.tasks.emplace_back();
        s_.task_work.push_back(0.0);
      }
      task = number[task];
      s_.tasks[task].push_back(int(k));
      s_.task_work[task] += cost(int(k));
    }
  }

  Symbolic& s_;
  Purpose purpose_;
  Cost cost_of_;
  std::vector<std::vector<int>> children_;
  std::vector<double> subtree_;
  std::vector<std::pair<double, int>> heap_;  // work and root of subtrees, the heaviest in front
  double total_ = 0, top_serial_ = 0, top_shared_ = 0;
};

}  // namespace

Symbolic analyze(const SymmetricMatrix& pattern, const std::vector<int>& order, Purpose purpose) {
  Symbolic out;
  out.size = pattern.size;
  std::vector<int> parent = elimination_tree(LowerRows(pattern, order));
  const std::vector<int> sequence = postorder(parent);
  std::vector<int> sorted(pattern.size), sorted_parent(pattern.size), place(pattern.size);
  for (int k = 0; k < pattern.size; ++k) sorted[k] = order[sequence[k]], place[sequence[k]] = k;
  for (int k = 0; k < pattern.size; ++k) {
    const int p = parent[sequence[k]];
    sorted_parent[k] = p < 0 ? -1 : place[p];
  }
  const std::vector<int> count = column_counts(LowerRows(pattern, sorted), sorted_parent);
  for (const int c : count) out.nonzeros += c;
  std::vector<Node> nodes = fundamental_nodes(sorted_parent, count);
  amalgamate(nodes, cost_for(purpose));
  order_children(nodes);
  number_nodes(nodes, sorted, out);
  find_rows(pattern, out);
  Split(out, purpose).run();
  return out;
}

}  // namespace verve
