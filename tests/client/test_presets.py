import pytest
from hypothesis import given

from tests.client.strategies import rule_sets
from zank.errors import InvalidRuleSet
from zank.presets import FAMILY_NAMES, PRESETS, canonical_rule_set, complete_rule_set, options_of
from zank.v1 import (
    RESERVE_FIRST_ANYWHERE,
    RESERVE_FIRST_FOUNDATION,
    STALEMATE_SCORING_DIFFERENCE,
    STALEMATE_SCORING_NONE,
    STOCK_OUT_WHEN_EMPTIED,
    STOCK_OUT_WHEN_UNSPECIFIED,
    BankOptions,
    MaliceOptions,
    Position,
    RuleSet,
)

MALICE = MaliceOptions(
    payoff_cards=20, side_play_ends_turn=False, stock_out_when=STOCK_OUT_WHEN_EMPTIED, wild_starts_stack=True
)
BANK = BankOptions(reserve_cards=13, max_turns=500, stalemate_scoring=STALEMATE_SCORING_DIFFERENCE)


@given(rule_sets)
def test_leaving_out_defaults_does_not_change_a_rule_set(rule_set: RuleSet) -> None:
    canonical = canonical_rule_set(rule_set)
    assert complete_rule_set(canonical) == complete_rule_set(rule_set)
    assert canonical_rule_set(canonical) == canonical
    assert canonical_rule_set(complete_rule_set(rule_set)) == canonical


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_with_every_default_spelt_out_is_the_preset(name: str) -> None:
    complete = complete_rule_set(RuleSet(preset=name))
    options = options_of(complete, PRESETS[name].family)
    absent = set(options.DESCRIPTOR.fields_by_name) - {field.name for field, _ in options.ListFields()}
    assert absent == PRESETS[name].fixed - {"stalemate_scoring"}  # the value of which can be said, for it has one
    assert canonical_rule_set(complete) == RuleSet(preset=name)


@pytest.mark.parametrize(
    ("name", "malice"),
    [("malice-match", MaliceOptions(match_target=50)), ("malice-classic", MaliceOptions(wild_starts_stack=False))],
)
def test_the_defaults_of_spite_and_malice(name: str, malice: MaliceOptions) -> None:
    expected = MaliceOptions(match_target=0)
    expected.MergeFrom(MALICE)
    expected.MergeFrom(malice)
    assert complete_rule_set(RuleSet(preset=name)) == RuleSet(preset=name, malice=expected)


@pytest.mark.parametrize(
    ("name", "bank"),
    [
        (
            "bank-spiteful",
            BankOptions(reserve_first=RESERVE_FIRST_ANYWHERE, stalemate_scoring=STALEMATE_SCORING_NONE, match_target=0),
        ),
        ("bank-russian", BankOptions(match_target=300)),
        ("bank-crapette", BankOptions(match_target=0)),
    ],
)
def test_the_defaults_of_russian_bank(name: str, bank: BankOptions) -> None:
    expected = BankOptions()
    expected.MergeFrom(BANK)
    expected.MergeFrom(bank)
    assert complete_rule_set(RuleSet(preset=name)) == RuleSet(preset=name, bank=expected)


def test_a_family_has_the_name_of_its_options_and_of_its_table() -> None:
    assert [field.name for field in RuleSet.DESCRIPTOR.oneofs_by_name["options"].fields] == list(FAMILY_NAMES)
    assert [field.name for field in Position.DESCRIPTOR.oneofs_by_name["table"].fields] == list(FAMILY_NAMES)


def test_an_unspecified_option_is_the_default() -> None:
    rule_set = RuleSet(preset="malice-match", malice=MaliceOptions(stock_out_when=STOCK_OUT_WHEN_UNSPECIFIED))
    assert canonical_rule_set(rule_set) == RuleSet(preset="malice-match")


def test_the_same_option_is_a_default_in_one_preset_only() -> None:
    kings_start = MaliceOptions(wild_starts_stack=True)
    assert not canonical_rule_set(RuleSet(preset="malice-match", malice=kings_start)).HasField("malice")
    assert canonical_rule_set(RuleSet(preset="malice-classic", malice=kings_start)).malice == kings_start
    target = BankOptions(match_target=300)
    assert not canonical_rule_set(RuleSet(preset="bank-russian", bank=target)).HasField("bank")
    assert canonical_rule_set(RuleSet(preset="bank-spiteful", bank=target)).bank == target


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRuleSet, match="'bridge': expected malice-match or malice-classic or bank-spiteful or"):
        canonical_rule_set(RuleSet(preset="bridge"))


@pytest.mark.parametrize(
    ("rule_set", "says"),
    [
        (
            RuleSet(preset="bank-russian", malice=MaliceOptions(payoff_cards=20)),
            r"bank-russian is a preset of Russian Bank: expected its options \(bank\), found those of Spite & Malice",
        ),
        (
            RuleSet(preset="malice-match", bank=BankOptions()),
            r"malice-match is a preset of Spite & Malice: expected its options \(malice\), found those of Russian Bank",
        ),
        (
            RuleSet(preset="bank-russian", bank=BankOptions(stalemate_scoring=STALEMATE_SCORING_NONE)),
            "stalemate_scoring is no option of bank-russian",
        ),
        (
            RuleSet(preset="bank-crapette", bank=BankOptions(reserve_first=RESERVE_FIRST_FOUNDATION)),
            "reserve_first is no option of bank-crapette",
        ),
        (
            RuleSet(preset="bank-crapette", bank=BankOptions(reserve_first=RESERVE_FIRST_ANYWHERE)),
            "reserve_first is no option of bank-crapette",
        ),
    ],
)
def test_an_option_that_the_preset_does_not_have_is_refused(rule_set: RuleSet, says: str) -> None:
    for complete_or_canonical in (complete_rule_set, canonical_rule_set):
        with pytest.raises(InvalidRuleSet, match=says):
            complete_or_canonical(rule_set)


def test_what_a_preset_always_does_may_be_said() -> None:
    always = RuleSet(preset="bank-russian", bank=BankOptions(stalemate_scoring=STALEMATE_SCORING_DIFFERENCE))
    assert canonical_rule_set(always) == RuleSet(preset="bank-russian")
