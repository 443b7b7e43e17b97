"""What `proto/README.md` says of the shuffle is what the algorithm gives."""

from pathlib import Path

from tests.oracle import shuffle

PAGE = " ".join((Path(__file__).parents[1] / "proto" / "README.md").read_text().split())


def test_the_golden_words_are_those_of_the_algorithm() -> None:
    first, second, third, fourth = (shuffle.Stream(1, 0).word(event) for event in range(4))
    assert f"`mix(1)` is {shuffle.mix(1)}" in PAGE
    assert f"are {first}, {second}, {third} and {fourth}" in PAGE


def test_the_golden_deals_are_those_of_the_algorithm() -> None:
    small, large = shuffle.deal(1), shuffle.deal(2**64 - 1)
    assert f"the payoff pile `{' '.join(small.payoff[0][:4])} …` and the hand `{' '.join(small.hand[0])}`" in PAGE
    assert f"the stock ends `… {' '.join(small.stock[-3:])}`, and player {small.starter} starts" in PAGE
    assert f"deals `{' '.join(large.payoff[0][:4])} …` and `{' '.join(large.hand[0])}`" in PAGE
    assert f"the stock ends `… {' '.join(large.stock[-2:])}`, and player {large.starter} starts" in PAGE


def test_the_golden_recycling_is_that_of_the_algorithm() -> None:
    stock = ["2c", "3d", "4h"]
    center = ["Ac", "2d", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc", "Jc", "Kh"]
    assert f"`{' '.join(shuffle.recycle(stock, center, 1, 1))}`" in PAGE
