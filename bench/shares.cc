/* SPDX-License-Identifier: MIT */
/* shares: a C++ program that bench/shares records. It reads, sorts and counts
 * numbers. Every third of them throws an exception, which is caught ten frames
 * up, past strings that have to be destroyed. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static long parse(const std::string &text, int depth)
{
    std::string mine = text + "," + std::to_string(depth);
    if (depth > 0)
        return parse(text, depth - 1) + long(mine.size());
    return std::stol(text); // throws
}

int main(int argc, char **argv)
{
    const int end = argc > 1 ? std::stoi(argv[1]) : 30000;
    std::map<std::string, long> counts;
    std::vector<long> numbers;
    for (int i = 0; i < end; i++) {
        std::string text = std::to_string(i * 7919L % 30011);
        try {
            numbers.push_back(parse(i % 3 == 0 ? "x" + text : text, 10));
        } catch (const std::invalid_argument &e) {
            counts[e.what()]++;
        }
        counts[text.substr(0, 3)]++;
        if (i % 100 == 0)
            std::sort(numbers.begin(), numbers.end());
    }
    std::printf("%zu %zu\n", numbers.size(), counts.size());
}
