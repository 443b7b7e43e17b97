// Rollouts of Russian Bank, one game after the other: what zank_kernel.rollout.run does with zank_kernel.bank.
//
// A card is 16 * suit + rank, as in the kernel, so that a set of cards is a word of 64 bits. What the policy asks about
// is held in such sets: the cards that the foundations take, those that can be loaded, the tops of the tableau piles,
// the cards alone in a pile. Which of the tops goes somewhere is then an and; where it lies, a look into a table, is
// needed only to move it, and nothing that is decided next waits for that.
//
// The rules that bar moves (S5, S6, R4, C3) need no look: what they wait for, the policy does before all that they bar.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "rollouts.hpp"

namespace {

using zank::Array;

constexpr int SUITS = 4, SUIT = 16, PILES = 8, RUN = 13, RESERVE = 104, QUEUE = 128, WIN = 30;
constexpr int COLUMNS = PILES + 4, UNKNOWN = 64;     // of the kernel's state
constexpr int HIDDEN_RESERVE = 13, HIDDEN_STOCK = 52;
constexpr int FACES = 64;                            // numbers that a card can have
constexpr int MOVE_LIMIT = 16'384, LIMIT_STEP = 16;  // rollout.MOVE_LIMIT, tested every rollout.REFILL_INTERVAL moves

// The rule bits that tell the orders of play apart as far as the policy is concerned, and the one that scores.
enum Rules : uint32_t { RESERVE_FIRST = 1 << 4, RESERVE_FILLS_SPACE = 1 << 5, STALEMATE_SCORES = 1 << 11 };
enum Ending : int8_t { RUNNING = 0, OUT = 1, ADJUDICATED = 3, STALEMATE = 4 };

using Card = uint32_t;   // 0 is no card
using Cards = uint64_t;  // a set of cards: bit c is card c
using Piles = uint32_t;  // a set of tableau piles

constexpr Cards ACES = 0x0002'0002'0002'0002, ALL = 0x3FFE'3FFE'3FFE'3FFE;

constexpr Cards only(Card card) { return Cards{1} << card; }
constexpr bool holds(Cards cards, Card card) { return cards >> card & 1; }

// The cards that go on one of the tops (B3): one rank lower and of the other colour. Suits 1 and 2 are red.
constexpr Cards accepted(Cards tops) {
    const Cards lower = tops >> 1 & ALL;
    const Cards black = (lower | lower >> 3 * SUIT) & 0xFFFF, red = (lower >> SUIT | lower >> 2 * SUIT) & 0xFFFF;
    return red | black << SUIT | black << 2 * SUIT | red << 3 * SUIT;
}

struct Tables {
    Cards takers[FACES];  // by card: the tops of tableau piles that take it (B3)
    Cards loads[FACES];   // by top of a reserve or waste: the cards that can be loaded upon it (B4)
};

constexpr Tables tables = [] {
    Tables all{};
    for (Card card = 0; card < FACES; ++card) {
        if (!holds(ALL, card)) continue;
        for (Card top = 0; top < FACES; ++top)
            if (holds(ALL, top) && holds(accepted(only(top)), card)) all.takers[card] |= only(top);
        all.loads[card] = (only(card + 1) | only(card - 1)) & ALL;
    }
    return all;
}();

// A set of cards that can hold both copies of a card.
struct Copies {
    Cards once, twice;

    // Of each of the cards, one more or less.
    void add(Cards cards) {
        twice |= once & cards;
        once |= cards;
    }

    void drop(Cards cards) {
        const Cards both = twice & cards;
        twice ^= both;
        once ^= cards ^ both;
    }
};

struct Tableau {
    Copies tops;
    Copies alone;  // the cards that are all of their pile
    Piles spaces;
    Piles at[FACES];  // by card, the piles with it on top
    uint32_t depth[PILES];
    Card pile[PILES][1 + RUN];  // bottom first, upon a 0

    // Which of these tops is on the first pile.
    Card first(Cards cards) const {
        auto card = Card(std::countr_zero(cards));
        while (cards &= cards - 1) {
            const auto next = Card(std::countr_zero(cards));
            card = (at[card] & -at[card]) < (at[next] & -at[next]) ? card : next;
        }
        return card;
    }

    // The first pile but these that consists of one of these cards; -1 if there is none.
    int first_alone(Cards cards, Piles barred) const {
        Piles piles = 0;
        for (; cards; cards &= cards - 1) piles |= at[std::countr_zero(cards)];
        piles &= ~barred;
        while (piles && depth[std::countr_zero(piles)] != 1) piles &= piles - 1;
        return piles ? std::countr_zero(piles) : -1;
    }

    void fill(int index, Card card) {
        spaces &= ~(1u << index);
        tops.add(only(card));
        alone.add(only(card));
        at[card] |= 1u << index;
        depth[index] = 1;
        pile[index][1] = card;
    }

    void put(int index, Card top, Card card) {
        tops.drop(only(top));
        tops.add(only(card));
        at[top] ^= 1u << index;
        at[card] |= 1u << index;
        const uint32_t count = ++depth[index];
        pile[index][count] = card;
        alone.drop(Cards{count == 2} << top);
    }

    // Puts a card on the first pile with this top.
    void put(Card top, Card card) { put(std::countr_zero(at[top]), top, card); }

    void take(int index, Card card) {
        const uint32_t count = --depth[index];
        const Card under = pile[index][count];
        tops.drop(only(card));
        tops.add(Cards{under != 0} << under);
        at[card] ^= 1u << index;
        at[under] |= 1u << index;
        spaces |= Piles{under == 0} << index;
        alone.drop(Cards{count == 0} << card);
        alone.add(Cards{count == 1} << under);
    }

    // Takes this top from the first pile that has it.
    void take(Card card) { take(std::countr_zero(at[card]), card); }
};

struct Player {
    // The stock is queue[head … turned - 1], the waste queue[turned … tail - 1], all modulo QUEUE.
    uint32_t head, turned, tail;
    uint32_t reserve_count;
    int quiet;
    Card queue[QUEUE];
    Card reserve[1 + RESERVE];  // bottom first, upon a 0

    Card reserve_top() const { return reserve[reserve_count]; }
    Card waste_top() const { return turned == tail ? 0 : queue[(tail - 1) % QUEUE]; }
    int hand() const { return int(tail - head); }
    int weight() const { return hand() + 2 * int(reserve_count); }
    bool out() const { return (reserve_count | (tail - head)) == 0; }  // B8, if no card is drawn
    bool still() const { return quiet >= std::max(hand(), 1); }        // B10
    void throw_on_waste(Card card) { queue[tail++ % QUEUE] = card; }

    // The next card of the stock, for which the waste is turned over when the stock is out (B6).
    Card turn() {
        if (head == turned) turned = tail;
        return queue[head++ % QUEUE];
    }
};

// A position without its hidden cards, prepared for many games.
struct Root {
    Player players[2];
    Tableau tableau;
    Cards needs[2];
    uint32_t rules, begun;
    int mover, drawn, max_turns, turns, moves, points;
    Ending ending;
    bool opening;
};

// The hidden cards of one game.
struct World {
    Card reserve[2][HIDDEN_RESERVE], stock[2][HIDDEN_STOCK];
};

struct Outcome {
    int points;
    Ending ending;
    int moves;
};

class Game {
public:
    Game(const Root& root, const World& world)
        : tableau(root.tableau),
          first_needs(root.needs[0]),
          second_needs(root.needs[1]),
          players{root.players[0], root.players[1]},
          mover(&players[root.mover]),
          other(&players[1 - root.mover]),
          drawn(Card(root.drawn)),
          rules(root.rules),
          begun(root.begun),
          shifted(root.moves),
          max_turns(root.max_turns > 0 ? root.max_turns : std::numeric_limits<int>::max()),
          turns(root.turns),
          moves(root.moves),
          limit(std::max(moves + LIMIT_STEP, MOVE_LIMIT + (moves & (LIMIT_STEP - 1)))),
          opening(root.opening) {
        for (int index = 0; index < 2; ++index) {
            Player& player = players[index];
            for (int card = 0; card < HIDDEN_RESERVE; ++card) player.reserve[1 + card] += world.reserve[index][card];
            for (int card = 0; card < HIDDEN_STOCK; ++card) player.queue[card] += world.stock[index][card];
        }
        if (root.drawn == UNKNOWN) drawn = mover->queue[(mover->head - 1) % QUEUE];
        look();
    }

    // Plays to the end. No turn goes on for ever, so that it is enough to see afterwards which game was too long.
    Outcome play() {
        const Outcome outcome = rules & RESERVE_FIRST         ? play<RESERVE_FIRST>()
                                : rules & RESERVE_FILLS_SPACE ? play<RESERVE_FILLS_SPACE>()
                                                              : play<0>();
        return outcome.moves > limit ? Outcome{0, ADJUDICATED, limit} : outcome;
    }

private:
    template <uint32_t ORDER>
    Outcome play() {
        while (opening && build_top(wanted() & ACES)) continue;  // S1
        if (drawn) {  // only in a root: else a drawn card leads to its move at once
            if (settle<ORDER, true>()) return won();
            if (drawn) {
                const Card card = std::exchange(drawn, 0);
                if (place(card)) {
                    if (mover->out()) return won();
                } else {
                    mover->throw_on_waste(card);
                    if (end_turn()) return over();
                }
            }
        }
        for (;;) {
            if (settle<ORDER, false>()) return won();
            if (mover->head != mover->tail) {
                const Card card = mover->turn();
                ++moves;
                if (place(card)) {
                    if (mover->out()) return won();
                    continue;
                }
                mover->throw_on_waste(card);
            }
            if (end_turn()) return over();
        }
    }

    // Plays all that the policy does before it turns the stock or, of a drawn card, before this goes anywhere but to a
    // foundation; true if that wins the game.
    template <uint32_t ORDER, bool DRAWN>
    bool settle() {
        for (;;) {
            const Card card = mover->reserve_top();
            if (holds(wanted(), card)) {
                build(card);
            } else if (DRAWN && holds(wanted(), drawn)) {
                build(std::exchange(drawn, 0));
                if (mover->out()) return true;
                continue;
            } else if (ORDER != RESERVE_FIRST && build_top(wanted())) {
                continue;
            } else if (ORDER == RESERVE_FILLS_SPACE && card && tableau.spaces) {
                to_space(card);  // R3
            } else if (DRAWN && ORDER == RESERVE_FILLS_SPACE && drawn) {
                return false;  // R5
            } else if (const Cards takers = tableau.tops.once & tables.takers[card]) {
                to_pile(takers, card);
            } else if (holds(loadable, card)) {
                load(card);
            } else if (card && tableau.spaces) {
                to_space(card);
            } else if ((ORDER == RESERVE_FIRST && build_top(wanted())) || load_top() || (card && make_space())) {
                continue;
            } else {
                return false;
            }
            if (--mover->reserve_count == 0 && mover->out() && !drawn) return true;
        }
    }

    // Moves the drawn card, if it goes anywhere. It never has a space to go to when there is a reserve (S5, R3, C3).
    bool place(Card card) {
        if (holds(wanted(), card)) {
            build(card);
        } else if (holds(loadable, card)) {
            load(card);
        } else if (const Cards takers = tableau.tops.once & tables.takers[card]) {
            to_pile(takers, card);
        } else if (tableau.spaces) {
            to_space(card);
        } else {
            return false;
        }
        return true;
    }

    // The cards that the foundations need next.
    Cards wanted() const { return first_needs | second_needs; }

    // One card more on the first foundation that needs it (B2).
    void build(Card card) {
        const Cards bit = only(card), first = first_needs & bit;
        first_needs += first;  // the bit moves up
        second_needs += bit ^ first;
        made_progress();
    }

    // Builds the first of these cards that is on top of a pile; false if none is.
    bool build_top(Cards cards) {
        const Cards up = tableau.tops.once & cards;
        if (!up) return false;
        const Card card = tableau.first(up);
        tableau.take(card);
        build(card);
        return true;
    }

    // Loads the first top that can be loaded; false if none can.
    bool load_top() {
        const Cards tops = tableau.tops.once & loadable;
        if (!tops) return false;
        const Card card = tableau.first(tops);
        tableau.take(card);
        load(card);
        return true;
    }

    // Puts a reserve or drawn card on the first pile with one of these tops.
    void to_pile(Cards takers, Card card) {
        tableau.put(tableau.first(takers), card);
        made_progress();
    }

    void to_space(Card card) {
        tableau.fill(std::countr_zero(tableau.spaces), card);
        made_progress();
    }

    // Moves the only card of the first pile that can be emptied so to another pile; false if there is none.
    bool make_space() {
        const Cards cards = tableau.alone.once & accepted(tableau.tops.once);
        if (!cards) return false;
        // A card that a tableau move has just brought to a space stays there (B12).
        const int index = tableau.first_alone(cards, moves == shifted ? begun : 0);
        if (index < 0) return false;
        shifted += moves == shifted;
        const Card card = tableau.pile[index][1];
        tableau.take(index, card);
        tableau.put(tableau.first(tableau.tops.once & tables.takers[card]), card);
        ++moves;
        return true;
    }

    // Loads the other player's reserve rather than the waste (B4).
    void load(Card card) {
        const bool up = holds(onto_reserve, card);
        *(up ? other->reserve + other->reserve_count + 1 : other->queue + other->tail % QUEUE) = card;
        other->reserve_count += up;
        other->tail += !up;
        onto_reserve = up ? tables.loads[card] : onto_reserve;
        onto_waste = up ? onto_waste : tables.loads[card];
        loadable = onto_reserve | onto_waste;
        ++moves;
    }

    // Which cards can be loaded, as a turn begins.
    void look() {
        onto_reserve = tables.loads[other->reserve_top()];
        onto_waste = tables.loads[other->waste_top()];
        loadable = onto_reserve | onto_waste;
    }

    void made_progress() {
        progress = true;
        ++moves;
    }

    // Passes the turn (B7); true if that ends the game (B10), or the game is too long.
    bool end_turn() {
        ++moves;
        ++turns;
        if (progress) mover->quiet = other->quiet = 0;
        progress = false;
        ++mover->quiet;
        stale = mover->still() && other->still();
        if (stale || turns >= max_turns || moves > limit) return true;
        std::swap(mover, other);
        look();
        return false;
    }

    // B9
    Outcome won() const {
        const int points = WIN + other->weight();
        return {mover == players ? points : -points, OUT, moves};
    }

    // S8, R6, C5
    Outcome over() const {
        const int lead = players[1].weight() - players[0].weight();
        return {rules & STALEMATE_SCORES ? lead : 0, stale ? STALEMATE : ADJUDICATED, moves};
    }

    Tableau tableau;
    Cards first_needs, second_needs;           // of each suit, what either of its foundations needs next
    Cards onto_reserve, onto_waste, loadable;  // cards that can be loaded, where to, and all of them
    Player players[2];
    Player* mover;
    Player* other;
    Card drawn;
    uint32_t rules;
    Piles begun;   // by tableau moves in spaces before the root …
    int shifted;   // … and how many moves were played until another kind of move came
    int max_turns, turns, moves, limit;  // limit: moves after which a game is cut off
    bool opening;
    bool progress = false;  // in this turn (B10)
    bool stale = false;
};

// The fields of zank_kernel.bank.State, in order.
struct States {
    Array<uint16_t> rules, max_turns, mover, foundation, pile, count, top, head, stock, waste, drawn, begun;
    Array<bool> opening;
    Array<uint16_t> quiet, turns;
    Array<int16_t> moves;
    Array<int8_t> ending;
    Array<int16_t> points;
    int64_t lanes;

    Root root(int64_t lane) const;
};

// The fields of zank_kernel.bank.World, in order.
struct Worlds {
    Array<int8_t> reserve, stock;
    int64_t lanes;

    World world(int64_t lane) const;
};

Root States::root(int64_t lane) const {
    Root root{};
    root.rules = uint32_t(rules.at(0, lane, lanes));
    root.max_turns = max_turns.at(0, lane, lanes);
    root.mover = mover.at(0, lane, lanes);
    root.drawn = drawn.at(0, lane, lanes);
    root.begun = uint32_t(begun.at(0, lane, lanes)) >> 1;
    root.opening = opening.at(0, lane, lanes);
    root.turns = turns.at(0, lane, lanes);
    root.moves = moves.at(0, lane, lanes);
    root.ending = Ending(ending.at(0, lane, lanes));
    root.points = points.at(0, lane, lanes);
    for (int suit = 0; suit < SUITS; ++suit)
        for (int copy = 0; copy < 2; ++copy)
            root.needs[copy] |= only(Card(SUIT * suit + foundation.at(SUITS * copy + suit, lane, lanes) + 1));
    root.tableau.spaces = (1u << PILES) - 1;
    const auto card = [&](int place, int column) { return Card(pile.at(place * COLUMNS + column, lane, lanes)); };
    for (int index = 0; index < PILES; ++index)
        for (int place = 0; place < count.at(index, lane, lanes); ++place)
            place ? root.tableau.put(index, card(place - 1, index), card(place, index))
                  : root.tableau.fill(index, card(place, index));
    for (int index = 0; index < 2; ++index) {
        Player& player = root.players[index];
        player.reserve_count = uint32_t(count.at(PILES + index, lane, lanes));
        player.head = uint32_t(head.at(index, lane, lanes));
        player.turned = player.head + uint32_t(stock.at(index, lane, lanes));
        player.tail = player.turned + uint32_t(waste.at(index, lane, lanes));
        player.quiet = quiet.at(index, lane, lanes);
        for (int place = 0; place < RESERVE; ++place)
            player.reserve[1 + place] = card(place, PILES + index);
        for (int place = 0; place < QUEUE; ++place)
            player.queue[place] = card(place, PILES + 2 + index);
    }
    return root;
}

World Worlds::world(int64_t lane) const {
    World world{};
    for (int index = 0; index < 2; ++index) {
        for (int place = 0; place < HIDDEN_RESERVE; ++place)
            world.reserve[index][place] = Card(reserve.at(2 * place + index, lane, lanes));
        for (int place = 0; place < HIDDEN_STOCK; ++place)
            world.stock[index][place] = Card(stock.at(2 * place + index, lane, lanes));
    }
    return world;
}

}  // namespace

extern "C" void bank_rollouts(const States* states, const Worlds* worlds, const int32_t* root, const int32_t* world,
                              int64_t tasks, int16_t* points, int8_t* ending, int16_t* moves) {
    zank::play<Game>(*states, *worlds, root, world, tasks, points, ending, moves);
}
