"""Positions and moves of both families, made by hypothesis."""

from hypothesis import strategies as st

from zank.cards import DECKS, RANKS, SUITS
from zank.notation import (
    DRAWN,
    END,
    FOUNDATION,
    OPPONENT_RESERVE,
    OPPONENT_WASTE,
    RESERVE,
    TABLEAU,
    TURN,
    BankMove,
    CenterStack,
    HandCard,
    MaliceMove,
    Payoff,
    SideStack,
)
from zank.v1 import (
    ENDING_ADJUDICATED,
    ENDING_OUT,
    ENDING_STALEMATE,
    ENDING_STOCK_OUT,
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_SHORT,
    BankOptions,
    BankPlayer,
    BankTable,
    Ending,
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
bank_cards = st.tuples(cards, st.sampled_from(["", *DECKS])).map("".join)

malice_moves = st.one_of(
    st.builds(
        MaliceMove,
        st.one_of(
            st.just(Payoff()),
            st.builds(SideStack, st.integers(1, 4)),
            st.builds(HandCard, st.integers(1, 13), st.none() | st.sampled_from(SUITS)),
        ),
        st.builds(CenterStack, st.integers(1, 3)),
    ),
    st.builds(
        MaliceMove,
        st.builds(HandCard, st.integers(1, 13), st.none() | st.sampled_from(SUITS)),
        st.builds(SideStack, st.integers(1, 4)),
    ),
)

BANK_MOVES = [
    BankMove(TURN),
    BankMove(END),
    *(
        BankMove(source, target)
        for source in (RESERVE, DRAWN, *TABLEAU)
        for target in (FOUNDATION, *TABLEAU, OPPONENT_RESERVE, OPPONENT_WASTE)
        if source != target
    ),
]
bank_moves = st.sampled_from(BANK_MOVES)

moves = malice_moves | bank_moves

malice_options = st.builds(
    MaliceOptions,
    payoff_cards=st.none() | st.sampled_from([1, 20, 30]),
    wild_starts_stack=st.none() | st.booleans(),
    side_play_ends_turn=st.none() | st.booleans(),
    stock_out_when=st.none() | st.sampled_from([STOCK_OUT_WHEN_EMPTIED, STOCK_OUT_WHEN_SHORT]),
    match_target=st.none() | st.integers(0, 1000),
)

malice_rule_sets = st.builds(
    RuleSet, preset=st.sampled_from(["malice-match", "malice-classic"]), malice=st.none() | malice_options
)

spiteful_options = st.builds(
    BankOptions,
    reserve_cards=st.none() | st.integers(12, 13),
    reserve_first=st.none() | st.sampled_from([RESERVE_FIRST_ANYWHERE, RESERVE_FIRST_FOUNDATION]),
    stalemate_scoring=st.none() | st.sampled_from([STALEMATE_SCORING_NONE, STALEMATE_SCORING_DIFFERENCE]),
    max_turns=st.none() | st.sampled_from([0, 500, 30_000]),
    match_target=st.none() | st.integers(0, 1000),
)
other_bank_options = st.builds(
    BankOptions,
    reserve_cards=st.none() | st.integers(12, 13),
    stalemate_scoring=st.none() | st.just(STALEMATE_SCORING_DIFFERENCE),
    max_turns=st.none() | st.sampled_from([0, 500, 30_000]),
    match_target=st.none() | st.sampled_from([0, 300, 1000]),
)

bank_rule_sets = st.builds(RuleSet, preset=st.just("bank-spiteful"), bank=st.none() | spiteful_options) | st.builds(
    RuleSet, preset=st.sampled_from(["bank-russian", "bank-crapette"]), bank=st.none() | other_bank_options
)

rule_sets = malice_rule_sets | bank_rule_sets


@st.composite
def piles(draw: st.DrawFn, cards: st.SearchStrategy[str], most: int) -> Pile:
    concealed = draw(st.lists(cards, max_size=most // 2))
    hidden = len(concealed) or draw(st.integers(0, 200) | st.just(UINT32))
    return Pile(hidden=hidden, concealed=concealed, cards=draw(st.lists(cards, max_size=most)))


malice_piles = piles(cards, 8)
malice_players = st.builds(
    MalicePlayer, payoff=malice_piles, hand=malice_piles, sides=st.lists(malice_piles, min_size=4, max_size=4)
)

bank_piles = piles(bank_cards, 4)
bank_players = st.builds(
    BankPlayer, reserve=bank_piles, stock=bank_piles, waste=bank_piles, quiet_turns=st.integers(0, 30_000)
)

shuffles = st.builds(Shuffle, seed=st.integers(0, UINT64), count=st.integers(0, 1_000_000))


def results(*endings: Ending.ValueType) -> st.SearchStrategy[GameResult]:
    return st.builds(GameResult, ending=st.sampled_from(endings), winner=st.integers(0, 2), points=st.integers(0, 200))


# Everything the text form can express, whether or not it can come up in a game.
malice_positions = st.builds(
    Position,
    rule_set=malice_rule_sets,
    player_to_move=st.integers(1, 2),
    turns=st.integers(0, 1_000_000),
    result=st.none() | results(ENDING_OUT, ENDING_STOCK_OUT),
    shuffle=st.none() | shuffles,
    malice=st.builds(
        MaliceTable,
        players=st.lists(malice_players, min_size=2, max_size=2),
        centers=st.lists(malice_piles, min_size=3, max_size=3),
        stock=malice_piles,
        recycled=st.none() | st.builds(Recycled, cards=st.lists(cards, max_size=12)),
    ),
)

bank_positions = st.builds(
    Position,
    rule_set=bank_rule_sets,
    player_to_move=st.integers(1, 2),
    turns=st.integers(0, 1_000_000),
    result=st.none() | results(ENDING_OUT, ENDING_STALEMATE, ENDING_ADJUDICATED),
    shuffle=st.none() | shuffles,
    bank=st.builds(
        BankTable,
        players=st.lists(bank_players, min_size=2, max_size=2),
        foundations=st.lists(bank_piles, min_size=8, max_size=8),
        tableau=st.lists(bank_piles, min_size=8, max_size=8),
        drawn=st.just("") | bank_cards,
        opening=st.booleans(),
        tableau_moves=st.lists(
            st.sampled_from([str(move) for move in BANK_MOVES if {move.source, move.target} <= set(TABLEAU)]),
            max_size=5,
        ),
    ),
)

expressible_positions = malice_positions | bank_positions


@st.composite
def malice_games(draw: st.DrawFn) -> Position:
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
    players = []
    for _ in range(2):
        *below, top = take(draw(st.integers(1, 20)))
        payoff = Pile(hidden=len(below), concealed=below, cards=[top])
        hand = Pile(cards=take(draw(st.integers(0, 5))))
        sides = [Pile(cards=take(min(draw(st.integers(0, 30)), len(deck) // 3))) for _ in range(4)]
        players.append(MalicePlayer(payoff=payoff, hand=hand, sides=sides))
    return Position(
        rule_set=draw(malice_rule_sets),
        player_to_move=draw(st.integers(1, 2)),
        turns=draw(st.integers(0, 200)),
        malice=MaliceTable(
            players=players, centers=centers, stock=Pile(hidden=len(deck), concealed=deck), recycled=Recycled()
        ),
    )


@st.composite
def bank_games(draw: st.DrawFn) -> Position:
    """Full positions of a game that goes on: 104 cards, foundations as they grow, tableau piles of up to 13 cards.

    Hidden cards are from their owner's deck; known ones say their deck.
    """
    random = draw(st.randoms(use_true_random=False))
    decks = {deck: [rank + suit for suit in SUITS for rank in RANKS] for deck in DECKS}
    for left in decks.values():
        random.shuffle(left)
    foundations = []
    for suit in SUITS:
        for deck in DECKS:
            built = [rank + suit for rank in RANKS[: draw(st.integers(0, 13))]]
            for card in built:
                decks[deck].remove(card)
            foundations.append(Pile(cards=[card + deck for card in built]))

    def take_any(count: int) -> list[str]:
        taken = []
        for _ in range(count):
            if any(decks.values()):
                deck = random.choice([deck for deck in DECKS if decks[deck]])
                taken.append(decks[deck].pop() + deck)
        return taken

    tableau = [Pile(cards=take_any(draw(st.integers(0, 13)))) for _ in range(8)]
    drawn = "".join(take_any(draw(st.integers(0, 1))))
    players = []
    for deck in DECKS:
        waste = Pile(cards=take_any(draw(st.integers(0, 10))))
        hidden, decks[deck] = decks[deck][:12], decks[deck][12:]
        reserve = Pile(hidden=len(hidden), concealed=hidden, cards=take_any(draw(st.integers(1, 3))))
        players.append(BankPlayer(reserve=reserve, waste=waste, quiet_turns=draw(st.integers(0, 3))))
    turned_over = draw(st.booleans())
    for player, deck in zip(players, DECKS, strict=True):
        if turned_over:
            player.stock.cards.extend(card + deck for card in decks[deck])
        else:
            player.stock.MergeFrom(Pile(hidden=len(decks[deck]), concealed=decks[deck]))
    return Position(
        rule_set=draw(bank_rule_sets),
        player_to_move=draw(st.integers(1, 2)),
        turns=draw(st.integers(0, 200)),
        bank=BankTable(players=players, foundations=foundations, tableau=tableau, drawn=drawn),
    )


game_positions = malice_games() | bank_games()
