"""Checked arithmetic and limits of loops in compiled code: Python's results, or an exception.

Whole numbers have 64 bits here and no end in Python. Where a result might not fit, compiled code fails, and whoever
asked computes in Python instead. LLVM knows that a set has at most 128 cells, that counts are small, and their sums and
products as well; it leaves out the checks that cannot fail, which is nearly all of them.

Nothing outside can end compiled code, so a heuristic's call counts what its loops and recursive functions do, in its
own stack frame: so threads do not meet, and where LLVM inlines the functions, the count is a register. Beyond the
limits compiled code gives up, and whoever asked asks Python, whose functions can be interrupted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC, CPUCallConv
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.ir import Var
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.cpython.setobj import SetInstance
from numba.extending import intrinsic

from ..decorators import inner, instructions

_WHOLE, _BIT, _FRACTION = ir.IntType(64), ir.IntType(1), ir.DoubleType()
_GIVEN_UP = RETCODE_USEREXC.type(RETCODE_USEREXC.constant + 1)
"""The status of a function that has given up, which no `except` may take for an exception of Python's."""
_EXACT = 1 << 53
"""Up to here float64s hold every whole number."""
TOO_LARGE = OverflowError
"""What is raised where Python computes on."""

REFUSED = "Refused: "
"""How the message of an error begins that is meant for the author of a heuristic."""

Check = Callable[..., Any]


def fail_if(context: Any, builder: Any, condition: Any) -> None:
    """Raise an exception where Python raises one: which is found out by asking Python."""
    with cgutils.if_unlikely(builder, condition):
        context.call_conv.return_user_exc(builder, ArithmeticError, ())


def give_up_if(context: Any, builder: Any, condition: Any) -> None:
    """Raise an exception where Python computes on, with what compiled code cannot hold.

    It leaves the function even from inside a `try`, whose `except` would take it for an exception of Python's; so do
    the functions that called it.
    """
    with cgutils.if_unlikely(builder, condition):
        context.call_conv.set_static_user_exc(builder, TOO_LARGE, ())
        context.call_conv._return_errcode_raw(builder, _GIVEN_UP)


def _propagate(convention: Any, builder: Any, status: Any) -> None:
    """Leave a function whose callee failed, unless an `except` may catch it: numba's, but for what has given up."""
    in_try = convention.check_try_status(builder).in_try
    builder.store(status.excinfoptr, convention._get_excinfo_argument(builder.function))
    has_given_up = builder.icmp_signed("==", status.code, _GIVEN_UP)
    with builder.if_then(builder.or_(builder.not_(in_try), has_given_up)):
        convention._return_errcode_raw(builder, status.code)


# Numba's own code never returns that status, so that its own functions stay what they are.
CPUCallConv.return_status_propagate = _propagate


# --- whole numbers ------------------------------------------------------------------------------------------------


def with_overflow(name: str, whole: Any = _WHOLE) -> Check:
    """A check for an instruction of LLVM's on whole numbers: compiled code gives up where the result does not fit."""

    def check(context: Any, builder: Any, a: Any, b: Any) -> Any:
        kind = ir.FunctionType(ir.LiteralStructType([whole, _BIT]), [whole, whole])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.with.overflow.i{whole.width}")
        both = builder.call(function, [a, b])
        give_up_if(context, builder, builder.extract_value(both, 1))
        return builder.extract_value(both, 0)

    return check


add, subtract, multiply = (with_overflow(name) for name in ("sadd", "ssub", "smul"))


def _shift_left(context: Any, builder: Any, a: Any, b: Any) -> Any:
    is_far = builder.icmp_unsigned(">", b, ir.Constant(_WHOLE, 63))
    shifted = builder.shl(a, builder.and_(b, ir.Constant(_WHOLE, 63)))
    is_cut = builder.icmp_signed("!=", builder.ashr(shifted, builder.and_(b, ir.Constant(_WHOLE, 63))), a)
    give_up_if(context, builder, builder.or_(is_far, is_cut))
    return shifted


def shift_right(context: Any, builder: Any, a: Any, b: Any) -> Any:
    """a >> b, of two whole numbers of one width."""
    most = ir.Constant(a.type, a.type.width - 1)
    fail_if(context, builder, builder.icmp_signed("<", b, ir.Constant(a.type, 0)))
    return builder.ashr(a, builder.select(builder.icmp_signed(">", b, most), most, b))


def negate(context: Any, builder: Any, a: Any) -> Any:
    """The negative of an int64."""
    return subtract(context, builder, ir.Constant(_WHOLE, 0), a)


def whole_power(context: Any, builder: Any, a: Any, exponent: int) -> Any:
    """An int64 to the power of a constant that is not negative."""
    result, square = ir.Constant(_WHOLE, 1), a
    while exponent:
        if exponent & 1:
            result = multiply(context, builder, result, square)
        exponent >>= 1
        if exponent:
            square = multiply(context, builder, square, square)
    return result


def as_exact(context: Any, builder: Any, a: Any) -> Any:
    """The float64 that equals an int64."""
    shifted = builder.add(a, ir.Constant(_WHOLE, _EXACT))
    give_up_if(context, builder, builder.icmp_unsigned(">", shifted, ir.Constant(_WHOLE, 2 * _EXACT)))
    return builder.sitofp(a, _FRACTION)


def cut(context: Any, builder: Any, a: Any) -> Any:
    """The int64 that equals a whole float64."""
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [_FRACTION]), [a])
    fits = builder.fcmp_ordered("<", size, ir.Constant(_FRACTION, 2.0**63))
    give_up_if(context, builder, builder.not_(fits))
    return builder.fptosi(a, _WHOLE)


_OF_WHOLES: dict[Any, Check] = {
    operator.add: add,
    operator.sub: subtract,
    operator.mul: multiply,
    operator.lshift: _shift_left,
    operator.rshift: shift_right,
}
_COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


# --- where a heuristic says so ------------------------------------------------------------------------------------


class _Lower(Lower):  # type: ignore[misc]
    """Translate numba's typed code to LLVM's, with checked operators."""

    uses_numpy = False

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Write `a op b`."""
        given = self.fndesc.calltypes[expr]
        sides = [(self.typeof(side.name), side.name) for side in (expr.lhs, expr.rhs)]
        result = given.return_type
        self._refuse_truths(op, [kind for kind, _ in sides], result)
        if op in _OF_WHOLES and _are_whole(result, *given.args):
            a, b = (self._loaded(name, kind, types.int64) for kind, name in sides)
            return self.context.cast(self.builder, _OF_WHOLES[op](self.context, self.builder, a, b), types.int64, resty)
        wholes = [isinstance(kind, types.Integer) for kind, _ in sides]
        is_quotient = op is operator.truediv and all(wholes)
        is_mixed = op in _COMPARISONS and any(wholes) and any(isinstance(kind, types.Float) for kind, _ in sides)
        for is_whole, (kind, name) in zip(wholes, sides, strict=True):
            if is_whole and (is_quotient or is_mixed):
                as_exact(self.context, self.builder, self._loaded(name, kind, types.int64))
        is_divided = all(isinstance(kind, types.Integer | types.Boolean) for kind, _ in sides)
        if op in (operator.floordiv, operator.mod) and is_divided and _are_whole(result):
            self._check_quotient(*(self._loaded(name, kind, types.int64) for kind, name in sides))
        return super().lower_binop(resty, expr, op)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Write an expression."""
        if expr.op == "cast":
            self._keep_exact(expr.value.name, resty)
        if expr.op in ("build_list", "build_set") and hasattr(resty, "dtype"):
            for item in expr.items:
                self._keep_exact(item.name, resty.dtype)
        if expr.op == "unary":
            kind = self.typeof(expr.value.name)
            if expr.fn is operator.neg and isinstance(kind, types.Integer):
                negative = negate(self.context, self.builder, self._loaded(expr.value.name, kind, types.int64))
                return self.context.cast(self.builder, negative, types.int64, resty)
            if expr.fn is operator.invert and isinstance(kind, types.Boolean):
                raise TypingError(f"{REFUSED}it computes ~ of a condition, which is -1 or -2 in Python", loc=self.loc)
            self._refuse_truths(expr.fn, [kind, kind], resty)
        return super().lower_expr(resty, expr)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Write an assignment, also of a whole number to what is now whole, now a fraction."""
        if isinstance(inst.value, Var):
            self._keep_exact(inst.value.name, ty)
        return super().lower_assign(ty, inst)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        if isinstance(kind := self.typeof(target_var.name), types.List):
            self._keep_exact(value_var.name, kind.dtype)
        return super().lower_setitem(target_var, index_var, value_var, signature)

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """Write a call: `append` and the like, `max` and `min` make numbers of one type of theirs."""
        kind = self.typeof(expr.func.name)
        wanted: Sequence[Any] = ()
        if isinstance(kind, types.BoundFunction):
            wanted = self.fndesc.calltypes[expr].args
        elif isinstance(kind, types.Function) and kind.typing_key in (max, min):
            wanted = [self._of_all(self.typeof(argument.name), resty) for argument in expr.args]
        for argument, wanted_kind in zip(expr.args, wanted, strict=False):
            self._keep_exact(argument.name, wanted_kind)
        return super().lower_call(resty, expr)

    @staticmethod
    def _of_all(kind: Any, resty: Any) -> Any:
        """The type that an argument of `max` and `min` is given: a tuple of numbers of the result's type, or that."""
        return types.UniTuple(resty, len(kind)) if isinstance(kind, types.BaseTuple) else resty

    def _keep_exact(self, name: str, wanted: Any) -> None:
        """Give up where a variable's whole number becomes a fraction that does not equal it."""
        self._check_exact(self.loadvar(name), self.typeof(name), wanted)

    def _check_exact(self, value: Any, kind: Any, wanted: Any) -> None:
        wanted = wanted.type if isinstance(wanted, types.Optional) else wanted
        if isinstance(kind, types.Integer) and isinstance(wanted, types.Float):
            as_exact(self.context, self.builder, self.context.cast(self.builder, value, kind, types.int64))
        elif isinstance(kind, types.BaseTuple) and isinstance(wanted, types.BaseTuple) and len(kind) == len(wanted):
            for index, (part, wanted_part) in enumerate(zip(kind, wanted, strict=True)):
                self._check_exact(self.builder.extract_value(value, index), part, wanted_part)

    def _loaded(self, name: str, kind: Any, wanted: Any) -> Any:
        return self.context.cast(self.builder, self.loadvar(name), kind, wanted)

    def _check_quotient(self, a: Any, b: Any) -> None:
        """The least int64 divided by -1 is no int64."""
        least = self.builder.icmp_signed("==", a, ir.Constant(_WHOLE, -(1 << 63)))
        give_up_if(
            self.context,
            self.builder,
            self.builder.and_(least, self.builder.icmp_signed("==", b, ir.Constant(_WHOLE, -1))),
        )

    def _refuse_truths(self, op: Any, kinds: list[Any], result: Any) -> None:
        """Python's conditions are numbers; NumPy's are added by `or`, and which they are is not known here."""
        are_truths = all(isinstance(kind, types.Boolean) for kind in kinds)
        if self.uses_numpy and are_truths and isinstance(result, types.Number):
            raise TypingError(
                f"{REFUSED}it computes with conditions, whose sum is a condition in NumPy: write int(...)", loc=self.loc
            )


class _LowerWithNumpy(_Lower):
    uses_numpy = True


def _are_whole(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer) and kind.bitwidth == 64 for kind in kinds)


@register_pass(mutates_CFG=True, analysis_only=False)
class _CheckedLowering(BaseNativeLowering):  # type: ignore[misc]
    _name = "checked_lowering"
    lowering_class = _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class _CheckedLoweringWithNumpy(BaseNativeLowering):  # type: ignore[misc]
    _name = "checked_lowering_with_numpy"
    lowering_class = _LowerWithNumpy


class CheckedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, with checked operators."""

    lowering = _CheckedLowering

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, but for one."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if pass_ is NativeLowering else pass_, description) for pass_, description in passes.passes
        ]
        passes.finalize()
        return [passes]


class CheckedWithNumpy(CheckedCompiler):
    """`CheckedCompiler`, for what may compute with NumPy's numbers."""

    lowering = _CheckedLoweringWithNumpy


@intrinsic
def plus(typingctx: Any, a: Any, b: Any) -> Any:
    """a + b, checked if both are whole, and as it is defined for all but real numbers of 64 bits."""
    whole = isinstance(a, types.Integer | types.Boolean) and isinstance(b, types.Integer | types.Boolean)
    if whole:
        return types.int64(types.int64, types.int64), lambda context, builder, signature, args: add(
            context, builder, *args
        )
    are_real = all(isinstance(kind, types.Number) and not isinstance(kind, types.Complex) for kind in (a, b))
    if not are_real:
        sum_ = typingctx.resolve_value_type(operator.add)
        return sum_.get_call_type(
            typingctx, (a, b), {}
        ), lambda context, builder, signature, args: context.get_function(sum_, signature)(builder, args)
    return types.float64(types.float64, types.float64), lambda context, builder, signature, args: builder.fadd(*args)


whole_of = instructions(lambda value: types.int64(types.float64), cut)
"""The int64 that equals a whole float64; what is none is an exception."""
negative_of = instructions(lambda value: types.int64(types.int64), negate)
"""The negative of an int64."""
times = instructions(lambda a, b: types.int64(types.int64, types.int64), multiply)
"""The product of two int64."""


@intrinsic(prefer_literal=True)
def constant_power(typingctx: Any, a: Any, exponent: Any) -> Any:
    """An int64 to the power of a constant."""
    if not isinstance(exponent, types.IntegerLiteral):
        return None
    times_ = exponent.literal_value
    return types.int64(types.int64, exponent), lambda context, builder, signature, args: whole_power(
        context, builder, args[0], times_
    )


def _give_up(context: Any, builder: Any, condition: Any) -> Any:
    give_up_if(context, builder, condition)
    return context.get_dummy_value()


give_up = instructions(lambda condition: types.none(types.boolean), _give_up)
"""Fail if a condition holds: Python computes on with what compiled code cannot hold."""


# Without bounds checks an index out of range would read whatever lies there.
jit = inner(error_model="python", boundscheck=True, pipeline_class=CheckedCompiler)
jit_with_numpy = inner(error_model="python", boundscheck=True, pipeline_class=CheckedWithNumpy)


MOST_ROUNDS = 10_000_000
"""Rounds of loops, and calls of recursive functions, in one evaluation: Python would need a second and more."""
_DEEPEST = 1 << 20
"""Bytes of stack that recursion may take: some thousand calls of usual functions, as in Python."""
_ROUNDS = types.CPointer(types.int64)


def _left(context: Any, builder: Any) -> Any:
    place = cgutils.alloca_once(builder, _WHOLE)
    # Machine code of nothing: LLVM would unroll, without end, nested loops of which it knows how often they run.
    most = builder.asm(ir.FunctionType(_WHOLE, [_WHOLE]), "", "=r,0", [_WHOLE(MOST_ROUNDS)], side_effect=False)
    builder.store(most, place)
    return place


def _count(context: Any, builder: Any, place: Any) -> Any:
    left = builder.sub(builder.load(place), _WHOLE(1))
    builder.store(left, place)
    give_up_if(context, builder, builder.icmp_signed("<", left, _WHOLE(0)))
    return context.get_dummy_value()


def _count_call(context: Any, builder: Any, place: Any) -> Any:
    _count(context, builder, place)
    here = builder.ptrtoint(cgutils.alloca_once(builder, ir.IntType(8)), _WHOLE)
    depth = builder.sub(builder.ptrtoint(place, _WHOLE), here)
    give_up_if(context, builder, builder.icmp_signed(">", depth, _WHOLE(_DEEPEST)))
    return context.get_dummy_value()


rounds_left = instructions(lambda: _ROUNDS(), _left)
"""Where the rounds are counted that are left to a call and to all that it calls."""
count_round = instructions(lambda left: types.none(_ROUNDS), _count)
"""Count a round of a loop; give up if none is left."""
count_call = instructions(lambda left: types.none(_ROUNDS), _count_call)
"""Count a call of a recursive function; give up if none is left, or if the stack may be too small for more."""

_grow = SetInstance.upsize


def _grow_in_time(self: Any, nitems: Any) -> None:
    """Keep a set's table such that it has unused entries, at which alone numba's look-ups end.

    Numba counts the elements only, and not the entries of deleted ones: those of a set that shrinks and grows again
    could fill the table.
    """
    _grow(self, nitems)
    builder, payload = self._builder, self.payload
    size = builder.add(payload.mask, payload.mask.type(1))
    is_full = builder.icmp_unsigned(">=", builder.mul(payload.fill, size.type(4)), builder.mul(size, size.type(3)))
    with cgutils.if_unlikely(builder, is_full):
        self._resize(payload, size, "cannot grow set")


SetInstance.upsize = _grow_in_time
