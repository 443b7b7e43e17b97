// Rollouts of Spite & Malice, one game after the other: what zank_kernel.rollout.run does with zank_kernel.malice.
//
// What costs time is a branch that cannot be foreseen and a read that waits for a write. So what the policy asks about
// is held in words of bits, which registers hold: ranks by hand slot, by side stack, by center stack. A question such
// as which is the first slot with a card that some center stack needs is a shift, an and and a count of zeros.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "random.hpp"
#include "rollouts.hpp"

namespace {

using zank::Array;

constexpr uint32_t KING = 13, QUEEN = 12, RANKS = 13;
constexpr int HAND = 5, SIDES = 4, PILES = 1 + SIDES, CENTERS = 4, PAYOFF = 30, DEPTH = 160;
constexpr uint32_t NO_CARD = 14;                     // stands for the rank on top of an empty side stack
constexpr int MOVE_LIMIT = 16'384, LIMIT_STEP = 16;  // rollout.MOVE_LIMIT, tested every rollout.REFILL_INTERVAL moves

enum Rules : uint8_t { WILD_STARTS = 1, SIDE_ENDS_TURN = 2, ENDS_WHEN_SHORT = 4, SHORTER_WINS = 8 };
enum Ending : int8_t { RUNNING = 0, OUT = 1, STOCK_OUT = 2, ADJUDICATED = 3 };

using Mask = uint32_t;  // a set of ranks: bit r is rank r

// A word of four lanes, one for each side or center stack, or of five slots, one for each card in hand.
constexpr int LANE = 16, SLOT = 12;
constexpr uint64_t LANES = 0x0001'0001'0001'0001;  // the first bit of every lane
constexpr uint64_t SLOTS = 0x0001'0010'0100'1001;  // the first bit of every slot

using Bytes = uint8_t __attribute__((vector_size(16)));
using Halves = uint64_t __attribute__((vector_size(16)));
using Scores = uint16_t __attribute__((vector_size(32)));  // by rank

// All lanes of a word in one.
constexpr Mask any_lane(uint64_t word) {
    const uint64_t pairs = word | word >> 2 * LANE;
    return (pairs | pairs >> LANE) & 0xFFFF;
}

// The scores of zank_kernel/malice/policy.py for a discard; those for the center are an order, see `Game::play`.
constexpr int DISCARD = 120, FOLLOW = 60, SAME = 40, EMPTY = 20, BURY = 2, BURY_KING = 30, KEEP_KING = 90;

struct Tables {
    // Of a discard: score << 5 | 3 - side.
    alignas(32) uint16_t discard[SIDES][NO_CARD + 1][16];  // [side][its top][card]
    // By rank of the other payoff card: what may be played without helping it, because the center stack has passed it
    // or stays more than four ranks away.
    Mask distant[16];
};

constexpr Tables tables = [] {
    Tables all{};
    for (int side = 0; side < SIDES; ++side)
        for (int top = 1; top <= int(NO_CARD); ++top)
            for (int card = 1; card <= int(KING); ++card) {
                const int drop = top - card;
                int place = drop > 1 ? 20 - BURY * drop : 10 + BURY * drop;
                if (top == int(KING)) place = drop == 1 ? 0 : -BURY_KING;
                if (top != int(KING) && drop == 1) place = FOLLOW;
                if (drop == 0) place = SAME;
                if (top == int(NO_CARD)) place = EMPTY;
                const int keep = card == int(KING) ? KEEP_KING - int(QUEEN) : -card;
                all.discard[side][top][card] = uint16_t((place - keep + DISCARD) << 5 | (SIDES - 1 - side));
            }
    for (int against = 0; against <= int(KING); ++against)
        for (int rank = 1; rank <= int(QUEEN); ++rank)
            if (rank >= against || against - rank - 1 > 4) all.distant[against] |= 1u << rank;
    return all;
}();

struct Hand {
    uint64_t naturals;  // in each slot, bit rank - 1 of a card that is not a king
    uint64_t kings;     // the first bit of the slots of kings
    uint64_t empty;     // the first bit of the slots without a card

    // Ranks of cards that are not kings.
    Mask ranks() const {
        const uint64_t pairs = naturals | naturals >> 2 * SLOT;
        return ((pairs | pairs >> SLOT | naturals >> 4 * SLOT) & 0xFFF) << 1;
    }

    void put(int slot, uint32_t rank) {
        naturals |= uint64_t{1u << rank >> 1 & 0xFFF} << slot;
        kings |= uint64_t{rank == KING} << slot;
        empty &= ~(uint64_t{1} << slot);
    }

    void take(int slot) {
        naturals &= ~(uint64_t{0xFFF} << slot);
        kings &= ~(uint64_t{1} << slot);
        empty |= uint64_t{1} << slot;
    }
};

// No member is a byte: a write to a byte may be one to anything, and makes the compiler read everything again.
struct Player {
    Hand hand;
    uint64_t tops;                    // side stacks: in each lane, the rank of the top
    uint64_t runs;                    // side stacks: in each lane, the ranks from the top downwards in sequence
    uint32_t event;                   // of the next draw: 2 * cards drawn + player
    uint32_t payoff_count;
    uint16_t card[HAND];              // in hand: rank by slot, 0 = empty
    uint16_t top[SIDES];              // side stacks: rank of the top, or NO_CARD
    uint16_t depth[SIDES];
    uint16_t payoff[1 + PAYOFF];      // ranks, bottom first, upon a 0
    uint16_t side[SIDES][1 + DEPTH];  // each card with its run, as in `runs`, bottom first, upon a 0

    uint32_t payoff_top() const { return payoff[payoff_count]; }

    int count_kings() const { return std::popcount(hand.kings | (tops >> KING & LANES) << 1); }

    void set_top(int lane, Mask run) {
        const uint64_t rest = ~(uint64_t{0xFFFF} << lane);
        top[lane / LANE] = uint16_t(std::countr_zero(run | 1u << NO_CARD));
        tops = (tops & rest) | uint64_t{run & -run} << lane;
        runs = (runs & rest) | uint64_t{run} << lane;
    }

    void push(int lane, uint32_t rank) {
        const Mask bit = 1u << rank, run = Mask(runs >> lane) & 0xFFFF;
        const Mask above = bit << 1 & ((1u << KING) - 1);  // nothing follows a king
        const Mask longer = (run & -run) == above ? run | bit : bit;
        side[lane / LANE][++depth[lane / LANE]] = uint16_t(longer);
        set_top(lane, longer);
    }

    void pop(int lane) { set_top(lane, side[lane / LANE][--depth[lane / LANE]]); }

    // Ranks in the runs that start at or above `rank`.
    Mask runs_from(uint32_t rank) const {
        const uint64_t below = ((uint64_t{1} << rank) - 1) * LANES;
        const uint64_t kept = ~((runs & below) + 0x7FFF * LANES) & 0x8000 * LANES;  // last bit of lanes with none below
        return any_lane(runs & (kept - (kept >> 15)));
    }
};

// The stock as numbers of cards of rank at most 1, 2, ... 13; the last number fills the rest.
struct Stock {
    Bytes ends;
    uint32_t count;

    // Draws card `index` of the cards in rank order: its rank.
    uint32_t draw(uint32_t index) {
        const auto below = ends <= uint8_t(index);
        ends += Bytes(~below);
        --count;
        return 1 + uint32_t(std::popcount(Halves(below)[0]) + std::popcount(Halves(below)[1])) / 8;
    }

    // A complete stack comes back, kings as kings (M9).
    void put_back(Mask kings) {
        constexpr Bytes heights{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        constexpr Bytes naturals{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12, 12};
        ends += naturals;
        for (; kings; kings &= kings - 1)
            ends += Bytes((heights >= uint8_t(std::countr_zero(kings))) & (heights < uint8_t(QUEEN)));
        count += QUEEN;
    }
};

struct Centers {
    uint64_t needs;  // in each lane, the rank that the stack needs; none where there is no stack
    uint64_t kings;  // in each lane, bit h: the card at height h + 1 is a king
};

// A position without its hidden cards, prepared for many games.
struct Root {
    Player players[2];
    Centers centers;
    Bytes stock;
    uint8_t hand[2][HAND];
    int16_t moves, points;
    int8_t ending;
    uint8_t rules, mover;
    bool due;
};

// The hidden cards of one game.
struct World {
    Bytes stock;
    zank::Key key;
    uint8_t hand[2][HAND];
    uint16_t payoff[2][PAYOFF];
};

struct Outcome {
    int points;
    Ending ending;
    int moves;
};

class Game {
public:
    Game(const Root& root, const World& world)
        : players{root.players[0], root.players[1]},
          centers(root.centers),
          stock{root.stock + world.stock, 0},
          key(world.key),
          rules(root.rules),
          wild(((1u << KING) - 1) & ~(root.rules & WILD_STARTS ? 1u : 3u)),
          mover(&players[root.mover]),
          other(&players[1 - root.mover]),
          moves(root.moves),
          due(root.due) {
        stock.count = stock.ends[RANKS - 1];
        for (int index = 0; index < 2; ++index) {
            std::memcpy(players[index].payoff + 1, world.payoff[index], sizeof world.payoff[index]);
            for (int slot = 0; slot < HAND; ++slot)
                if (const auto rank = uint32_t(root.hand[index][slot] + world.hand[index][slot]); rank) {
                    players[index].card[slot] = uint16_t(rank);
                    players[index].hand.put(slot * SLOT, rank);
                }
        }
    }

    // Plays to the end. The policy's order: the payoff card; a card on the cheapest covered path to it; one that shuts
    // the other payoff card out; one that does not help it; a discard.
    Outcome play() {
        const int limit = std::max(moves + LIMIT_STEP, MOVE_LIMIT + (moves & (LIMIT_STEP - 1)));
        for (; moves != limit; ++moves) {
            if (due && !draw()) return stock_out();
            const Mask needed = any_lane(centers.needs);
            const uint32_t own = mover->payoff_top(), against = other->payoff_top();
            const uint32_t rank = own != KING ? own : for_king(needed, against);
            if (needed >> rank & 1) {
                if (--mover->payoff_count == 0) return won();
                advance(rank, own == KING);
                continue;
            }
            const uint32_t start = path(needed, own);
            if (start && play_for(start)) continue;
            if (needed >> against & 1 && play_for(against)) continue;
            if (play_any(needed & tables.distant[against])) continue;
            if (mover->hand.empty == SLOTS) break;  // no move at all
            discard();
        }
        return {0, ADJUDICATED, moves};
    }

private:
    // Fills the mover's hand (M2, M8); false if that ends the game (M11).
    bool draw() {
        const auto wanted = uint32_t(std::popcount(mover->hand.empty));
        due = false;
        if (stock.count <= wanted && wanted && (stock.count < wanted || !(rules & ENDS_WHEN_SHORT))) return false;
        // Copies, so that no card waits for the one before to be written.
        Player& player = *mover;
        Hand hand = player.hand;
        Stock left = stock;
        uint32_t event = player.event;
        for (uint64_t slots = hand.empty; slots; slots &= slots - 1) {
            const uint32_t rank = left.draw(zank::scale(zank::bits(key, event), left.count));
            const int slot = std::countr_zero(slots);
            player.card[slot / SLOT] = uint16_t(rank);
            hand.put(slot, rank);
            event += 2;
        }
        player.hand = hand;
        player.event = event;
        stock = left;
        return true;
    }

    // The rank that the payoff king stands for: on the first center stack where it does not help the other player,
    // else on the first that it fits; 0 = there is none (M4).
    uint32_t for_king(Mask needed, uint32_t against) const {
        const Mask fitting = needed & wild, better = fitting & tables.distant[against];
        const uint64_t lanes = centers.needs & (better ? better : fitting) * LANES;
        return lanes ? uint32_t(std::countr_zero(lanes)) % LANE : 0;
    }

    // Where the cheapest covered path to the payoff card starts, as the rank needed there: it takes fewest kings and is
    // the shortest of those; 0 = there is none.
    uint32_t path(Mask needed, uint32_t own) const {
        const Mask held = mover->hand.ranks(), end = own < KING ? 1u << own : 1;
        int fewest = mover->count_kings() + 1;
        uint32_t start = 0;
        for (Mask starts = needed & (end - 1); starts && fewest;) {
            const auto rank = uint32_t(31 - std::countl_zero(starts));
            starts ^= 1u << rank;
            const int missing = std::popcount((end - (1u << rank)) & ~(held | mover->runs_from(rank)));
            if (missing < fewest) fewest = missing, start = rank;
        }
        return start;
    }

    // Plays to the first center stack that needs `rank`, if that can be: a natural card rather than a king, and from
    // hand rather than from a side stack.
    bool play_for(uint32_t rank) {
        if (const uint64_t slots = mover->hand.naturals >> (rank - 1) & SLOTS) {
            play_hand(std::countr_zero(slots), rank, false);
        } else if (const uint64_t lanes = mover->tops >> rank & LANES) {
            play_side(std::countr_zero(lanes), rank, false);
        } else if (!(wild >> rank & 1)) {
            return false;
        } else if (mover->hand.kings) {
            play_hand(std::countr_zero(mover->hand.kings), rank, true);
        } else if (const uint64_t lanes = mover->tops >> KING & LANES) {
            play_side(std::countr_zero(lanes), rank, true);
        } else {
            return false;
        }
        return true;
    }

    // Plays the first natural card of `ranks`, if there is one, from hand rather than from a side stack.
    bool play_any(Mask ranks) {
        if (const uint64_t cards = mover->hand.naturals & (ranks >> 1) * SLOTS) {
            const int bit = std::countr_zero(cards);
            play_hand(bit / SLOT * SLOT, uint32_t(bit % SLOT) + 1, false);
        } else if (const uint64_t cards = mover->tops & ranks * LANES) {
            const int bit = std::countr_zero(cards);
            play_side(bit / LANE * LANE, uint32_t(bit % LANE), false);
        } else {
            return false;
        }
        return true;
    }

    void play_hand(int slot, uint32_t rank, bool king) {
        mover->hand.take(slot);
        mover->card[slot / SLOT] = 0;
        due = mover->hand.empty == SLOTS;  // M8
        advance(rank, king);
    }

    void play_side(int lane, uint32_t rank, bool king) {
        mover->pop(lane);
        advance(rank, king);
        if (rules & SIDE_ENDS_TURN) end_turn();  // M6
    }

    // One card more on the first center stack that needs `rank` (M3), which is taken away when complete (M9).
    void advance(uint32_t rank, bool king) {
        const int lane = std::countr_zero(centers.needs >> rank & LANES);
        centers.kings |= uint64_t{king} << (rank - 1) << lane;
        if (rank != QUEEN) {
            centers.needs += uint64_t{1} << rank << lane;  // the bit moves up
            return;
        }
        const uint64_t kings = centers.kings & uint64_t{0xFFFF} << lane;
        centers.needs ^= (uint64_t{1} << QUEEN | uint64_t{1} << 1) << lane;
        centers.kings ^= kings;
        stock.put_back(Mask(kings >> lane));
    }

    // Puts the card with the best score on the side stack where it has it, the first of equals (M6).
    void discard() {
        const auto larger = [](auto one, auto two) { return one > two ? one : two; };
        const auto scores = [&](int side) {
            Scores row;
            std::memcpy(&row, tables.discard[side][mover->top[side]], sizeof row);
            return row;
        };
        const Scores best = larger(larger(scores(0), scores(1)), larger(scores(2), scores(3)));
        const auto choices = [&](int slot) { return best[mover->card[slot]] + ((HAND - 1 - slot) << 2); };
        const int choice = larger(larger(larger(choices(0), choices(1)), larger(choices(2), choices(3))), choices(4));
        const int slot = HAND - 1 - (choice >> 2 & 7), side = SIDES - 1 - (choice & 3);
        mover->push(side * LANE, mover->card[slot]);
        mover->hand.take(slot * SLOT);
        mover->card[slot] = 0;
        end_turn();
    }

    void end_turn() {
        std::swap(mover, other);
        due = true;  // M2
    }

    // M10, M12: the winner gets what the loser's payoff pile has left.
    Outcome won() const {
        const auto left = int(other->payoff_count);
        return {mover == players ? left : -left, OUT, moves + 1};
    }

    // M11
    Outcome stock_out() const {
        const int lead = int(players[1].payoff_count) - int(players[0].payoff_count);
        return {rules & SHORTER_WINS ? lead : 0, STOCK_OUT, moves};
    }

    Player players[2];
    Centers centers;
    Stock stock;
    zank::Key key;
    uint32_t rules;
    Mask wild;  // ranks that a king can stand for (M4)
    Player* mover;
    Player* other;
    int moves;
    bool due;  // the mover has cards to draw
};

// The fields of zank_kernel.malice.State, in order.
struct States {
    Array<uint16_t> rules, mover, pile, count, top, hand, needed, kings, stock;
    Array<uint8_t> due;
    Array<uint16_t> drawn;
    Array<uint32_t> key;
    Array<int16_t> moves;
    Array<int8_t> ending;
    Array<int16_t> points;
    int64_t lanes;

    Root root(int64_t lane) const;
};

// The fields of zank_kernel.malice.World, in order.
struct Worlds {
    Array<int8_t> payoff, hand;
    Array<int16_t> stock;
    Array<uint32_t> key;
    int64_t lanes;

    World world(int64_t lane) const;
};

Root States::root(int64_t lane) const {
    Root root{};
    root.rules = uint8_t(rules.at(0, lane, lanes));
    root.mover = uint8_t(mover.at(0, lane, lanes));
    root.due = due.at(0, lane, lanes);
    root.moves = moves.at(0, lane, lanes);
    root.points = points.at(0, lane, lanes);
    root.ending = ending.at(0, lane, lanes);
    for (int index = 0; index < 16; ++index)
        root.stock[index] = uint8_t(stock.at(std::min(index, int(RANKS) - 1), lane, lanes));
    for (int stack = 0; stack < CENTERS; ++stack) {
        root.centers.needs |= uint64_t{needed.at(stack, lane, lanes)} << stack * LANE;
        root.centers.kings |= uint64_t{kings.at(stack, lane, lanes)} << stack * LANE;
    }
    for (int index = 0; index < 2; ++index) {
        Player& player = root.players[index];
        player.hand.empty = SLOTS;
        player.event = uint32_t(2 * drawn.at(index, lane, lanes) + index);
        player.payoff_count = count.at(index * PILES, lane, lanes);
        for (int slot = 0; slot < HAND; ++slot)
            if (const auto bit = hand.at(index * HAND + slot, lane, lanes))
                root.hand[index][slot] = uint8_t(std::countr_zero(bit));
        for (int stack = 0; stack < SIDES; ++stack) {
            const int column = index * PILES + 1 + stack;
            player.top[stack] = NO_CARD;
            for (int depth = 1; depth <= count.at(column, lane, lanes); ++depth)
                player.push(stack * LANE, uint32_t(std::countr_zero(pile.at(depth * 2 * PILES + column, lane, lanes))));
        }
    }
    return root;
}

World Worlds::world(int64_t lane) const {
    World world{};
    int sum = 0;
    for (int index = 0; index < 16; ++index) {
        if (index < int(RANKS)) sum += stock.at(index, lane, lanes);
        world.stock[index] = uint8_t(sum);
    }
    world.key = {key.at(0, lane, lanes), key.at(1, lane, lanes)};
    for (int index = 0; index < 2; ++index) {
        for (int slot = 0; slot < HAND; ++slot)
            world.hand[index][slot] = uint8_t(hand.at(index * HAND + slot, lane, lanes));
        for (int card = 0; card < PAYOFF; ++card)
            world.payoff[index][card] = uint16_t(payoff.at(index * PAYOFF + card, lane, lanes));
    }
    return world;
}

}  // namespace

extern "C" void malice_rollouts(const States* states, const Worlds* worlds, const int32_t* root, const int32_t* world,
                                int64_t tasks, int16_t* points, int8_t* ending, int16_t* moves) {
    zank::play<Game>(*states, *worlds, root, world, tasks, points, ending, moves);
}
