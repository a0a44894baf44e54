"""Expressions: one function for each node of the syntax tree."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any

from .board import cell_of_pair, no_cells
from .calls import call, kept
from .flow import Edge, Flow
from .frames import Frame
from .functions import is_consumer, known_items
from .iteration import each, items_of, length
from .methods import CHANGES
from .numbers import absolute, as_bit, is_wide, negative, number, tabulated, to_int
from .operations import (
    add_to_list,
    as_value,
    attribute,
    binary,
    compare,
    element,
    extend,
    negation,
    run_python,
    set_attribute,
    set_element_of,
    truth_of,
)
from .sets import add, new_set, update
from .values import (
    Bound,
    Cells,
    Closure,
    Entries,
    Fields,
    Items,
    Lazy,
    Number,
    Optional,
    Partial,
    Spread,
    Static,
    Tuple,
    UnsupportedError,
    Value,
)


def frame_of(flow: Flow) -> Frame:
    """The function whose code is being emitted."""
    frame: Frame = flow.frames[-1]
    return frame


def site_of(flow: Flow, node: ast.AST) -> Hashable:
    """What tells a node in this call of its function from all others."""
    return (frame_of(flow).site, id(node))


def evaluate(flow: Flow, node: ast.AST) -> Value:
    """Emit the code of an expression; its value.

    Raises:
        UnsupportedError: it cannot be compiled.
    """
    if flow.is_dead:
        return Static(None)
    compiled = _EXPRESSIONS.get(type(node))
    if compiled is None:
        raise UnsupportedError(f"an expression of the kind {type(node).__name__}")
    flow.node = node
    flow.heap.spend(1)
    return compiled(flow, node)


# --- names


def location_of_name(flow: Flow, name: str) -> Hashable:
    """Where a variable that is assigned lies."""
    frame = frame_of(flow)
    if name in frame.nonlocals:
        outer = frame.parent
        while outer is not None:
            if name in outer.own_names and name not in outer.nonlocals:
                return ("local", outer.number, name)
            outer = outer.parent
        raise UnsupportedError(f"{name} lies outside the heuristic and changes")
    return ("local", frame.number, name)


def value_of_name(flow: Flow, name: str) -> Value:
    """The value of a variable.

    Raises:
        UnsupportedError: it may have none, or a function of the module changes it.
    """
    frame: Frame | None = frame_of(flow)
    while frame is not None:
        key = ("local", frame.number, name)
        if key in flow.here():
            return flow.here()[key]
        if name in frame.own_names and name not in frame.nonlocals:
            if key in flow.hidden:
                flow.demand_order()
            raise UnsupportedError(flow.reasons.get(key, f"{name} is bound on some ways only"))
        if name in frame.cells:
            return frame.cells[name]
        around, frame = frame, frame.parent
    if name in around.space:
        return _global(around, name)
    if hasattr(builtins, name):
        return Static(getattr(builtins, name))
    raise UnsupportedError(f"{name} is not defined")


def _global(frame: Frame, name: str) -> Value:
    """The value of a module's variable.

    Raises:
        UnsupportedError: a function of the module changes it.
    """
    value = frame.space[name]
    if name in frame.changes and not isinstance(value, ModuleType | FunctionType):
        reason = f"it reads {name}, which line {frame.changes[name]} changes between calls"
        raise UnsupportedError(reason, is_unrepeatable=True)
    if isinstance(value, dict) and not value:
        reason = f"it looks things up in {name}, which is empty: what is kept between calls is unknown"
        raise UnsupportedError(reason, is_unrepeatable=True)
    return Static(value)


# --- assignments


def assign(flow: Flow, target: ast.AST, value: Value) -> None:
    """Emit an assignment to a target."""
    if flow.is_dead:
        return
    if isinstance(value, Lazy) and isinstance(target, ast.Tuple | ast.List):
        value = call(flow, Static(list), [value], {}, (id(target), "unpacked"))
    value = kept(flow, value)
    if flow.is_dead:
        return
    if isinstance(target, ast.Name):
        flow.here()[location_of_name(flow, target.id)] = value
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(flow, target.elts, value)
    elif isinstance(target, ast.Subscript):
        set_element_of(flow, evaluate(flow, target.value), evaluate(flow, target.slice), value)
    elif isinstance(target, ast.Attribute):
        set_attribute(flow, evaluate(flow, target.value), target.attr, value)
    else:
        raise UnsupportedError("such an assignment")


def _unpack(flow: Flow, targets: list[ast.expr], value: Value) -> None:
    if isinstance(value, Optional):
        flow.fail_if(value.signal, TypeError)
        value = value.value
    items = items_of(flow, value)
    starred = [place for place, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if items is None:
        items = _items_of_unknown_length(flow, value, len(targets), starred)
    if starred and any(isinstance(item, Spread) for item in items):
        items = [item.iterable if isinstance(item, Spread) else item for item in items]
        targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
    elif starred:
        first, after = starred[0], len(targets) - starred[0] - 1
        if len(items) < len(targets) - 1:
            flow.fail(ValueError)
            return
        end = len(items) - after
        rest = flow.new(Items(tuple(items[first:end])))
        items = [*items[:first], rest, *items[end:]]
        targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
    if len(items) != len(targets):
        flow.fail(ValueError)
        return
    for target, item in zip(targets, items, strict=True):
        assign(flow, target, item)


def _items_of_unknown_length(flow: Flow, value: Value, count: int, starred: list[int]) -> list[Value]:
    """The items that so many targets get, of a list whose length is checked while the code runs."""
    length_ = length(flow, value)
    operation = ast.Lt if starred else ast.NotEq
    least = count - len(starred)
    flow.fail_if(truth_of(flow, compare(flow, operation, length_, Static(least))), ValueError)
    if not starred:
        return [element(flow, value, Static(place)) for place in range(count)]
    before, after = starred[0], count - starred[0] - 1
    end = binary(flow, ast.Sub, length_, Static(after))
    rest = element(flow, value, Tuple((Static(before), end, Static(None)), slice))
    last = [element(flow, value, Static(place - after)) for place in range(after)]
    return [*(element(flow, value, Static(place)) for place in range(before)), Spread(rest), *last]


# --- conditions


def condition(flow: Flow, test: ast.expr) -> tuple[list[Edge], list[Edge]]:
    """The ways on where a test holds, and where it does not."""
    if flow.is_dead:
        return [], []
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yes, no = condition(flow, test.operand)
        return no, yes
    if isinstance(test, ast.BoolOp):
        return _condition_of_several(flow, test)
    value = evaluate(flow, test)
    if flow.is_dead:
        return [], []
    yes, no = flow.ways(truth_of(flow, value))
    _narrow(flow, test, yes, no)
    return yes, no


def _condition_of_several(flow: Flow, test: ast.BoolOp) -> tuple[list[Edge], list[Edge]]:
    is_and = isinstance(test.op, ast.And)
    decided = flow.collect()
    going_on: list[Edge] = []
    for place, part in enumerate(test.values):
        yes, no = condition(flow, part)
        decided.extend(no if is_and else yes)
        going_on = yes if is_and else no
        if place < len(test.values) - 1:
            flow.merge(going_on)
            going_on = []
            if flow.is_dead:
                break
    flow.pending = [edges for edges in flow.pending if edges is not decided]
    return (going_on, decided) if is_and else (decided, going_on)


def _narrow(flow: Flow, test: ast.expr, yes: list[Edge], no: list[Edge]) -> None:
    """Note what a test says about a variable that may be None."""
    if isinstance(test, ast.NamedExpr):
        test = test.target
    name, holds_none = test, False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        if test.comparators[0].value is not None:
            return
        name, holds_none = test.left, isinstance(test.ops[0], ast.Is | ast.Eq)
    if not isinstance(name, ast.Name):
        return
    key = ("local", frame_of(flow).number, name.id)
    for edges, is_none in ((yes, holds_none), (no, not holds_none)):
        for edge in edges:
            value = edge.state.get(key)
            if isinstance(value, Optional):
                if not is_none:
                    edge.state[key] = value.value
                elif isinstance(test, ast.Compare):
                    edge.state[key] = Static(None)


def either(flow: Flow, test: ast.expr, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Emit code for where a test holds, and for where it does not."""
    yes, no = condition(flow, test)
    ends, waiting = flow.collect(), flow.collect()
    waiting.extend(no)
    flow.merge(yes)
    if not flow.is_dead:
        then()
        if not flow.is_dead:
            ends.append(flow.edge())
    flow.pending = [edges for edges in flow.pending if edges is not waiting]
    flow.merge(waiting)
    if not flow.is_dead:
        otherwise()
    flow.merge_pending(ends)


def _if_expression(flow: Flow, node: ast.IfExp) -> Value:
    result = ("hidden", (site_of(flow, node), "value"))

    def note(part: ast.expr) -> None:
        value = evaluate(flow, part)
        if not flow.is_dead:
            flow.here()[result] = value

    either(flow, node.test, lambda: note(node.body), lambda: note(node.orelse))
    return _taken(flow, result)


def _taken(flow: Flow, result: Hashable) -> Value:
    if flow.is_dead:
        return Static(None)
    value = flow.here().pop(result, None)
    if value is None:
        raise UnsupportedError("an expression has values of different kinds")
    return value


def _bool_op(flow: Flow, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)
    result = ("hidden", (site_of(flow, node), "value"))
    ends = flow.collect()
    for place, part in enumerate(node.values):
        value = evaluate(flow, part)
        if flow.is_dead:
            break
        bit = truth_of(flow, value)
        is_last = place == len(node.values) - 1
        decided, going_on = flow.ways(Static(True) if is_last else bit if not is_and else negation(flow, bit))
        for edge in decided:
            edge.state[result] = _decided_value(value, is_and, is_last)
        ends.extend(decided)
        flow.merge(going_on)
        if flow.is_dead:
            break
    flow.merge_pending(ends)
    return _taken(flow, result)


def _decided_value(value: Value, is_and: bool, is_last: bool) -> Value:
    """What `and` or `or` gives with a value that decides it: a false one, or one that is not None."""
    if is_last:
        return value
    if not is_and and isinstance(value, Optional):
        return value.value
    if is_and and isinstance(value, Number) and value.name != "float":
        return Static(False if value.name == "bool" else 0)
    return value


# --- operators


def _unary(flow: Flow, node: ast.UnaryOp) -> Value:
    value = evaluate(flow, node.operand)
    if flow.is_dead:
        return value
    if isinstance(node.op, ast.Not):
        return as_value(negation(flow, truth_of(flow, value)))
    if isinstance(value, Static):
        operators = {ast.USub: lambda x: -x, ast.UAdd: lambda x: +x, ast.Invert: lambda x: ~x}
        return run_python(flow, operators[type(node.op)], value.value)
    if isinstance(node.op, ast.USub):
        return negative(flow, value)
    if isinstance(node.op, ast.UAdd):
        return value
    given = number(flow, value)
    given = given if is_wide(given) else to_int(flow, given)
    return Number("int", flow.build.not_(given.signal), ~given.high, ~given.low)


def _binary(flow: Flow, node: ast.BinOp) -> Value:
    left = evaluate(flow, node.left)
    right = evaluate(flow, node.right)
    return left if flow.is_dead else binary(flow, type(node.op), left, right)


def _compare(flow: Flow, node: ast.Compare) -> Value:
    match node:
        case ast.Compare(one, [ast.In() | ast.NotIn() as operation], [ast.Set(elements)]):
            value = evaluate(flow, one)
            return compare(flow, type(operation), value, Tuple(tuple(_items(flow, elements))))
        case ast.Compare(ast.Set(first), [ast.Eq() | ast.NotEq() as operation], [ast.Set(second)]):
            return _compare_sets(flow, type(operation), _items(flow, first), _items(flow, second))
    left = evaluate(flow, node.left)
    if len(node.ops) == 1:
        right = evaluate(flow, node.comparators[0])
        return left if flow.is_dead else compare(flow, type(node.ops[0]), left, right)
    result = ("hidden", (site_of(flow, node), "value"))
    ends = flow.collect()
    for place, (operation, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):  # type: ignore[assignment]
        right = evaluate(flow, comparator)
        if flow.is_dead:
            break
        bit = truth_of(flow, compare(flow, type(operation), left, right))
        if place == len(node.ops) - 1:
            flow.here()[result] = as_value(bit)
            ends.append(flow.edge())
            break
        going_on, decided = flow.ways(bit)
        for edge in decided:
            edge.state[result] = Static(False)
        ends.extend(decided)
        flow.merge(going_on)
        if flow.is_dead:
            break
        left = right
    flow.merge_pending(ends)
    return _taken(flow, result)


def _compare_sets(flow: Flow, operation: type[ast.AST], first: list[Value], second: list[Value]) -> Value:
    """A comparison of two sets that are written out."""
    result: Value = Static(True)
    for items, others in ((first, second), (second, first)):
        for item in items:
            found = truth_of(flow, compare(flow, ast.In, item, Tuple(tuple(others))))
            result = as_value(flow.build.and_(as_bit(truth_of(flow, result)), as_bit(found)))
    return result if operation is ast.Eq else as_value(negation(flow, truth_of(flow, result)))


# --- containers


def _tuple(flow: Flow, node: ast.Tuple) -> Value:
    items = _items(flow, node.elts)
    if any(isinstance(item, Spread) for item in items):
        return _list(flow, node)  # type: ignore[arg-type]
    if all(isinstance(item, Static) for item in items):
        return Static(tuple(item.value for item in items))  # type: ignore[attr-defined]
    return cell_of_pair(flow, items) or Tuple(tuple(items))


def _items(flow: Flow, nodes: list[ast.expr]) -> list[Value]:
    """The values of expressions; an iterable after a star whose length is not known stands for itself."""
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = evaluate(flow, node.value)
            known = known_items(flow, value)
            items += [Spread(value)] if known is None else known
        else:
            items.append(evaluate(flow, node))
    return items


def _list(flow: Flow, node: ast.List) -> Value:
    items = _items(flow, node.elts)
    if flow.is_dead:
        return Static(None)
    if not any(isinstance(item, Spread) for item in items):
        return flow.new(Items(tuple(items)))
    made = flow.new(Items(()))
    with flow.holding(made):
        for place, item in enumerate(items):
            if isinstance(item, Spread):
                extend(flow, made, item.iterable, (site_of(flow, node), place))
            else:
                add_to_list(flow, made, item)
    return made


def _set(flow: Flow, node: ast.Set) -> Value:
    items = _items(flow, node.elts)
    constants = [item.value for item in items if isinstance(item, Static)]
    backwards = constants[::-1]
    if flow.heap.keeps_order and len(constants) == len(items) and list(set(constants)) != list(set(backwards)):
        raise UnsupportedError("a set of constants, whose order is another one once its file has been compiled")
    made = new_set(flow, id(node))
    with flow.holding(made):
        for item in items:
            if isinstance(item, Spread):
                update(flow, made, item.iterable, id(node))
            else:
                add(flow, made, item, id(node))
    return made


def _dict(flow: Flow, node: ast.Dict) -> Value:
    made = flow.new(Entries((), ()))
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise UnsupportedError("** in a dictionary")
        set_element_of(flow, made, evaluate(flow, key), evaluate(flow, value))
    return made


def _attribute(flow: Flow, node: ast.Attribute) -> Value:
    match node.value:
        case ast.Call(ast.Name("super"), []) if "__class__" in (cells := frame_of(flow).cells):
            owner, myself = cells["__class__"], value_of_name(flow, frame_of(flow).node.args.args[0].arg)
            return _inherited(flow, owner.value, myself, node.attr)  # type: ignore[attr-defined]
    value = evaluate(flow, node.value)
    return value if flow.is_dead else attribute(flow, value, node.attr)


def _inherited(flow: Flow, owner: type, myself: Value, name: str) -> Value:
    """What `super()` of a class gives for a name."""
    content = flow.content(myself)
    own = content.owner if isinstance(content, Fields) else type(getattr(content, "value", None))
    later = own.__mro__[own.__mro__.index(owner) + 1 :] if owner in own.__mro__ else ()
    found = next((vars(base)[name] for base in later if name in vars(base)), None)
    if found is object.__init__ or (name == "__init__" and later == (object,)):
        return Partial(Static(_nothing), (), ())
    if not isinstance(found, FunctionType):
        raise UnsupportedError(f"super().{name}")
    return Partial(Static(found), (myself,), ())


def _nothing() -> None:
    pass


def _subscript(flow: Flow, node: ast.Subscript) -> Value:
    value = evaluate(flow, node.value)
    index = evaluate(flow, node.slice)
    return value if flow.is_dead else element(flow, value, index)


def _slice(flow: Flow, node: ast.Slice) -> Value:
    parts = (node.lower, node.upper, node.step)
    return Tuple(tuple(evaluate(flow, part) if part else Static(None) for part in parts), slice)


def _text(flow: Flow, node: ast.JoinedStr) -> Value:
    text: Value = Static("")
    for part in node.values:
        if isinstance(part, ast.Constant):
            addend: Value | None = Static(part.value)
        else:
            assert isinstance(part, ast.FormattedValue)
            given = evaluate(flow, part.value)
            spec = evaluate(flow, part.format_spec) if part.format_spec else Static("")
            if isinstance(given, Static) and isinstance(spec, Static):
                addend = run_python(flow, format, given.value, spec.value)
            else:
                addend = tabulated(flow, functools.partial(_formatted, part.conversion), given, spec)
        if addend is None:
            raise UnsupportedError("the text of a number")
        text = binary(flow, ast.Add, text, addend)
    return text


def _formatted(conversion: int, value: Any, spec: str) -> str:
    return format(str(value) if conversion == ord("s") else repr(value) if conversion == ord("r") else value, spec)


# --- functions and comprehensions


def closure(flow: Flow, node: ast.FunctionDef | ast.Lambda) -> Value:
    """A function that is defined here."""
    by_keyword = [
        (parameter.arg, evaluate(flow, default))
        for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    ]
    defaults = tuple(evaluate(flow, default) for default in node.args.defaults)
    return Closure(node, frame_of(flow), defaults, tuple(by_keyword))


def _call(flow: Flow, node: ast.Call) -> Value:
    match node:
        case ast.Call(ast.Attribute(ast.Call(ast.Name("bin"), [counted]), "count"), [ast.Constant("1")]):
            size = absolute(flow, evaluate(flow, counted))
            return call(flow, Bound(size, "bit_count"), [], {}, id(node))
    function = _function(flow, node.func)
    consumes = isinstance(function, Static) and is_consumer(function.value) and len(node.args) == 1
    if consumes and isinstance(node.args[0], ast.ListComp):
        return _of_comprehension(flow, function, node.args[0], node)  # type: ignore[arg-type]
    arguments = _items(flow, node.args)
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(flow, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        else:
            content = flow.content(value)
            if isinstance(content, Static) and isinstance(content.value, dict):
                keywords |= {name: Static(item) for name, item in content.value.items()}
                continue
            if not isinstance(content, Entries):
                raise UnsupportedError("** of what has no known keys")
            keywords |= {key.value: item for key, item in zip(content.keys, content.items, strict=True)}
    flow.node = node
    return function if flow.is_dead else call(flow, function, arguments, keywords, id(node))


def _function(flow: Flow, node: ast.expr) -> Value:
    """What is called; a list of moves that has a name and is changed becomes a list of its own before that."""
    if isinstance(node, ast.Attribute) and node.attr in CHANGES and isinstance(node.value, ast.Name):
        value = evaluate(flow, node.value)
        if isinstance(value, Cells) and value.order != "set":
            if sum(other is value for other in flow.here().values()) > 1:
                raise UnsupportedError("a list of moves that has two names is changed")
            assign(flow, ast.Name(node.value.id, ast.Store()), flow.new(value))
    return evaluate(flow, node)


def _of_comprehension(flow: Flow, function: Static, made: ast.ListComp, node: ast.Call) -> Value:
    """What a function gives that takes the items of a list once, which need not be made."""
    items = _generator(flow, made)
    if function.value is not len:
        keywords = {keyword.arg: evaluate(flow, keyword.value) for keyword in node.keywords if keyword.arg}
        return call(flow, function, [items], keywords, id(node))
    ones = Lazy(lambda body, key: items.each(lambda _: body(Static(1)), key))  # type: ignore[attr-defined]
    return call(flow, Static(sum), [ones], {}, id(node))


def _rounds(flow: Flow, node: Any, body: Callable[[], None], first: Value | None = None) -> None:
    """Emit a body for every round of a comprehension's loops, whose variables are its own."""
    targets = [part for generator in node.generators for part in ast.walk(generator.target)]
    names = dict.fromkeys(part.id for part in targets if isinstance(part, ast.Name))
    frame = frame_of(flow)
    any_order, flow.any_order = flow.any_order, False
    additive, flow.additive = flow.additive, set()
    kept = {name: flow.here().get(("local", frame.number, name)) for name in names}

    def loop(place: int) -> None:
        if place == len(node.generators):
            body()
            return
        generator = node.generators[place]
        items = first if place == 0 and first is not None else evaluate(flow, generator.iter)

        def one(item: Value) -> None:
            skipped = flow.collect()
            assign(flow, generator.target, item)
            for test in generator.ifs:
                if flow.is_dead:
                    break
                yes, no = condition(flow, test)
                skipped.extend(no)
                flow.merge(yes)
            if not flow.is_dead:
                loop(place + 1)
            flow.merge_pending(skipped)

        flow.any_order, flow.additive = any_order, additive if len(node.generators) == 1 else set()
        each(flow, items, one, (site_of(flow, node), place))

    loop(0)
    if not flow.is_dead:
        for name, value in kept.items():
            flow.here().pop(("local", frame.number, name), None)
            if value is not None:
                flow.here()["local", frame.number, name] = value


def _list_comprehension(flow: Flow, node: ast.ListComp) -> Value:
    cells = _filtered_cells(flow, node)
    if cells is not None:
        return cells
    made = flow.new(Items(()))
    with flow.holding(made):
        _rounds(flow, node, lambda: add_to_list(flow, made, evaluate(flow, node.elt)))
    return made


def _filtered_cells(flow: Flow, node: ast.ListComp) -> Value | None:
    """The cells of a list of cells that pass the tests, if a comprehension gives those."""
    if not _gives_its_items(node):
        return None
    items = evaluate(flow, node.generators[0].iter)
    content = flow.content(items)
    if not isinstance(content, Cells):
        made = flow.new(Items(()))
        with flow.holding(made):
            _rounds(flow, node, lambda: add_to_list(flow, made, evaluate(flow, node.elt)), items)
        return made
    made = flow.new(Cells(no_cells(flow), "set"))
    with flow.holding(made):
        flow.any_order = content.order in ("set", "any")
        _rounds(flow, node, lambda: add(flow, made, evaluate(flow, node.elt), id(node)), items)
    if flow.is_dead:
        return Static(None)
    kept = flow.content(made)
    assert isinstance(kept, Cells)
    return Cells(kept.signal, "any" if content.order == "set" else content.order)


@functools.lru_cache(maxsize=256)
def _gives_its_items(node: ast.ListComp) -> bool:
    """Return whether a comprehension gives items of one iterable as they are."""
    return len(node.generators) == 1 and ast.unparse(node.elt) == ast.unparse(node.generators[0].target)


def _generator(flow: Flow, node: ast.GeneratorExp | ast.ListComp) -> Value:
    frame = frame_of(flow)
    first = evaluate(flow, node.generators[0].iter)

    def each_item(body: Callable[[Value], None], key: Hashable) -> None:
        flow.frames.append(frame)

        def one() -> None:
            value = evaluate(flow, node.elt)
            if flow.is_dead:
                return
            inner = flow.frames.pop()
            body(value)
            flow.frames.append(inner)

        _rounds(flow, node, one, first)
        flow.frames.pop()

    return Lazy(each_item)


def _set_comprehension(flow: Flow, node: ast.SetComp) -> Value:
    made = new_set(flow, id(node))
    with flow.holding(made):
        flow.any_order = True
        _rounds(flow, node, lambda: add(flow, made, evaluate(flow, node.elt), id(node)))
    return made


def _dict_comprehension(flow: Flow, node: ast.DictComp) -> Value:
    made = flow.new(Entries((), ()))
    with flow.holding(made):
        _rounds(flow, node, lambda: set_element_of(flow, made, evaluate(flow, node.key), evaluate(flow, node.value)))
    return made


def _walrus(flow: Flow, node: ast.NamedExpr) -> Value:
    value = evaluate(flow, node.value)
    assign(flow, node.target, value)
    return value


def _yield(flow: Flow, node: ast.Yield) -> Value:
    value = evaluate(flow, node.value) if node.value else Static(None)
    _give(flow, value)
    return Static(None)


def _yield_from(flow: Flow, node: ast.YieldFrom) -> Value:
    each(flow, evaluate(flow, node.value), lambda item: _give(flow, item), site_of(flow, node))
    return Static(None)


def _give(flow: Flow, value: Value) -> None:
    """Emit what is done with a value that a generator yields."""
    if flow.is_dead:
        return
    frame: Frame = flow.frames.pop()
    assert frame.yields is not None
    frame.yields(value)
    flow.frames.append(frame)


_EXPRESSIONS: dict[type[ast.AST], Callable[[Flow, Any], Value]] = {
    ast.Constant: lambda flow, node: Static(node.value),
    ast.Name: lambda flow, node: value_of_name(flow, node.id),
    ast.IfExp: _if_expression,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _text,
    ast.Lambda: closure,
    ast.Call: _call,
    ast.ListComp: _list_comprehension,
    ast.GeneratorExp: _generator,
    ast.SetComp: _set_comprehension,
    ast.DictComp: _dict_comprehension,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
