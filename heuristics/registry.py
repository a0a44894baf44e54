"""Registry of heuristics by name."""

from __future__ import annotations

from difflib import get_close_matches

from . import classic, composite, learned, location, mobility
from .features import FEATURES
from .game_protocol import Heuristic

_FUNCTIONS: dict[str, Heuristic] = {
    "null": classic.null,
    "open": classic.open_moves,
    "improved": classic.improved,
    "center": classic.center,
    "net_advantage": mobility.net_advantage,
    "net_mobility": mobility.net_mobility,
    "accessibility": location.accessibility,
    "offensive": location.offensive,
    "proximity": location.proximity,
    "horizon": location.horizon,
    "offensive_proximity_net_mobility": composite.offensive_proximity_net_mobility,
    "net_advantage_proximity": composite.net_advantage_proximity,
    "phased": composite.phased,
    "edge_distance": location.edge_distance,
    "edge_distance_weighted": location.edge_distance_weighted,
    "edge_distance_dynamic": location.edge_distance_dynamic,
    "mobility_filled_half": mobility.mobility_filled_half,
    "mobility_filled": mobility.mobility_filled,
    "late_own": mobility.late_own,
    "territory": location.territory,
    "two_step_mobility": mobility.two_step_mobility,
    "learned": learned.learned,
}

_SCORES = (
    "null", "improved", "center", "net_advantage", "net_mobility", "accessibility", "offensive", "proximity", "horizon",
)  # fmt: skip
_PUBLISHED = {
    **{f"{name}_score": name for name in _SCORES},
    "open_move_score": "open",
    "combo_offensive_nearopponent_netmobility_score": "offensive_proximity_net_mobility",
    "combo_netadvantage_nearopponent_score": "net_advantage_proximity",
}


def names() -> list[str]:
    """Return the names of all evaluation functions except features, in the order of the documentation."""
    return list(_FUNCTIONS)


def canonical_name(name: str) -> str:
    """Return the registry's name for a published name: `ID_improved_score` and `ID_Improved` are `improved`.

    Names of features are returned unchanged.

    Raises ValueError, suggesting the nearest names, if there is no such function.
    """
    bare = name.removeprefix("ID_").lower()
    bare = _PUBLISHED.get(bare, bare)
    if bare not in _FUNCTIONS and bare not in FEATURES:
        near = [_PUBLISHED.get(hit, hit) for hit in get_close_matches(bare, [*_FUNCTIONS, *_PUBLISHED, *FEATURES])]
        hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"choose one of {', '.join(_FUNCTIONS)}"
        raise ValueError(f"no heuristic {name!r}; {hint}")
    return bare


def get(name: str) -> Heuristic:
    """Return the evaluation function or feature with a name, or with a published name.

    Raises ValueError, suggesting the nearest names, if there is none.

    >>> get("improved") is get("ID_improved_score")
    True
    """
    bare = canonical_name(name)
    return _FUNCTIONS[bare] if bare in _FUNCTIONS else FEATURES[bare]


def meaning(name: str) -> str:
    """Return what a function measures, in one line."""
    function = get(name)
    text = function.meaning if isinstance(function, composite.Composite) else function.__doc__
    return (text or "").strip().splitlines()[0]
