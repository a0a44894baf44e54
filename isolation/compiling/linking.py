"""Link kernels, compiled once per board size, with heuristics compiled by themselves.

Numba spends most of its time on what all heuristics share. So a kernel is compiled with a heuristic that is missing,
and kept as LLVM's intermediate code; the heuristic is compiled by itself; LLVM puts one into the other, optimises them
as a whole, so that the heuristic is inlined into the search, and emits an object file, which any later process loads
without numba.

Integer ranks replace float scores in comparisons. Most branches of a search wait for a comparison, and whole numbers
are compared at once where float64s are first made of counts and then compared. So where the heuristic's code, which
LLVM has made as simple as it can, shows that all its values of unfinished positions are whole, a value's rank is that
number. Elsewhere it is the bits of the float64, which are in the order of the values. Either way the negative of a rank
is that of the negative value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from ctypes import addressof
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ..codegen import object_code
from ..codegen.score import bitcode
from ..native.layout import NOT_A_NUMBER, RANK, SCORE, WON, WORTH
from ..native.runtime.numpy_loops import LOOP, numpy_loop
from . import code_cache
from .compile_errors import CompileError

_ENTRY = "isolation_entry"
_UNRESOLVED = ".numba.unresolved$"
"""What numba calls the place of a function's address that is filled in when the code is loaded."""
_ADDRESSES = "numba.dynamic.globals"
"""What numba calls addresses of this process that stand in code: arrays of more than a million bytes."""
_TABLES = "isolation_"
"""How names of constant tables begin."""
_SMALL = 400
"""Up to how many instructions, optimised by itself, a heuristic stands in the search and is not called."""
_addresses: dict[str, int] = {}


def kernel_code(name: str, text: str, arguments: int) -> bytes:
    """The intermediate code of a kernel whose heuristic is missing: its module's `entry`, callable from C.

    Args:
        name: of the kernel, unique to its text.
        text: the kernel's module.
        arguments: how many whole numbers `entry` takes: two unsigned, the rest signed; 64 bits each.
    """
    path = code_cache.folder() / code_cache.fingerprint("kernels") / f"{name}.py"

    def compiled() -> bytes:
        from numba import types

        entry = code_cache.load(path, text).entry
        module, symbol = _compiled(entry, [types.uint64] * 2 + [types.int64] * (arguments - 2))
        module.link_in(_way_in(symbol, arguments))
        return _bitcode(module, _ENTRY)

    return code_cache.load_or_make_locked(path, text, compiled)


def score_code(score: Any, rows: int, columns: int) -> bytes:
    """The intermediate code of a heuristic for a board size: its module's `link`, or itself."""

    def compiled() -> bytes:
        if score.size is not None:
            return bitcode(score.text)
        from numba import types

        from ..native.extern_heuristic import PARAMETERS
        from ..native.position import PositionType

        module, symbol = _compiled(score.load().linked, [PositionType(rows, columns), types.int64, PARAMETERS])
        module.get_function(symbol).name = SCORE
        return _bitcode(module, SCORE)

    return code_cache.load_or_make(score.folder / f"score_{rows}x{columns}.bc", compiled)


def link(kernel: bytes, score: bytes | None, symbol: str) -> bytes:
    """The machine code of a kernel with a heuristic in it, as an object file that offers the kernel as `symbol`.

    Before it stands a line with the functions and variables of others that it uses.
    """
    module = llvm.parse_bitcode(kernel)
    if score is not None:
        alone = llvm.parse_bitcode(score)
        size = sum(len(list(block.instructions)) for function in alone.functions for block in function.blocks)
        compares = any(function.name in (RANK, WORTH) for function in module.functions)
        module.link_in(_written_in(use_integer_ranks(alone) if compares else alone, size <= _SMALL))
    module.get_function(_ENTRY).name = symbol
    object_code.optimise(_internal(module, symbol))
    named = [*module.functions, *module.global_variables]
    elsewhere = [item.name for item in named if item.is_declaration and not item.name.startswith("llvm.")]
    return f"{' '.join(elsewhere)}\n".encode() + object_code.object_code(module)


def _written_in(score: Any, is_small: bool) -> Any:
    """The heuristic's module, such that LLVM puts it wherever it is called if it is small.

    By its own rule it would call what has more than some fifty instructions.
    """
    for function in score.functions:
        if is_small and not function.is_declaration:
            function.add_function_attribute("alwaysinline")
    return score


def load(code: bytes, symbol: str) -> int:
    """Load what `link` made, once a process; the address of the kernel's entry."""
    if symbol not in _addresses:
        elsewhere, _, objects = code.partition(b"\n")
        missing = [name for name in elsewhere.decode().split() if not object_code.is_known(name)]
        loops = [name for name in missing if name.startswith(LOOP)]
        for name in loops:
            llvm.add_symbol(name, addressof(numpy_loop(name.removeprefix(LOOP))))
        if len(missing) > len(loops):
            _offer_numbas_functions()
        _addresses[symbol] = object_code.load(objects, symbol)
    return _addresses[symbol]


@cache
def _offer_numbas_functions() -> None:
    """Lists, arrays and some of mathematics call functions of numba's, which are there once its target is.

    What dictionaries hash texts with is there once `hashing` is.
    """
    from numba.cpython import hashing  # noqa: F401

    from .llvm_ir import started

    started()


def _compiled(function: Any, kinds: list[Any]) -> tuple[Any, str]:
    """A module with a function, compiled by numba for arguments of these kinds, and its callees; its symbol."""
    from .llvm_ir import collect_ir, merge_ir

    with collect_ir():
        function.compile(tuple(kinds))
    compiled = function.overloads[tuple(kinds)]
    module = merge_ir(compiled.library)
    if any(global_variable.name.startswith(_ADDRESSES) for global_variable in module.global_variables):
        raise CompileError("its constants are too large to be compiled")
    _resolve(module, function.py_func.__globals__)
    return module, compiled.fndesc.llvm_func_name


def _resolve(module: Any, compiled: dict[str, Any]) -> None:
    """Link in functions that call themselves with arguments of other kinds than they were called with.

    `compiled` holds them by name. Numba finds their addresses when it loads code, which is not how ours is loaded.
    """
    from .llvm_ir import merge_ir

    overloads = [overload for known in compiled.values() for overload in getattr(known, "overloads", {}).values()]
    libraries = {overload.fndesc.llvm_func_name: overload.library for overload in overloads}
    while unresolved := [
        variable.name
        for variable in module.global_variables
        if variable.is_declaration and variable.name.startswith(_UNRESOLVED)
    ]:
        for name in unresolved:
            symbol = name.removeprefix(_UNRESOLVED)
            if symbol not in libraries:
                raise CompileError("it calls itself in a way that cannot be compiled")
            module.link_in(merge_ir(libraries[symbol]))
            module.link_in(llvm.parse_assembly(f'@"{name}" = constant ptr @"{symbol}"\ndeclare void @"{symbol}"()\n'))


def _way_in(symbol: str, arguments: int) -> Any:
    """A module with a function that C can call in place of numba's; an exception ends the call with 0.0."""
    whole, double, pointer = ir.IntType(64), ir.DoubleType(), ir.IntType(8).as_pointer()
    module = ir.Module()
    kind = ir.FunctionType(ir.IntType(32), [double.as_pointer(), pointer.as_pointer(), *[whole] * arguments])
    inside = ir.Function(module, kind, symbol)
    entry = ir.Function(module, ir.FunctionType(double, [whole] * arguments), _ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    value, exception = builder.alloca(double), builder.alloca(pointer)
    builder.store(ir.Constant(double, 0.0), value)
    builder.store(ir.Constant(pointer, None), exception)
    builder.call(inside, [value, exception, *entry.args])
    builder.ret(builder.load(value))
    return llvm.parse_assembly(str(module))


def _bitcode(module: Any, symbol: str) -> bytes:
    object_code.optimise(_internal(module, symbol, keeps=_TABLES))
    code: bytes = module.as_bitcode()
    return code


def _internal(module: Any, symbol: str, keeps: str | None = None) -> Any:
    """The module with nothing to be seen from outside but one function, so that LLVM drops what it does not need.

    And but what is named like `keeps`: the tables of kernel and heuristic become one when they are linked, without
    which LLVM takes what both look up for two things.
    """
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name != symbol and not (keeps and item.name.startswith(keeps)):
            item.linkage = "internal"
    return module


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
