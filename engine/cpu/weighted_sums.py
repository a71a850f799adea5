"""Weighted sums of rows, as attention takes them over a block of keys and over a segment of values.

A vector lane belongs to one column of the rows, so no sum crosses lanes and the order of additions is the canonical
one (docs/design.md §1). One read of the rows serves several sums, and while they are worked on, the rows that come
next are fetched from memory.
"""

from __future__ import annotations

from numba import types
from numba.core.extending import intrinsic

from kestrel_engine.cpu.simd import Emitter, f32, f32x16, for_each_row_count, i64, segmented_sums
from kestrel_engine.cpu.vectors import LANES
from kestrel_engine.numerics import HEAD_SEGMENT, SEGMENT
from kestrel_engine.state import KEY_BLOCK

KEY_VECTORS, VALUE_VECTORS = KEY_BLOCK // LANES, 4
"""Vectors of a sum's columns: those of a block of keys, and some of the values."""
KEY_SUMS, VALUE_SUMS = 8, 4
"""Most sums that share one read of the rows: so many stay in registers."""
VALUE_COLUMNS = VALUE_VECTORS * LANES
PACE_BITS = 8
WHOLE_PACE = 1 << PACE_BITS
"""As much is fetched as is read."""
FIRST_CACHE, SECOND_CACHE = 3, 2
NEAR_ROWS = 8
"""So far ahead are rows moved into the first cache."""


def _code(segment: int, vectors: int, most: int):
    """The code generator for up to `most` sums of so many vectors, whose terms are added in segments."""

    def code(context, builder, signature, args):
        emit = Emitter(context, builder)
        rows, weights, out = (emit.data(signature.args[n], args[n], f32) for n in (0, 2, 5))
        weight_places, out_places = (emit.data(signature.args[n], args[n], i64) for n in (3, 6))
        _, apart, _, _, scale, _, _, first, count, length, ahead, before, pace = args

        def columns(start):
            return [builder.add(start, emit.constant(n * LANES)) for n in range(vectors)]

        def fetch(place) -> None:
            fetched = builder.ashr(builder.mul(builder.add(before, place), pace), emit.constant(PACE_BITS))
            due = builder.mul(fetched, emit.constant(vectors * LANES))
            for line in columns(builder.add(ahead, due)):
                emit.fetch_line(rows, line, 0, SECOND_CACHE)
            for line in columns(builder.mul(builder.add(place, emit.constant(NEAR_ROWS)), apart)):
                emit.fetch_line(rows, line, 0, FIRST_CACHE)

        def emit_for(sums: int) -> None:
            numbers = [builder.add(first, emit.constant(n)) for n in range(sums)]
            bases = [emit.load(weight_places, number, i64) for number in numbers]

            def body(place, partials):
                row = [emit.load(rows, start, f32x16) for start in columns(builder.mul(place, apart))]
                fetch(place)
                for n, base in enumerate(bases):
                    factor = emit.splat(emit.load(weights, builder.add(base, place), f32), f32x16)
                    for vector, partial in zip(row, partials[n * vectors :], strict=False):
                        emit.add_to(partial, builder.fmul(vector, factor))

            totals = segmented_sums(emit, length, segment, vectors * sums, body)
            for n, number in enumerate(numbers):
                start = emit.load(out_places, number, i64)
                for total, place in zip(totals[n * vectors :], columns(start), strict=False):
                    value = builder.fmul(total, emit.splat(scale, f32x16))
                    builder.store(
                        value, builder.bitcast(builder.gep(out, [place]), f32x16.as_pointer()), align=4
                    )

        for_each_row_count(builder, count, emit_for, most)
        return context.get_dummy_value()

    return code


def _sums(name: str, segment: int, vectors: int, most: int):
    """out[out_places[n] + c] = scale * the sum over r < length of rows[r * apart + c] * weights[weight_places[n] + r],
    for first <= n < first + count, count <= most, and all columns c; all arrays 1-D, places int64, others float32.

    With each row as many numbers as a sum has columns are fetched from memory, one after the other from `ahead` on:
    this call goes on where `before` rows have been read, and `pace` / WHOLE_PACE is how much for each row."""

    def typed(
        typing,
        rows,
        apart,
        weights,
        weight_places,
        scale,
        out,
        out_places,
        first,
        count,
        length,
        ahead,
        before,
        pace,
    ):
        kinds = (rows, types.intp, weights, weight_places, types.float32, out, out_places, *6 * (types.intp,))
        return types.void(*kinds), _code(segment, vectors, most)

    typed.__name__ = name
    return intrinsic(typed)


key_sums = _sums("key_sums", HEAD_SEGMENT, KEY_VECTORS, KEY_SUMS)
value_sums = _sums("value_sums", SEGMENT, VALUE_VECTORS, VALUE_SUMS)
