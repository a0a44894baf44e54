"""Integer ranks that replace float scores in comparisons.

Most branches of a search wait for a comparison, and whole numbers are compared at once where float64s are first made of
counts and then compared. So where the heuristic's code, which LLVM has made as simple as it can, shows that all its
values of unfinished positions are whole, a value's rank is that number. Elsewhere it is the bits of the float64, which
are in the order of the values. Either way the negative of a rank is that of the negative value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import llvmlite.binding as llvm

from ..native.layout import NOT_A_NUMBER, RANK, SCORE, WON, WORTH
from . import object_code

_RANK_OF_FLOAT, _RANK_OF_WHOLE = "isolation_rank_of_float", "isolation_rank_of_whole"
_MOVES = "isolation_knight_"
"""How the names of tables of knight moves begin."""
_EXACT = 1 << 53
"""Up to here float64s tell whole numbers apart."""

_CALL = f"""
declare i32 @{SCORE}(ptr, ptr, {{kinds}})
declare i64 @{_RANK_OF_FLOAT}(double) memory(none)
{{table}}
define i32 @{RANK}(ptr %rank, ptr %raised, {{arguments}}) {{{{
  %value = alloca double
  %is_first = icmp eq i64 %turn, 0
  br i1 %is_first, label %turn_0, label %turn_1
{{turns}}
never:
  unreachable
fine:
  %float = load double, ptr %value
  %ranked = call i64 @{_RANK_OF_FLOAT}(double %float)
  store i64 %ranked, ptr %rank
  ret i32 0
failed:
  %status = phi i32 [ %status_0, %on_0 ], [ %status_1, %on_1 ]
  ret i32 %status
}}}}
"""
_TURN = f"""
turn_{{turn}}:
  {{unless_over}}
on_{{turn}}:
  %status_{{turn}} = call i32 @{SCORE}(ptr %value, ptr %raised, {{known}}) alwaysinline
  %is_fine_{{turn}} = icmp eq i32 %status_{{turn}}, 0
  br i1 %is_fine_{{turn}}, label %fine, label %failed
"""
"""One call for each side to move, so that LLVM knows whose moves a heuristic's questions about the end are about."""
_UNLESS_OVER = """%place_{turn} = getelementptr inbounds {blank}, ptr @{table}, i64 %cell_{turn}
  %near_{turn} = load {blank}, ptr %place_{turn}
  %replies_{turn} = and {blank} %near_{turn}, %blank
  %is_over_{turn} = icmp eq {blank} %replies_{turn}, 0
  br i1 %is_over_{turn}, label %never, label %on_{turn}"""
"""A search judges finished games itself, so that LLVM may leave out what a heuristic says of them: it is infinite."""

_END_OF_WORTH = f"""%is_won = icmp eq i64 %rank, {WON}
  %is_lost = icmp eq i64 %rank, {-WON}
  %at_most = select i1 %is_won, double 0x7FF0000000000000, double %finite
  %worth = select i1 %is_lost, double 0xFFF0000000000000, double %at_most
  ret double %worth"""
_OF_FLOATS = f"""
declare double @llvm.fabs.f64(double)
define i64 @{_RANK_OF_FLOAT}(double %value) alwaysinline {{
  %size = call double @llvm.fabs.f64(double %value)
  %is_finite = fcmp ole double %size, 0x7FEFFFFFFFFFFFFF
  br i1 %is_finite, label %finite, label %other, !prof !0
finite:
  %bits = bitcast double %value to i64
  %sign = ashr i64 %bits, 63
  %magnitude = and i64 %bits, {WON}
  %flipped = xor i64 %magnitude, %sign
  %rank = sub i64 %flipped, %sign
  ret i64 %rank
other:
  %is_most = fcmp ogt double %value, 0.0
  %extreme = select i1 %is_most, i64 {0x7FEFFFFFFFFFFFFF}, i64 {-0x7FEFFFFFFFFFFFFF}
  %is_a_number = fcmp ord double %value, 0.0
  %told = select i1 %is_a_number, i64 %extreme, i64 {NOT_A_NUMBER}
  ret i64 %told
}}
define double @{WORTH}(i64 %rank) {{
  %sign = ashr i64 %rank, 63
  %flipped = xor i64 %rank, %sign
  %magnitude = sub i64 %flipped, %sign
  %upper = and i64 %sign, {-1 << 63}
  %bits = or i64 %magnitude, %upper
  %finite = bitcast i64 %bits to double
  {_END_OF_WORTH}
}}
!0 = !{{!"branch_weights", i32 2000, i32 1}}
"""
_OF_WHOLES = f"""
define i64 @{_RANK_OF_WHOLE}(i64 %value) alwaysinline {{
  %shifted = add i64 %value, {_EXACT}
  %is_exact = icmp ule i64 %shifted, {2 * _EXACT}
  br i1 %is_exact, label %exact, label %large, !prof !0
exact:
  ret i64 %value
large:
  %float = sitofp i64 %value to double
  %is_most = fcmp oge double %float, 0x43E0000000000000
  %is_least = fcmp ole double %float, 0xC3E0000000000000
  %rounded = fptosi double %float to i64
  %at_most = select i1 %is_most, i64 {WON - 1}, i64 %rounded
  %rank = select i1 %is_least, i64 {1 - WON}, i64 %at_most
  ret i64 %rank
}}
define double @{WORTH}(i64 %rank) {{
  %finite = sitofp i64 %rank to double
  {_END_OF_WORTH}
}}
!0 = !{{!"branch_weights", i32 2000, i32 1}}
"""
_DECLARED = f"""
declare i64 @{_RANK_OF_WHOLE}(i64)
declare i64 @llvm.ssub.sat.i64(i64, i64)
"""
_NAME = r'%(?:"[^"]*"|[-\w.$]+)'
_VALUE = rf"({_NAME}|[^\s,)]+)"
_FUNCTION = re.compile(rf"^define [^\n]*@{RANK}\(.*?^}}$", re.MULTILINE | re.DOTALL)
_DEFINITION = re.compile(rf"^ +({_NAME}) = (.+)$", re.MULTILINE)
_RANKED = re.compile(rf"call i64 @{_RANK_OF_FLOAT}\(double {_VALUE}\)")
_COUNT = re.compile(rf"(?:sitofp|uitofp nneg) i64 {_VALUE} to double")
_SMALL_COUNT = re.compile(rf"([su])itofp (?:nneg )?(i(?:1|8|16|32)) {_VALUE} to double")
_NEGATIVE = re.compile(rf"fneg double {_VALUE}")
_CHOICE = re.compile(rf"select i1 {_VALUE}, double {_VALUE}, double {_VALUE}")
_MEETING = re.compile(r"phi double ")
_WAY = re.compile(rf"\[ {_VALUE}, ({_NAME}) \]")


def use_integer_ranks(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """A heuristic's module, which has `SCORE` and is used up, as a module with `RANK` and `WORTH`.

    `RANK` takes what `SCORE` takes, a position that is not finished and player 0, and gives an int64: the value's rank,
    that of the largest finite float64 for infinity, or `NOT_A_NUMBER`. `WORTH` is the float64 that a rank stands for,
    infinite for `WON` and its negative, which are ranks of no value.
    """
    module.link_in(llvm.parse_assembly(_call_of(module)))
    for function in module.functions:
        if not function.is_declaration and function.name != RANK:
            function.linkage = "internal"
    object_code.optimise(module)
    whole = _in_whole_numbers(str(module))
    if whole is None:
        module.link_in(llvm.parse_assembly(_OF_FLOATS))
        return module
    module = llvm.parse_assembly(whole)
    module.link_in(llvm.parse_assembly(_OF_WHOLES))
    return module


def _call_of(module: llvm.ModuleRef) -> str:
    """The text of a module with `RANK`, which calls `SCORE` and has the rank of its value made."""
    kinds = [str(argument.type) for argument in module.get_function(SCORE).arguments][2:]
    padded = ["padded"] if len(kinds) > 6 else []
    names = ["blank", "cell_0", "cell_1", "turn", *padded, "player", "parameters"]
    given = {name: f"{kind} %{name}" for name, kind in zip(names, kinds, strict=True)}
    tables = [global_variable for global_variable in module.global_variables if global_variable.name.startswith(_MOVES)]
    unless_over = _UNLESS_OVER if tables else "br label %on_{turn}"
    turns = [
        _TURN.format(
            turn=turn,
            unless_over=unless_over.format(turn=turn, blank=kinds[0], table=tables[0].name if tables else ""),
            known=", ".join((given | {"turn": f"i64 {turn}", "player": "i64 0"}).values()),
        )
        for turn in (0, 1)
    ]
    return _CALL.format(
        kinds=", ".join(kinds),
        arguments=", ".join(given.values()),
        table="".join(f"@{table.name} = external constant {table.global_value_type}" for table in tables),
        turns="".join(turns),
    )


def _in_whole_numbers(text: str) -> str | None:
    """The text of a module whose ranks are made of whole numbers, if all float64s that they are made of are whole."""
    (function,) = _FUNCTION.finditer(text)
    definitions = dict(_DEFINITION.findall(function[0]))
    asked: list[str] = []
    twins: dict[str, str] = {}

    def twin(value: str) -> str:
        asked.append(value)
        return _name_of_twin(value, definitions.get(value, ""))

    def with_twin(match: re.Match[str]) -> str:
        return "\n  ".join(filter(None, (match[0], twins.get(match[1]))))

    body = _RANKED.sub(lambda match: f"call i64 @{_RANK_OF_WHOLE}(i64 {twin(match[1])})", function[0])
    while asked:
        value = asked.pop()
        if value not in twins:
            line = _twin_of(value, definitions.get(value, ""), twin)
            if line is None:
                return None
            twins[value] = line
    body = _DEFINITION.sub(with_twin, body)
    return f"{text[: function.start()]}{body}{text[function.end() :]}\n{_DECLARED}"


def _name_of_twin(value: str, definition: str) -> str:
    """Return the name of the integer equal to a float64: the count's it is made of, or a new one."""
    if match := _COUNT.match(definition):
        return match[1]
    if value.startswith("%"):
        return '%"{}.whole"'.format(value[1:].strip('"'))
    return str(_whole_constant(value))


def _twin_of(value: str, definition: str, twin: Callable[[str], str]) -> str | None:
    """The instruction that makes the whole number that equals a float64, empty if it takes none; None if there is none.

    `twin` gives the names of the whole numbers that equal its parts, which it takes note of.
    """
    made = ""
    if match := _SMALL_COUNT.match(definition):
        made = f"{'s' if match[1] == 's' else 'z'}ext {match[2]} {match[3]} to i64"
    elif match := _NEGATIVE.match(definition):
        made = f"call i64 @llvm.ssub.sat.i64(i64 0, i64 {twin(match[1])})"
    elif match := _CHOICE.match(definition):
        made = f"select i1 {match[1]}, i64 {twin(match[2])}, i64 {twin(match[3])}"
    elif _MEETING.match(definition):
        made = "phi i64 " + ", ".join(f"[ {twin(part)}, {block} ]" for part, block in _WAY.findall(definition))
    if made:
        return f"{_name_of_twin(value, definition)} = {made}"
    is_whole = _COUNT.match(definition) or (not definition and _whole_constant(value) is not None)
    return "" if is_whole else None


def _whole_constant(text: str) -> int | None:
    """A constant as LLVM writes it, if it is a whole number that float64s tell from its neighbours."""
    with suppress(ValueError):
        number = float(text)
        if number.is_integer() and abs(number) <= _EXACT:
            return int(number)
    return None
