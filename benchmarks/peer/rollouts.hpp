// What the programs of all families share: the arrays of the caller, and playing its tasks.

#pragma once

#include <cstdint>
#include <vector>

namespace zank {

// An array [..., rows, lanes] of the caller.
template <class T>
struct Array {
    const T* data;

    T at(int64_t row, int64_t lane, int64_t lanes) const { return data[row * lanes + lane]; }
};

// Plays the games `root[i]` in world `world[i]`, as zank_kernel.rollout.run does.
template <class Game, class States, class Worlds>
void play(const States& states, const Worlds& worlds, const int32_t* root, const int32_t* world, int64_t tasks,
          int16_t* points, int8_t* ending, int16_t* moves) {
    std::vector<decltype(states.root(0))> roots;
    for (int64_t lane = 0; lane < states.lanes; ++lane) roots.push_back(states.root(lane));
    std::vector<decltype(worlds.world(0))> hidden;
    for (int64_t lane = 0; lane < worlds.lanes; ++lane) hidden.push_back(worlds.world(lane));
    for (int64_t task = 0; task < tasks; ++task) {
        const auto& start = roots[root[task]];
        if (start.ending) {  // it is its own result
            points[task] = int16_t(start.points);
            ending[task] = int8_t(start.ending);
            moves[task] = int16_t(start.moves);
            continue;
        }
        const auto outcome = Game(start, hidden[world[task]]).play();
        points[task] = int16_t(outcome.points);
        ending[task] = outcome.ending;
        moves[task] = int16_t(outcome.moves);
    }
}

}  // namespace zank
