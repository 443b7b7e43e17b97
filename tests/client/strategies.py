"""Positions and moves made by hypothesis."""

from hypothesis import strategies as st

from zank.cards import RANKS, SUITS
from zank.notation import CenterStack, HandCard, Move, Payoff, SideStack
from zank.v1 import (
    ENDING_OUT,
    ENDING_STOCK_OUT,
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    GameResult,
    MaliceOptions,
    MalicePlayer,
    MaliceTable,
    Pile,
    Position,
    Recycled,
    RuleSet,
    Shuffle,
)

UINT32 = 2**32 - 1
UINT64 = 2**64 - 1

cards = st.tuples(st.sampled_from(RANKS), st.sampled_from(SUITS)).map("".join)

moves = st.one_of(
    st.builds(
        Move,
        st.one_of(
            st.just(Payoff()),
            st.builds(SideStack, st.integers(1, 4)),
            st.builds(HandCard, st.integers(1, 13), st.none() | st.sampled_from(SUITS)),
        ),
        st.builds(CenterStack, st.integers(1, 3)),
    ),
    st.builds(
        Move,
        st.builds(HandCard, st.integers(1, 13), st.none() | st.sampled_from(SUITS)),
        st.builds(SideStack, st.integers(1, 4)),
    ),
)

options = st.builds(
    MaliceOptions,
    payoff_cards=st.none() | st.sampled_from([1, 20, 30]),
    wild_starts_stack=st.none() | st.booleans(),
    side_play_ends_turn=st.none() | st.booleans(),
    stock_out_when=st.none() | st.sampled_from([STOCK_OUT_WHEN_EMPTIED, STOCK_OUT_WHEN_SHORT]),
    match_target=st.none() | st.integers(0, 1000),
)

rule_sets = st.builds(RuleSet, preset=st.sampled_from(["malice-match", "malice-classic"]), malice=st.none() | options)


@st.composite
def piles(draw: st.DrawFn) -> Pile:
    concealed = draw(st.lists(cards, max_size=4))
    hidden = len(concealed) or draw(st.integers(0, 200) | st.just(UINT32))
    return Pile(hidden=hidden, concealed=concealed, cards=draw(st.lists(cards, max_size=8)))


players = st.builds(MalicePlayer, payoff=piles(), hand=piles(), sides=st.lists(piles(), min_size=4, max_size=4))

results = st.builds(
    GameResult,
    ending=st.sampled_from([ENDING_OUT, ENDING_STOCK_OUT]),
    winner=st.integers(0, 2),
    points=st.integers(0, 30),
)

# Everything the text form can express, whether or not it can come up in a game.
expressible_positions = st.builds(
    Position,
    rule_set=rule_sets,
    player_to_move=st.integers(1, 2),
    turns=st.integers(0, 1_000_000),
    result=st.none() | results,
    shuffle=st.none() | st.builds(Shuffle, seed=st.integers(0, UINT64), count=st.integers(0, 1_000_000)),
    malice=st.builds(
        MaliceTable,
        players=st.lists(players, min_size=2, max_size=2),
        centers=st.lists(piles(), min_size=3, max_size=3),
        stock=piles(),
        recycled=st.none() | st.builds(Recycled, cards=st.lists(cards, max_size=12)),
    ),
)


@st.composite
def game_positions(draw: st.DrawFn) -> Position:
    """Full positions of a game that goes on: 104 cards, center stacks of the right ranks, side stacks of any depth."""
    deck = [rank + suit for suit in SUITS for rank in RANKS] * 2
    draw(st.randoms(use_true_random=False)).shuffle(deck)

    def take(count: int) -> list[str]:
        taken = deck[:count]
        del deck[:count]
        return taken

    centers = []
    for height in draw(st.lists(st.integers(0, 11), min_size=3, max_size=3)):
        stack = Pile()
        for rank in RANKS[:height]:
            card = next((card for card in deck if card[0] in (rank, "K")), None)
            if card is None:
                break
            deck.remove(card)
            stack.cards.append(card)
        centers.append(stack)
    malice_players = []
    for _ in range(2):
        *below, top = take(draw(st.integers(1, 20)))
        payoff = Pile(hidden=len(below), concealed=below, cards=[top])
        hand = Pile(cards=take(draw(st.integers(0, 5))))
        sides = [Pile(cards=take(min(draw(st.integers(0, 30)), len(deck) // 3))) for _ in range(4)]
        malice_players.append(MalicePlayer(payoff=payoff, hand=hand, sides=sides))
    return Position(
        rule_set=draw(rule_sets),
        player_to_move=draw(st.integers(1, 2)),
        turns=draw(st.integers(0, 200)),
        malice=MaliceTable(
            players=malice_players, centers=centers, stock=Pile(hidden=len(deck), concealed=deck), recycled=Recycled()
        ),
    )
