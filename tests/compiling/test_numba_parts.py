"""The private parts of numba and llvmlite that compiled code is made with: which of them a new release has moved.

Whoever raises the upper bounds in `pyproject.toml` runs this first.
"""

from __future__ import annotations

import ast
import importlib
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

ISOLATION = Path(__file__).parents[2] / "isolation"
PUBLIC = {"numba", "numba.extending", "numba.typed", "llvmlite", "llvmlite.binding"}
PARTS = {
    "llvmlite.ir": "Constant DoubleType FunctionType IRBuilder Function IntType ArrayType Module",
    "numba.core.cgutils": "alloca_once alloca_once_value create_struct_proxy gep get_or_insert_function if_unlikely",
    "numba.core.callconv": "RETCODE_USEREXC CPUCallConv",
    "numba.core.callconv:CPUCallConv": "_get_excinfo_argument _return_errcode_raw check_try_status "
    "return_status_propagate return_user_exc set_static_user_exc",
    "numba.core.codegen": "CPUCodeLibrary JITCPUCodegen",
    "numba.core.codegen:CPUCodeLibrary": "_get_module_for_linking finalize",
    "numba.core.codegen:JITCodeLibrary": "get_pointer_to_function",
    "numba.core.codegen:JITCPUCodegen": "_library_class set_env insert_unresolved_ref",
    "numba.core.compiler": "CompilerBase DefaultPassBuilder",
    "numba.core.compiler:DefaultPassBuilder": "define_nopython_pipeline",
    "numba.core.compiler_lock": "global_compiler_lock",
    "numba.core.compiler_machinery": "register_pass",
    "numba.core.dispatcher": "Dispatcher",
    "numba.core.errors": "NumbaError TypingError LoweringError UnsupportedError InternalError",
    "numba.core.imputils": "RefType impl_ret_untracked iternext_impl lower_builtin lower_constant",
    "numba.core.ir": "Var",
    "numba.core.lowering": "Lower",
    "numba.core.lowering:Lower": "loadvar lower_assign lower_binop lower_call lower_expr lower_setitem typeof",
    "numba.core.registry": "cpu_target",
    "numba.core.registry:cpu_target.target_context": "_internal_codegen call_conv cast compile_internal get_arg_packer "
    "get_dummy_value get_value_type make_helper make_tuple",
    "numba.core.runtime": "rtsys",
    "numba.core.runtime:rtsys": "initialize",
    "numba.core.typeconv": "Conversion",
    "numba.core.typing.templates": "AbstractTemplate infer signature",
    "numba.core.typed_passes": "BaseNativeLowering NativeLowering",
    "numba.cpython": "hashing",
    "numba.cpython.setobj": "SetInstance",
    "numba.cpython.setobj:SetInstance": "upsize",
    "numba.np": "linalg arraymath",
    "numba.np.arrayobj": "make_array",
    "numba.np.numpy_support": "as_dtype",
    "numba.np.linalg": "ensure_blas",
    "numba.typed.typedobjectutils": "_nonoptional",
}
"""The names we use of each module, or of an object of one."""


def part(path: str) -> Any:
    module, _, attributes = path.partition(":")
    loaded = importlib.import_module(module)
    for name in filter(None, attributes.split(".")):
        loaded = getattr(loaded, name)
    return loaded


def releases() -> str:
    return f"numba {version('numba')}, llvmlite {version('llvmlite')}"


@pytest.mark.parametrize("path", PARTS)
def test_every_private_part_that_we_use_is_where_it_was(path: str) -> None:
    import numba.np.arraymath  # noqa: F401

    try:
        contents = part(path)
    except (ImportError, AttributeError) as error:
        pytest.fail(f"{path} has moved in {releases()}: {error}")
    moved = [name for name in PARTS[path].split() if not hasattr(contents, name)]
    assert not moved, f"{path} no longer has {', '.join(moved)} in {releases()}"


def test_what_numba_compiled_is_read_where_it_was() -> None:
    """What no class has: attributes of objects, names in LLVM's code, and how functions are called."""
    from numba import njit, types

    from knights_isolation.isolation.compiling import linking

    function = njit(lambda number: number + 1)
    function.compile((types.int64,))
    compiled = function.overloads[(types.int64,)]
    parts: dict[str, Any] = {"compiled.library": compiled.library, "compiled.fndesc": compiled.fndesc}
    names = {"compiled.library": "_final_module _linking_libraries _finalized", "compiled.fndesc": "llvm_func_name"}
    for what, wanted in names.items():
        moved = [name for name in wanted.split() if not hasattr(parts[what], name)]
        assert not moved, f"{what} no longer has {', '.join(moved)} in {releases()}"
    assert function.py_func(1) == 2
    sources = "\n".join(Path(part(name).__file__).read_text() for name in ("numba.core.base", "numba.core.codegen"))
    for name in (linking._UNRESOLVED, linking._ADDRESSES):
        assert name in sources, f"{name} is no longer what {releases()} call such variables"
    assert list(signature(part("numba.core.codegen:JITCPUCodegen").set_env).parameters) == ["self", "env_name", "env"]


def test_every_private_part_that_we_import_is_listed_here() -> None:
    unlisted = set()
    for file in ISOLATION.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("numba", "llvmlite"):
                imported = [(str(node.module), alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.partition(".")[0] in ("numba", "llvmlite")]
                imported = [(name.rpartition(".")[0] or name, name.rpartition(".")[2]) for name in names]
            else:
                continue
            unlisted |= {
                f"{module}.{name}"
                for module, name in imported
                if module not in PUBLIC
                and f"{module}.{name}" not in PARTS
                and name not in PARTS.get(module, "").split()
            }
    assert not unlisted
