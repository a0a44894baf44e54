"""Heuristics by name, and composites: weighted sums of heuristics, in phases of the game."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite

from . import scores
from .features import FEATURES
from .game_protocol import Game, Heuristic, Player
from .scores import improved, net_advantage, net_mobility, offensive, proximity, territory


@dataclass(frozen=True)
class Weight:
    """A named parameter of a composite: default value and range; by default tools search from 0 to twice the value."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    def __float__(self) -> float:
        return float(self.value)


Parts = tuple[tuple[float | Weight, Heuristic], ...]


@dataclass(frozen=True)
class Composite:
    """A weighted sum of functions whose weights may change as the board fills.

    `phases` are pairs of (until this share of cells is filled, ((weight, function), ...)). A position belongs to the
    first phase whose share is above its own: `(0.3, ...)` holds while less than 30 % of the cells are filled. Shares
    increase and the last is 1. Won and lost positions are scored once, before any weight. The parts are functions of
    (game, player), including composites. `meaning` is a one-line description. A `Weight` in place of a number is a
    parameter; several with the same name are one parameter.

    Raises ValueError for shares out of order, an empty phase, an infinite weight, a part that is not a function, or
    different weights with the same name.

    >>> Composite(phases=((0.5, ((1.0, improved),)),))
    Traceback (most recent call last):
    ValueError: phases must end with share 1, not 0.5
    """

    phases: tuple[tuple[float, Parts], ...]
    meaning: str = ""

    def __post_init__(self) -> None:
        shares = [until for until, _ in self.phases]
        if any(later <= earlier for earlier, later in zip([0.0, *shares], shares, strict=False)):
            raise ValueError(f"the shares of the phases must increase from above 0 to 1, not {shares}")
        if not shares or shares[-1] != 1:
            raise ValueError(f"phases must end with share 1, not {shares[-1] if shares else 'without any'}")
        for until, parts in self.phases:
            if not parts:
                raise ValueError(f"the phase until {until:g} has no functions")
            for weight, function in parts:
                if not isfinite(weight) or not callable(function):
                    raise ValueError(f"a part is (a finite weight, a function), not ({weight!r}, {function!r})")
        named = {weight for _, parts in self.phases for weight, _ in parts if isinstance(weight, Weight)}
        names = [weight.name for weight in named]
        for name in names:
            if not name.isidentifier() or names.count(name) > 1:
                raise ValueError(f"a weight has a name of its own, as in Weight('reach', 0.5), not {name!r}")

    def __call__(self, game: Game, player: Player) -> float:
        """Return the weighted sum of the position's phase."""
        if over := game.utility(player):
            return over
        cells = game.width * game.height
        filled = cells - len(game.get_blank_spaces())
        parts = next((parts for until, parts in self.phases if filled / cells < until), self.phases[-1][1])
        total = 0.0
        for weight, function in parts:
            total += float(weight) * function(game, player)
        return total


offensive_proximity_net_mobility = Composite(
    phases=((1.0, ((1.0, offensive), (1.0, proximity), (1.0, net_mobility))),),
    meaning="offensive + proximity + net_mobility.",
)

net_advantage_proximity = Composite(
    phases=((1.0, ((1.0, net_advantage), (1.0, proximity))),),
    meaning="net_advantage + proximity.",
)

phased = Composite(
    phases=(
        (0.5, ((1.0, territory), (0.5, improved))),
        (1.0, ((1.0, territory),)),
    ),
    meaning="territory, and half of improved while less than half of the board is filled.",
)


_FUNCTIONS: dict[str, Heuristic] = {
    "null": scores.null,
    "open": scores.open_moves,
    "improved": scores.improved,
    "center": scores.center,
    "net_advantage": scores.net_advantage,
    "net_mobility": scores.net_mobility,
    "accessibility": scores.accessibility,
    "offensive": scores.offensive,
    "proximity": scores.proximity,
    "horizon": scores.horizon,
    "offensive_proximity_net_mobility": offensive_proximity_net_mobility,
    "net_advantage_proximity": net_advantage_proximity,
    "phased": phased,
    "edge_distance": scores.edge_distance,
    "edge_distance_weighted": scores.edge_distance_weighted,
    "edge_distance_dynamic": scores.edge_distance_dynamic,
    "mobility_filled_half": scores.mobility_filled_half,
    "mobility_filled": scores.mobility_filled,
    "late_own": scores.late_own,
    "territory": scores.territory,
    "two_step_mobility": scores.two_step_mobility,
    "learned": scores.learned,
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
    text = function.meaning if isinstance(function, Composite) else function.__doc__
    return (text or "").strip().splitlines()[0]
