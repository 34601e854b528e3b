// The column player's linear program, maximise the sum of x over A x <= 1, x >= 0, has a feasible start (x =
// 0), and its dual solution, the reduced costs of the slacks, is the row player's mix. Games here have some
// tens of rows and columns, so a dense tableau will do. Bland's rule after many pivots keeps it from cycling.

#include "bounds/matrix_game.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti::bounds {
namespace {

constexpr double kZero = 1e-11;
constexpr std::size_t kMostPivots = 2000, kPivotsBeforeBland = 500;

class Tableau {
  public:
    Tableau(const std::vector<std::vector<double>>& payoff, const std::vector<double>& room)
        : columns_(payoff.size()), rows_(room.size()), width_(columns_ + rows_ + 1) {
        double largest = 0;
        for (const auto& column : payoff) largest = std::max(largest, *std::ranges::max_element(column));
        cells_.assign((rows_ + 1) * width_, 0);
        for (std::size_t r = 0; r < rows_; ++r) {
            for (std::size_t c = 0; c < columns_; ++c) at(r, c) = payoff[c][r] / largest;
            at(r, columns_ + r) = 1;
            at(r, width_ - 1) = room[r];
        }
        for (std::size_t c = 0; c < columns_; ++c) at(rows_, c) = -1;
    }

    void solve() {
        for (std::size_t pivots = 0; pivots < kMostPivots; ++pivots) {
            const std::size_t column = entering(pivots > kPivotsBeforeBland);
            if (column + 1 >= width_) return;
            const std::size_t row = leaving(column);
            if (row == rows_) return;
            pivot(row, column);
        }
    }

    [[nodiscard]] std::vector<double> duals() const {
        std::vector<double> mix;
        double sum = 0;
        for (std::size_t r = 0; r < rows_; ++r) {
            mix.push_back(std::max(0.0, cells_[rows_ * width_ + columns_ + r]));
            sum += mix.back();
        }
        for (double& share : mix) share = sum > 0 ? share / sum : 1 / static_cast<double>(rows_);
        return mix;
    }

  private:
    double& at(std::size_t row, std::size_t column) { return cells_[row * width_ + column]; }

    std::size_t entering(bool first) {
        std::size_t best = width_ - 1;
        double least = -kZero;
        for (std::size_t c = 0; c + 1 < width_; ++c) {
            if (at(rows_, c) >= least) continue;
            best = c;
            if (first) return best;
            least = at(rows_, c);
        }
        return best;
    }

    std::size_t leaving(std::size_t column) {
        std::size_t best = rows_;
        double least = 0;
        for (std::size_t r = 0; r < rows_; ++r) {
            if (at(r, column) <= kZero) continue;
            const double ratio = at(r, width_ - 1) / at(r, column);
            if (best == rows_ || ratio < least) {
                best = r;
                least = ratio;
            }
        }
        return best;
    }

    void pivot(std::size_t row, std::size_t column) {
        const double scale = at(row, column);
        for (std::size_t c = 0; c < width_; ++c) at(row, c) /= scale;
        for (std::size_t r = 0; r <= rows_; ++r) {
            const double factor = at(r, column);
            if (r == row || factor == 0) continue;
            for (std::size_t c = 0; c < width_; ++c) at(r, c) -= factor * at(row, c);
        }
    }

    std::size_t columns_, rows_, width_;
    std::vector<double> cells_;
};

}  // namespace

std::vector<double> best_mix(const std::vector<std::vector<double>>& payoff) {
    Tableau tableau(payoff, std::vector<double>(payoff.front().size(), 1));
    tableau.solve();
    return tableau.duals();
}

std::vector<double> row_prices(const std::vector<std::vector<double>>& entry,
                               const std::vector<double>& room) {
    Tableau tableau(entry, room);
    tableau.solve();
    return tableau.duals();
}

}  // namespace tutti::bounds
