// walks.cpp - in how many ways can a knight go from one corner of the chessboard to the opposite one
// in exactly k moves? From C++, without any CUDA header, with an element type of its own.
//
// Build   nvcc -O3 -c demos/c_caller/library.cu -o library.o
//         g++ -O2 -c demos/c_caller/walks.cpp -o walks.o
//         nvcc walks.o library.o -o walks
// or, without a GPU:
//         cpu/cucc demos/c_caller/library.cu demos/c_caller/walks.cpp -o walks
//
// Number the squares from 0 to 63 and let A(i, j) be 1 if a knight on i can move to j. Then
// (A^k)(i, j) is the number of walks of k moves from i to j. Squaring again and again takes log k
// products. Counts grow beyond 32 bits, hence 64-bit integers, whose products are exact modulo 2^64.
// The check goes move by move, by the rules of chess.
#include "../../tiledmm.cuh"
#define TMM_TYPE unsigned long long // the same three lines as in library.cu
#define TMM_NAME ull
#include "../../tiledmm.cuh"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

enum { SQUARES = 64 };
typedef unsigned long long number;

static bool is_move(int from, int to)
{
    int x = std::abs(from % 8 - to % 8), y = std::abs(from / 8 - to / 8);
    return x * y == 2;
}

struct matrix {
    std::vector<number> element;
    matrix() : element(SQUARES * SQUARES)
    {
    }
    number &operator()(int i, int j)
    {
        return element[i * SQUARES + j];
    }
};

static matrix operator*(const matrix &A, const matrix &B)
{
    matrix C;
    if (tmm_ullmatmul(SQUARES, SQUARES, SQUARES, A.element.data(), B.element.data(),
                      C.element.data()) != TMM_OK)
        throw std::runtime_error(tmm_last_error());
    return C;
}

static matrix power(matrix A, int k)
{
    matrix result;
    for (int i = 0; i < SQUARES; i++) result(i, i) = 1;
    for (; k > 0; k /= 2, A = A * A)
        if (k % 2) result = result * A;
    return result;
}

// The number of walks from square 0 to each square, move by move.
static std::vector<number> count_walks(int moves)
{
    std::vector<number> walks(SQUARES);
    walks[0] = 1;
    for (; moves > 0; moves--) {
        std::vector<number> next(SQUARES);
        for (int from = 0; from < SQUARES; from++)
            for (int to = 0; to < SQUARES; to++)
                if (is_move(from, to)) next[to] += walks[from];
        walks = next;
    }
    return walks;
}

// Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
// needs none.
static void check_output(void)
{
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout) &&
        (std::ftell(stdout) >= 0 || errno != EBADF))
        return;
    if (errno != EPIPE)
        std::fprintf(stderr, "walks: cannot write to standard output: %s\n", std::strerror(errno));
    std::_Exit(1);
}

int main()
{
    check_output();
    std::atexit(check_output);
    bool good = true;
    matrix A;
    for (int i = 0; i < SQUARES; i++)
        for (int j = 0; j < SQUARES; j++) A(i, j) = is_move(i, j);
    try {
        std::printf("%-8s%24s\n", "moves", "walks, corner to corner");
        for (int moves : {0, 1, 2, 6, 12, 24}) {
            matrix P = power(A, moves);
            std::vector<number> expected = count_walks(moves);
            for (int to = 0; to < SQUARES; to++) good = good && P(0, to) == expected[to];
            std::printf("%-8d%24llu\n", moves, P(0, SQUARES - 1));
        }
    } catch (const std::runtime_error &error) {
        std::fprintf(stderr, "walks: %s\n", error.what());
        good = false;
    }
    std::printf("Test %s\n", good ? "PASSED" : "FAILED");
    return !good;
}
