// SPDX-License-Identifier: MIT
// { dg-do run { target offload_device } }
// Templates, classes and lambdas in regions.
#include <cstdlib>

template <typename Number>
struct Vector
{
    Number x, y;
    Vector operator+(const Vector &other) const { return {x + other.x, y + other.y}; }
    Number length() const { return x * x + y * y; }
};

template <typename Number, typename Function>
static Number sum(int count, Function function)
{
    Number total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total)
    for (int i = 0; i < count; i++)
        total += function(Vector<Number>{Number(i), Number(1)});
    return total;
}

int main()
{
    int offset = 2;
    auto length = [offset](const auto &vector) {
        auto moved = vector + vector;
        return moved.length() + offset;
    };
    if (sum<double>(100, length) != 4 * (328350 + 100) + 200)
        std::abort();
    if (sum<long>(10, length) != 4 * (285 + 10) + 20)
        std::abort();
}
