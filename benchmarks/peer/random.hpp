// The counter-based random numbers of zank_kernel/random.py, for one game.

#pragma once

#include <cstdint>

namespace zank {

// Key of one stream of events.
struct Key {
    uint32_t first, second;
};

// Scrambles 32 bits: the finaliser `lowbias32` by Chris Wellons.
constexpr uint32_t mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

// 32 random bits for one event of a stream.
constexpr uint32_t bits(Key key, uint32_t event) { return mix(key.second ^ mix(key.first + event * 0x9E3779B9u)); }

// Maps 32 random bits to 0 ... count - 1.
constexpr uint32_t scale(uint32_t word, uint32_t count) { return uint32_t(uint64_t{word} * count >> 32); }

}  // namespace zank
