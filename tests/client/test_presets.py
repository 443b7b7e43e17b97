import pytest
from hypothesis import given

from tests.client.strategies import rule_sets
from zank.errors import InvalidRuleSet
from zank.presets import PRESETS, canonical_rule_set, complete_options
from zank.v1 import STOCK_OUT_WHEN_UNSPECIFIED, MaliceOptions, RuleSet


@given(rule_sets)
def test_leaving_out_defaults_does_not_change_a_rule_set(rule_set: RuleSet) -> None:
    canonical = canonical_rule_set(rule_set)
    assert complete_options(canonical) == complete_options(rule_set)
    assert canonical_rule_set(canonical) == canonical


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_with_every_default_spelt_out_is_the_preset(name: str) -> None:
    spelt_out = RuleSet(preset=name, malice=complete_options(RuleSet(preset=name)))
    assert len(spelt_out.malice.ListFields()) == len(MaliceOptions.DESCRIPTOR.fields)
    assert canonical_rule_set(spelt_out) == RuleSet(preset=name)


def test_an_unspecified_option_is_the_default() -> None:
    rule_set = RuleSet(preset="malice-match", malice=MaliceOptions(stock_out_when=STOCK_OUT_WHEN_UNSPECIFIED))
    assert canonical_rule_set(rule_set) == RuleSet(preset="malice-match")


def test_the_same_option_is_a_default_in_one_preset_only() -> None:
    kings_start = MaliceOptions(wild_starts_stack=True)
    assert not canonical_rule_set(RuleSet(preset="malice-match", malice=kings_start)).HasField("malice")
    assert canonical_rule_set(RuleSet(preset="malice-classic", malice=kings_start)).malice == kings_start


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRuleSet, match="'bank-russian': expected malice-match or malice-classic"):
        canonical_rule_set(RuleSet(preset="bank-russian"))
