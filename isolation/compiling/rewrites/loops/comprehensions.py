"""Lower comprehensions, generators and the builtins that consume them to loops.

`sum(f(m) for m in moves if g(m))` becomes a call of

    def loop(items):
        total = 0
        for m in items:
            if g(m):
                total += f(m)
        return total

so that nothing is allocated. Such a function is written as any inner function is: see `name_resolution`.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ...compile_errors import refuse
from ...source import rewrite
from ...source.rewrite import Rewrite, at, call, name, statements, support, target, written_out
from ..element_types import pairs, with_values

_SET_METHODS = ("intersection", "union", "difference", "issubset", "issuperset", "isdisjoint", "symmetric_difference")

_STREAMS = (itertools.chain.from_iterable, itertools.starmap, itertools.takewhile)
_ENDLESS = 1 << 62

# From Python 3.12 on, sum() of floats carries the rounding errors along.
COMPENSATED = sys.version_info >= (3, 12)


@dataclass
class Stream:
    """Elements of an iterable expression: one for each round of nested loops."""

    element: ast.expr
    generators: list[ast.comprehension]
    stops: tuple[str, ast.expr, ast.expr] | None = None
    """For `takewhile`: a variable, what it is given in each round, and the test that ends the loop where it fails."""

    @property
    def is_subset(self) -> bool:
        """Whether it is some of the elements of one iterable, unaltered."""
        return self._is_unaltered and not rewrite.is_written_out(self.generators[0].iter)

    @property
    def written_out(self) -> list[ast.expr] | None:
        """The elements, where each of them is to be written for itself."""
        ifs, items = self.generators[0].ifs, self.generators[0].iter
        is_one = isinstance(items, ast.List) and self._is_unaltered and not ifs and rewrite.is_written_out(items)
        return items.elts if is_one and isinstance(items, ast.List) else None

    @property
    def _is_unaltered(self) -> bool:
        return (
            len(self.generators) == 1
            and self.stops is None
            and isinstance(self.element, ast.Name)
            and isinstance(self.generators[0].target, ast.Name)
            and self.element.id == self.generators[0].target.id
        )


class LowerComprehensions(Rewrite):
    """A consumer of an iterable and the iterable together become one loop."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        changed = self.changed_names(node)
        augmented = [inner for inner in ast.walk(node) if isinstance(inner, ast.AugAssign)]
        signs = [(one.target.id, one.op) for one in augmented if isinstance(one.target, ast.Name)]
        self.changed = changed | {called for called, _ in signs}
        self.changed_lists = changed | {
            called for called, sign in signs if not isinstance(sign, ast.Sub | ast.BitAnd | ast.BitOr)
        }

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Build a list that will be changed as a list, whatever it is made from."""
        given = pairs(node)
        if not any(isinstance(place, ast.Name) and place.id in self.changed for place, _ in given):
            return self.generic_visit(node)
        return with_values(node, [self._assigned(place, value) for place, value in given])

    def _assigned(self, place: ast.expr, value: ast.expr) -> ast.expr:
        made = self._changeable(value, place.id) if isinstance(place, ast.Name) and place.id in self.changed else None
        if made is not None:
            return at(value, made)
        visited = self.visit(value)
        assert isinstance(visited, ast.expr)
        return visited

    def _changeable(self, node: ast.expr, called: str) -> ast.expr | None:
        """Make a list or set that can be changed where a set of cells would do otherwise.

        What a game returns is a list to Python, too, which `-=`, `&=` and `|=` do not change: they make another.
        """
        if isinstance(node, ast.BinOp):
            return self.generic_visit(node)  # type: ignore[return-value]
        if isinstance(node, ast.ListComp | ast.SetComp):
            stream = self._stream(node, may_repeat=True)
            return self._build("list" if isinstance(node, ast.ListComp) else "set", node, stream)
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute):
            made_by_games = ("get_legal_moves", "get_blank_spaces", "reach")
            lists = node.func.attr == "copy" or (node.func.attr in made_by_games and called in self.changed_lists)
            return support("new_list", self.visit(node)) if lists and self.kind(node) is None else None
        kind = self.builtin(node.func)
        if kind in ("list", "set") and len(node.args) == 1:
            return support(f"new_{kind}", self.visit(node.args[0]))
        return None

    def visit_For(self, node: ast.For) -> Any:
        """Run over `count()` and `takewhile(...)` without listing them."""
        library = self._library(node.iter) if isinstance(node.iter, ast.Call) else None
        if library is itertools.takewhile and not node.orelse and isinstance(node.iter, ast.Call):
            stream = self._stream(node.iter)
            if stream.stops is not None and not stream.generators[0].ifs:
                item, value, test = stream.stops
                self.scope.names.update(one.id for one in ast.walk(stream.generators[0].target) if hasattr(one, "id"))
                self.scope.names.add(item)
                end = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
                first = [ast.Assign([target(item)], value), end, ast.Assign([node.target], name(item))]
                node.body = [*(at(node, one) for one in first), *node.body]
                node.target, node.iter = stream.generators[0].target, stream.generators[0].iter
        node.iter = at(node, self._ended(node.iter))
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "sort":
            owner = value.func.value
            if isinstance(owner, ast.Name) and self.scope.look_up(owner.id, owner) is None:
                ordered = at(node, ast.Call(self.context.builtin("sorted"), [name(owner.id)], value.keywords))
                return at(node, ast.Assign([target(owner.id)], self.visit(ordered)))
        return self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
        stream = self._stream(node)
        return self._build("subset" if stream.is_subset else "list", node, stream)

    visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_SetComp(self, node: Any) -> Any:
        stream = self._stream(node, may_repeat=True)
        return self._build("subset_without_repeats" if stream.is_subset else "set", node, stream)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Build `{(row + 1, column) for ...} & blank` as some of the second set, which may be a set of cells."""
        if isinstance(node.op, ast.BitAnd):
            for made, others in ((node.left, node.right), (node.right, node.left)):
                common = self._common(node, made, others)
                if common is not None:
                    return common
        return self.generic_visit(node)

    def _common(self, node: ast.AST, made: ast.expr, others: ast.expr) -> ast.expr | None:
        """Return the elements of a set made here that are in another one; None if it is not made here."""
        is_call = isinstance(made, ast.Call) and self.builtin(made.func) == "set" and len(made.args) == 1
        inner = made.args[0] if is_call and isinstance(made, ast.Call) else made
        if not isinstance(inner, ast.GeneratorExp | ast.ListComp if is_call else ast.SetComp):
            return None
        if isinstance(others, ast.SetComp | ast.Set) or self.known(others) is not None:
            return None
        return self._build("common", node, self._stream(inner, may_repeat=True), self.visit(others))

    def visit_DictComp(self, node: Any) -> Any:
        return self._build("dict", node, Stream(ast.Tuple([node.key, node.value], ast.Load()), node.generators))

    def visit_Call(self, node: ast.Call) -> Any:
        kind = self._consumer(node)
        consume = getattr(self, f"_consume_{kind}", None)
        if consume is not None and not any(isinstance(argument, ast.Starred) for argument in node.args):
            result = consume(node)
            if result is not None:
                return at(node, result)
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr in _SET_METHODS:
            known = self.known(method.value)
            owner = None if known is not None and not isinstance(known.value, set | frozenset) else method.value
            if owner is not None:
                owner = support("as_set", owner) if known is not None else self.visit(owner)
                return at(node, support(method.attr, owner, *map(self.visit, node.args)))
        return self.generic_visit(node)

    def _consumer(self, node: ast.Call) -> str | None:
        if self._is_product(node):
            return "product"
        callee = self.known(node.func)
        if self._library(node) in _STREAMS:
            return "library"
        return "reduce" if callee is not None and callee.value is functools.reduce else self.builtin(node.func)

    # --- consumers: each returns the call that replaces it, or None to leave it ------------------------------------

    def _consume_len(self, node: ast.Call) -> ast.expr | None:
        inner = node.args[0]
        if isinstance(inner, ast.Call) and self.builtin(inner.func) in ("list", "tuple") and inner.args:
            inner = inner.args[0]
        if isinstance(inner, ast.ListComp | ast.GeneratorExp) or self._is_lazy(inner):
            return self._build("count", node, self._stream(inner))
        return None

    def _consume_sum(self, node: ast.Call) -> ast.expr | None:
        start = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), ast.Constant(0))
        stream = self._stream(node.args[0])
        if isinstance(start, ast.List | ast.Tuple) and not start.elts:
            item = self.context.fresh("item")
            flat = Stream(name(item), [*stream.generators, _comprehension(item, stream.element)])
            return self._build("list", node, flat)
        is_from_zero = isinstance(start, ast.Constant) and start.value == 0
        compensated = "compensated_sum" if is_from_zero else "compensated_sum_from"
        return self._build(compensated if COMPENSATED else "sum", node, stream, self.visit(start))

    def _consume_reduce(self, node: ast.Call) -> ast.expr | None:
        combine, items, *start = node.args
        kind = "reduce" if start else "reduce_from_first"
        return self._build(kind, node, self._stream(items), *map(self.visit, start), combine=combine)

    def _consume_any(self, node: ast.Call) -> ast.expr | None:
        kind = self._consumer(node)
        assert kind is not None
        return self._build(kind, node, self._stream(node.args[0], may_repeat=True))

    _consume_all = _consume_any

    def _consume_max(self, node: ast.Call) -> ast.expr | None:
        return self._extreme(node, ">")

    def _consume_min(self, node: ast.Call) -> ast.expr | None:
        return self._extreme(node, "<")

    def _extreme(self, node: ast.Call, beyond: str) -> ast.expr | None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if len(node.args) > 1 and "key" not in keywords:
            if not self.context.attempt or len(node.args) != 2:
                return None
            return support("larger" if beyond == ">" else "smaller", *map(self.visit, node.args))
        items = node.args[0] if len(node.args) == 1 else at(node, ast.Tuple(node.args, ast.Load()))
        key = keywords.get("key")
        stream = self._stream(items, may_repeat=key is None)
        if "default" in keywords:
            default = self.visit(keywords["default"])
            return self._build("extreme_or_default", node, stream, default, order=beyond, key=key)
        return self._build("extreme", node, stream, order=beyond, key=key)

    def _consume_sorted(self, node: ast.Call) -> ast.expr | None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        reverse = keywords.get("reverse", ast.Constant(False))
        if not isinstance(reverse, ast.Constant):
            return None
        stream, order = self._stream(node.args[0]), "<" if reverse.value else ">"
        return self._build("sorted", node, stream, order=order, key=keywords.get("key"))

    def _consume_list(self, node: ast.Call) -> ast.expr | None:
        return self._collect(node, "list", "own_list" if self.context.attempt else "as_list")

    def _consume_tuple(self, node: ast.Call) -> ast.expr | None:
        made = self._collect(node, "list", "as_list")
        if made is None or not self.context.attempt or not node.args:
            return made
        return support("as_many", self._only_source(self._stream(node.args[0])), made)

    def _only_source(self, stream: Stream) -> ast.expr:
        """Return an expression with as many elements as a stream, if one is known."""
        if len(stream.generators) != 1 or stream.generators[0].ifs:
            return ast.Constant(0)
        source = stream.generators[0].iter
        if isinstance(source, ast.Call) and self.builtin(source.func) == "zip":
            source = source.args[0]
        return (
            self.visit(copy.deepcopy(source))
            if isinstance(source, ast.Name | ast.Attribute | ast.Call)
            else ast.Constant(0)
        )

    def _consume_set(self, node: ast.Call) -> ast.expr | None:
        return self._collect(node, "set", "as_set")

    def _collect(self, node: ast.Call, kind: str, plain: str) -> ast.expr | None:
        if not node.args:
            return None
        inner = node.args[0]
        if not (isinstance(inner, ast.ListComp | ast.GeneratorExp | ast.SetComp) or self._is_lazy(inner)):
            return support(plain, self.visit(inner))
        if isinstance(inner, ast.SetComp):
            return self._collect_set(inner, kind)
        stream = self._stream(inner)
        if stream.is_subset:
            kind = "subset" if kind == "list" else "subset_without_repeats"
        return self._build(kind, node, stream)

    def _collect_set(self, node: ast.SetComp, kind: str) -> ast.expr:
        made: ast.expr = self.visit(node)
        return made if kind == "set" else support("as_list", made)

    def _consume_next(self, node: ast.Call) -> ast.expr | None:
        stream = self._stream(node.args[0])
        if len(node.args) > 1:
            return self._build("first_or_default", node, stream, self.visit(node.args[1]))
        return self._build("first", node, stream)

    def _consume_reversed(self, node: ast.Call) -> ast.expr | None:
        return support("backwards", self.visit(node.args[0]))

    def _consume_map(self, node: ast.Call) -> ast.expr | None:
        return self._build("list", node, self._stream(node))

    _consume_product = _consume_library = _consume_map

    def _consume_filter(self, node: ast.Call) -> ast.expr | None:
        stream = self._stream(node)
        return self._build("subset" if stream.is_subset else "list", node, stream)

    # --- iterables -------------------------------------------------------------------------------------------------

    def _is_lazy(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        return self.builtin(node.func) in ("map", "filter") or self._is_product(node) or self._library(node) in _STREAMS

    def _library(self, node: ast.Call) -> Any:
        """The function of a library that a call calls, as far as that can be looked for."""
        callee = None if node.keywords else self.known(node.func)
        return callee.value if callee is not None and isinstance(callee.value, Hashable) else None

    def _is_product(self, node: ast.Call) -> bool:
        callee = self.known(node.func)
        return callee is not None and callee.value is itertools.product and not node.keywords

    def _stream(self, node: ast.expr, may_repeat: bool = False) -> Stream:
        """View an iterable as nested loops.

        Args:
            may_repeat: a set's elements may come more than once.
        """
        if isinstance(node, ast.GeneratorExp | ast.ListComp) or (may_repeat and isinstance(node, ast.SetComp)):
            return Stream(node.elt, node.generators)
        if isinstance(node, ast.Call):
            kind = self.builtin(node.func)
            if kind in ("list", "tuple", "iter") and len(node.args) == 1:
                return self._stream(node.args[0])
            if self._is_product(node):
                items = [self.context.fresh("item") for _ in node.args]
                rows = [_comprehension(item, source) for item, source in zip(items, node.args, strict=True)]
                return Stream(ast.Tuple([name(item) for item in items], ast.Load()), rows)
            library = self._library(node)
            if library == itertools.chain.from_iterable and len(node.args) == 1:
                inner, item = self._stream(node.args[0]), self.context.fresh("item")
                return Stream(name(item), [*inner.generators, _comprehension(item, inner.element)])
            if library is itertools.starmap and len(node.args) == 2:
                item = self.context.fresh("item")
                element = call(node.args[0], ast.Starred(name(item), ast.Load()))
                return Stream(element, [_comprehension(item, node.args[1])])
            if library is itertools.takewhile and len(node.args) == 2:
                return self._while(node)
            if kind == "map" and len(node.args) >= 2:
                return self._map(node)
            if kind == "filter" and len(node.args) == 2:
                item = self.context.fresh("item")
                test = name(item) if self._is_none(node.args[0]) else call(node.args[0], name(item))
                return Stream(name(item), [_comprehension(item, node.args[1], test)])
        item = self.context.fresh("item")
        return Stream(name(item), [_comprehension(item, node)])

    def _while(self, node: ast.Call) -> Stream:
        """The elements of `takewhile(test, items)`."""
        test, items = node.args
        item = self.context.fresh("item")
        stream = self._stream(items)
        if len(stream.generators) > 1 or stream.stops is not None:
            inner = self.context.fresh("item")
            stream = Stream(name(inner), [_comprehension(inner, items)])
        return Stream(name(item), stream.generators, (item, stream.element, call(test, name(item))))

    def _ended(self, node: ast.expr) -> ast.expr:
        """`range(...)` for a `count(...)` that a loop runs over, alone or in a `zip`, and leaves before its end."""
        if not isinstance(node, ast.Call):
            return node
        if self.builtin(node.func) == "zip":
            node.args = [self._ended(argument) for argument in node.args]
        if self.value_of(node.func, ast.AST) is not itertools.count:
            return node
        given: dict[str | None, ast.expr] = {"start": ast.Constant(0), "step": ast.Constant(1)}
        given |= dict(zip(given, node.args, strict=False)) | {word.arg: word.value for word in node.keywords}
        step = written_out(given["step"])
        if not isinstance(step, int) or step == 0:
            refuse("it counts in steps that are no whole number written out: multiply inside the loop", node)
        end = ast.Constant(_ENDLESS if step > 0 else -_ENDLESS)
        return call(self.context.builtin("range"), given["start"], end, given["step"])

    def _map(self, node: ast.Call) -> Stream:
        items = [self.context.fresh("item") for _ in node.args[1:]]
        element = call(node.args[0], *map(name, items))
        if len(items) == 1:
            return Stream(element, [_comprehension(items[0], node.args[1])])
        together = ast.comprehension(
            ast.Tuple([target(item) for item in items], ast.Store()),
            call(self.context.builtin("zip"), *node.args[1:]),
            [],
            0,
        )
        return Stream(element, [together])

    def _is_none(self, node: ast.expr) -> bool:
        known = self.known(node) if isinstance(node, ast.Constant | ast.Name) else None
        return known is not None and known.value is None

    # --- loops -----------------------------------------------------------------------------------------------------

    def _build(
        self,
        kind: str,
        node: ast.AST,
        stream: Stream,
        *given: ast.expr,
        order: str = "",
        key: ast.expr | None = None,
        combine: ast.expr | None = None,
    ) -> ast.expr:
        """Define the loop and return its call: on the first iterable, and on what else the consumer was given."""
        if any(generator.is_async for generator in stream.generators):
            refuse("it awaits", node)
        items = stream.generators[0]
        v = self.context.fresh
        source, value, extra = v("items"), v("value"), [v("given") for _ in given]
        before, each, after = (text.replace("BEYOND", order).strip() for text in _LOOPS[kind])
        parts = {
            "ITEMS": name(source),
            "ELEMENT": stream.element,
            "V_VALUE": name(value),
            "KEY_OF_VALUE": name(value) if key is None or self._is_none(key) else call(key, name(value)),
            **{f"V_{word}": name(v(word.lower())) for word in _OWN_NAMES},
            "GIVEN": name(extra[0] if extra else ""),
        }
        if combine is not None:
            parts["COMBINED"] = call(combine, parts["V_TOTAL"], parts["ELEMENT"])
        written = stream.written_out
        if written is not None:
            inner = [
                statement for element in written for statement in statements(each, **{**parts, "ELEMENT": element})
            ]
        else:
            inner = self._looped(statements(each, **parts), source, stream)
        body = [*statements(before, **parts), *inner, *statements(after, **parts)]
        loop = self.context.define(kind, at(node, rewrite.function(kind, [source, *extra], body)))
        over = self.visit(self._ended(items.iter)) if written is None else ast.Constant(0)
        return at(node, call(name(loop), over, *given))

    def _looped(self, inner: list[ast.stmt], source: str, stream: Stream) -> list[ast.stmt]:
        """Put statements into the loops of a stream, the outermost over a parameter."""
        items, *others = stream.generators
        if stream.stops is not None:
            item, value, test = stream.stops
            inner = [ast.Assign([target(item)], value), ast.If(test, inner, [ast.Break()])]
        for generator in reversed([ast.comprehension(items.target, name(source), items.ifs, 0), *others]):
            for test in reversed(generator.ifs):
                inner = [ast.If(test, inner, [])]
            inner = [ast.For(generator.target, generator.iter, inner, [])]
        return inner


_OWN_NAMES = ("TOTAL", "REST", "FOUND", "BEST", "KEY", "BEST_KEY", "PAIR", "KEYS", "VALUES", "PLACE")

# What goes before the loops, into the innermost, and after them. BEYOND is < or >.
_LOOPS = {
    "sum": ("V_TOTAL = GIVEN", "V_TOTAL += ELEMENT", "return V_TOTAL"),
    "compensated_sum": (
        "V_TOTAL = GIVEN; V_REST = 0.0",
        "V_TOTAL, V_REST = _isolation.add(V_TOTAL, V_REST, ELEMENT)",
        "return _isolation.added(V_TOTAL, V_REST)",
    ),
    "compensated_sum_from": (
        "V_TOTAL = GIVEN; V_REST = _isolation.rest_of(GIVEN)",
        "V_TOTAL, V_REST = _isolation.add_from(V_TOTAL, V_REST, ELEMENT)",
        "return _isolation.added(V_TOTAL, V_REST)",
    ),
    "reduce": ("V_TOTAL = GIVEN", "V_TOTAL = COMBINED", "return V_TOTAL"),
    "reduce_from_first": (
        "V_FOUND = False",
        """
if not V_FOUND:
    V_TOTAL = ELEMENT
    V_FOUND = True
else:
    V_TOTAL = COMBINED
""",
        "if not V_FOUND:\n    raise ValueError('reduce() of nothing')\nreturn V_TOTAL",
    ),
    "count": ("V_TOTAL = 0", "V_TOTAL += 1", "return V_TOTAL"),
    "any": ("", "if ELEMENT:\n    return True", "return False"),
    "all": ("", "if not ELEMENT:\n    return False", "return True"),
    "first": ("", "return ELEMENT", "raise ValueError('next() of nothing')"),
    "first_or_default": ("", "return ELEMENT", "return GIVEN"),
    "list": ("V_TOTAL = []", "V_TOTAL.append(ELEMENT)", "return V_TOTAL"),
    "set": ("V_TOTAL = set()", "V_TOTAL.add(ELEMENT)", "return V_TOTAL"),
    "dict": ("V_TOTAL = {}", "V_PAIR = ELEMENT; V_TOTAL[V_PAIR[0]] = V_PAIR[1]", "return V_TOTAL"),
    "subset": (
        "V_TOTAL = _isolation.none_of(ITEMS)",
        "V_TOTAL = _isolation.with_element(V_TOTAL, ELEMENT)",
        "return V_TOTAL",
    ),
    "subset_without_repeats": (
        "V_TOTAL = _isolation.none_of_set(ITEMS)",
        "V_TOTAL = _isolation.with_element(V_TOTAL, ELEMENT)",
        "return V_TOTAL",
    ),
    "common": (
        "V_TOTAL = _isolation.none_of_set(GIVEN)",
        """
V_VALUE = ELEMENT
if _isolation.contains(GIVEN, V_VALUE):
    V_TOTAL = _isolation.with_element(V_TOTAL, V_VALUE)
""",
        "return V_TOTAL",
    ),
    "sorted": (
        "V_KEYS = []; V_VALUES = []",
        """
V_VALUE = ELEMENT
V_KEY = KEY_OF_VALUE
V_PLACE = len(V_KEYS)
V_VALUES.append(V_VALUE)
V_KEYS.append(V_KEY)
while V_PLACE > 0 and V_KEYS[V_PLACE - 1] BEYOND V_KEY:
    V_KEYS[V_PLACE] = V_KEYS[V_PLACE - 1]
    V_VALUES[V_PLACE] = V_VALUES[V_PLACE - 1]
    V_PLACE -= 1
V_KEYS[V_PLACE] = V_KEY
V_VALUES[V_PLACE] = V_VALUE
""",
        "return V_VALUES",
    ),
}
# BEST is assigned before it is compared in the text too, which numba insists on.
_FIND_EXTREME = (
    "V_FOUND = False",
    """
V_VALUE = ELEMENT
V_KEY = KEY_OF_VALUE
if not V_FOUND:
    V_BEST = V_VALUE
    V_BEST_KEY = V_KEY
    V_FOUND = True
elif V_KEY BEYOND V_BEST_KEY:
    V_BEST = V_VALUE
    V_BEST_KEY = V_KEY
""",
)
_LOOPS |= {
    "extreme": (*_FIND_EXTREME, "if not V_FOUND:\n    raise ValueError('max() or min() of nothing')\nreturn V_BEST"),
    "extreme_or_default": (*_FIND_EXTREME, "if not V_FOUND:\n    return GIVEN\nreturn V_BEST"),
}


def _comprehension(item: str, source: ast.expr, *tests: ast.expr) -> ast.comprehension:
    return ast.comprehension(target(item), source, list(tests), 0)
