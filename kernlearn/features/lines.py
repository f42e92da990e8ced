"""Vectors of 64 bytes in compiled functions, a value of one row in each lane.

LLVM forms vectors from loops by itself only where these are long and no arrays overlap, and not
for eight numbers. A line is one register with AVX-512, two with AVX2, and four with SSE2 or NEON.
Each lane has the operations that are written, in their order, and none is fused with another, so
that a row's results depend neither on its lane nor on other rows.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

#: Bytes of a line, those of a line of cache.
LINE = 64


class Line(types.Type):
    """Numba's type of a line of float64 or float32."""

    def __init__(self, dtype: types.Float) -> None:
        self.lanes = 8 * LINE // dtype.bitwidth
        entry = ir.DoubleType() if dtype == types.float64 else ir.FloatType()
        self.vector = ir.VectorType(entry, self.lanes)
        self.align = dtype.bitwidth // 8  # no more is promised: arrays need not begin at lines
        super().__init__(name=f"Line({dtype})")


@register_model(Line)
class _LineModel(models.PrimitiveModel):
    def __init__(self, manager: Any, line: Line) -> None:
        super().__init__(manager, line, line.vector)


@intrinsic
def load(_: Any, array: types.Array, place: types.Integer) -> Any:  # pragma: no cover
    """Return the line at a place of a contiguous array, in bytes from its beginning."""
    line = Line(array.dtype)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        start = _data(context, builder, array, values[0])
        return builder.load(_at(builder, line, start, values[1]), align=line.align)

    return line(array, place), generate


@intrinsic
def store(_: Any, array: types.Array, place: types.Integer, line: Line) -> Any:  # pragma: no cover
    """Write a line to a place of a contiguous array, in bytes from its beginning."""

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        start = _data(context, builder, array, values[0])
        builder.store(values[2], _at(builder, line, start, values[1]), align=line.align)
        return context.get_dummy_value()

    return types.void(array, place, line), generate


@intrinsic
def spread(_: Any, value: types.Float) -> Any:  # pragma: no cover
    """Return a line with the value in all lanes."""
    line = Line(value)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        nothing = ir.Constant(line.vector, ir.Undefined)
        first = builder.insert_element(nothing, values[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, nothing, _choice([0] * line.lanes))

    return line(value), generate


def _lane_by_lane(operation: str) -> Any:
    @intrinsic
    def combine(_: Any, line: Line, other: Line) -> Any:  # pragma: no cover
        if line != other:
            return None  # a typing error

        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            return getattr(builder, operation)(*values)

        return line(line, other), generate

    return combine


#: The sum, the difference and the product of two lines.
add: Callable[..., Any] = _lane_by_lane("fadd")
subtract: Callable[..., Any] = _lane_by_lane("fsub")
multiply: Callable[..., Any] = _lane_by_lane("fmul")


@intrinsic
def store_transposed(
    _: Any,
    source: types.Array,
    place: types.Integer,
    target: types.Array,
    target_place: types.Integer,
    stride: types.Integer,
) -> Any:  # pragma: no cover
    """Write as many lines as a line has lanes to an array, with lanes as rows.

    All places, and the stride of the rows, are in bytes.
    """
    line = Line(source.dtype)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        start = _data(context, builder, source, values[0])
        lines = []
        for i in range(line.lanes):
            at = builder.add(values[1], ir.Constant(values[1].type, i * LINE))
            lines.append(builder.load(_at(builder, line, start, at), align=line.align))
        half = 1
        while half < line.lanes:  # exchange blocks of lanes of pairs of lines
            low, high = _exchanged(line.lanes, half)
            for i in range(line.lanes):
                if not i & half:
                    pair = lines[i], lines[i + half]
                    lines[i] = builder.shuffle_vector(*pair, _choice(low))
                    lines[i + half] = builder.shuffle_vector(*pair, _choice(high))
            half *= 2
        start, at = _data(context, builder, target, values[2]), values[3]
        for each in lines:
            builder.store(each, _at(builder, line, start, at), align=line.align)
            at = builder.add(at, values[4])
        return context.get_dummy_value()

    return types.void(source, place, target, target_place, stride), generate


def _exchanged(lanes: int, half: int) -> tuple[list[int], list[int]]:
    """Return what two lines become of their lanes, which are numbered through both."""
    low = [lanes + i - half if i & half else i for i in range(lanes)]
    high = [lanes + i if i & half else i + half for i in range(lanes)]
    return low, high


def _data(context: Any, builder: Any, array: types.Array, value: Any) -> Any:
    start = cgutils.create_struct_proxy(array)(context, builder, value).data
    return builder.bitcast(start, cgutils.voidptr_t)


def _at(builder: Any, line: Line, start: Any, place: Any) -> Any:
    if place.type.width < 64:
        place = builder.zext(place, ir.IntType(64))
    return builder.bitcast(builder.gep(start, [place]), line.vector.as_pointer())


def _choice(lanes: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
