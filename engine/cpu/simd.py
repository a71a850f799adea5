"""LLVM vector code for the matrix kernels: 16 output rows at a time, one vector lane per row.

Because a lane belongs to one output row, no sum ever crosses lanes, and the order of additions is the
canonical one (docs/design.md §1) whatever the machine. The integer dot product inside a block is the only
step with several forms: AVX-512 VNNI where the CPU has it, plain vector multiplies elsewhere. Integers
are exact, so all forms give the same bits.
"""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.core.extending import intrinsic

from kestrel_engine.numerics import BLOCK, SEGMENT

TILE = 16
"""Output rows per tile, one vector lane each."""
ROW_GROUP = 8
"""Most activation rows that share one read of a tile."""
FEW, TOGETHER, WIDE = 2, 4, 1024
"""Up to FEW rows take TOGETHER tiles of bfloat16 weights at once where these are less than WIDE: a lone sum waits
for its own last addition. Wider matrices are read from memory, best as one stream, and that takes longer still."""
PREFETCH = {
    8: ((FEW, ((2048, 2),)), (5, ((2048, 3),)), (ROW_GROUP, ((8192, 2), (2048, 3)))),
    4: ((FEW, ((2048, 2),)), (ROW_GROUP, ((8192, 2),))),
    16: ((FEW, ((4096, 3),)), (ROW_GROUP, ((8192, 2),))),
}
"""By bits of a weight and most rows: which cache lines are prefetched, as bytes ahead and nearness to the core (2: the
second cache, 3: the first). As measured: the more rows, the less far the processor looks ahead by itself."""
Q8_BLOCK_BYTES = TILE * BLOCK
Q4_BLOCK_BYTES = TILE * BLOCK // 2

i8, i16, i32, i64, f32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
i16x16, i32x16, f32x16 = ir.VectorType(i16, TILE), ir.VectorType(i32, TILE), ir.VectorType(f32, TILE)
i16x32 = ir.VectorType(i16, 2 * TILE)


def has_vnni() -> bool:
    """Whether the code generator targets a CPU with AVX-512 VNNI."""
    features = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return "+avx512vnni" in features.split(",")


class Emitter:
    """Small helpers around one IR builder."""

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    def data(self, array_type, value, item) -> ir.Value:
        """The data pointer of a numba array argument."""
        array = self.context.make_array(array_type)(self.context, self.builder, value=value)
        return self.builder.bitcast(array.data, item.as_pointer())

    def load(self, pointer, offset, vector) -> ir.Value:
        """Load `vector` from `offset` items after `pointer`, any alignment."""
        address = self.builder.gep(pointer, [offset])
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=1)

    def splat(self, scalar, vector) -> ir.Value:
        undefined = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(i32, 0))
        mask = ir.Constant(ir.VectorType(i32, vector.count), [0] * vector.count)
        return self.builder.shuffle_vector(one, undefined, mask)

    def constant(self, value: int) -> ir.Value:
        return ir.Constant(i64, value)

    def bfloat16_lanes(self, bits) -> ir.Value:
        """<16 x i16> bfloat16 bits -> <16 x float>, exact."""
        wide = self.builder.zext(bits, i32x16)
        shifted = self.builder.shl(wide, self.splat(ir.Constant(i32, 16), i32x16))
        return self.builder.bitcast(shifted, f32x16)

    def prefetch(self, pointer, offset, bits: int, rows: int) -> None:
        """The cache lines that come after the item at `offset`, as is good for weights of `bits` and for `rows`."""
        for distance, nearness in next(lines for most, lines in PREFETCH[bits] if rows <= most):
            self.fetch_line(pointer, offset, distance, nearness)

    def fetch_line(self, pointer, offset, distance: int, nearness: int) -> None:
        """The cache line so many bytes beyond the item at `offset`."""
        kind = ir.FunctionType(ir.VoidType(), [i8.as_pointer(), i32, i32, i32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        here = self.builder.bitcast(self.builder.gep(pointer, [offset]), i8.as_pointer())
        address = self.builder.gep(here, [self.constant(distance)])
        self.builder.call(function, [address, *(ir.Constant(i32, n) for n in (0, nearness, 1))])

    def dot4(self, accumulator, weights, activations, vnni: bool) -> ir.Value:
        """accumulator + unsigned bytes of `weights` times signed bytes of `activations`, 4 a lane, int32."""
        b = self.builder
        if vnni:
            kind = ir.FunctionType(i32x16, [i32x16, i32x16, i32x16])
            function = cgutils.get_or_insert_function(b.module, kind, "llvm.x86.avx512.vpdpbusd.512")
            return b.call(function, [accumulator, weights, self.splat(activations, i32x16)])
        low_byte = self.splat(ir.Constant(i32, 255), i32x16)
        for byte in range(4):
            shift = ir.Constant(i32, 8 * byte)
            w = b.and_(b.lshr(weights, self.splat(shift, i32x16)), low_byte)
            a = b.ashr(b.shl(activations, ir.Constant(i32, 24 - 8 * byte)), ir.Constant(i32, 24))
            accumulator = b.add(accumulator, b.mul(w, self.splat(a, i32x16)))
        return accumulator

    def accumulators(self, count: int) -> list:
        return [cgutils.alloca_once(self.builder, f32x16) for _ in range(count)]

    def zero(self, slots) -> None:
        for slot in slots:
            self.builder.store(ir.Constant(f32x16, [0.0] * TILE), slot)

    def add_to(self, slot, value) -> None:
        self.builder.store(self.builder.fadd(self.builder.load(slot), value), slot)

    def minimum(self, a, b) -> ir.Value:
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)


def segmented_sums(emit: Emitter, units, per_segment: int, rows: int, body):
    """The canonical two-level sum. `body(unit, partial)` adds one unit's terms to `partial[row]`."""
    b = emit.builder
    totals, partials = emit.accumulators(rows), emit.accumulators(rows)
    emit.zero(totals)
    step = emit.constant(per_segment)
    segments = b.sdiv(b.add(units, emit.constant(per_segment - 1)), step)
    with cgutils.for_range(b, segments) as outer:
        emit.zero(partials)
        first = b.mul(outer.index, step)
        count = emit.minimum(step, b.sub(units, first))
        with cgutils.for_range(b, count) as inner:
            body(b.add(first, inner.index), partials)
        for total, partial in zip(totals, partials, strict=True):
            emit.add_to(total, b.load(partial))
    return [b.load(total) for total in totals]


def _store_rows(emit: Emitter, totals, out, out_width, first_row, tile) -> None:
    b = emit.builder
    for m, total in enumerate(totals):
        row = b.add(first_row, emit.constant(m))
        offset = b.add(b.mul(row, out_width), b.mul(tile, emit.constant(TILE)))
        b.store(total, b.bitcast(b.gep(out, [offset]), f32x16.as_pointer()), align=4)


def for_each_row_count(builder, rows, emit_for, most=ROW_GROUP) -> None:
    """Code for every row count 1..most, unrolled, and a switch on the run-time `rows`."""
    end = builder.append_basic_block("rows.end")
    cases = [builder.append_basic_block(f"rows.{count}") for count in range(1, most + 1)]
    switch = builder.switch(rows, end)
    for count, block in enumerate(cases, start=1):
        switch.add_case(ir.Constant(i64, count), block)
        builder.position_at_end(block)
        emit_for(count)
        builder.branch(end)
    builder.position_at_end(end)


def _row_bases(emit: Emitter, first_row, rows: int, width) -> list:
    b = emit.builder
    return [b.mul(b.add(first_row, emit.constant(m)), width) for m in range(rows)]


def _quantized_code(bits: int):
    """The code generator for one tile of q8 or q4 weights and up to ROW_GROUP rows of int8 activations."""
    block_bytes = Q8_BLOCK_BYTES if bits == 8 else Q4_BLOCK_BYTES

    def code(context, builder, signature, args):
        emit = Emitter(context, builder)
        vnni = has_vnni()
        items = (i8, i16, i8, f32, i32, f32)
        arrays = (
            emit.data(kind, value, item)
            for kind, value, item in zip(signature.args, args, items, strict=False)
        )
        weights, scales, x, x_scales, x_offsets, out = arrays
        tile, blocks, first_row, row_count, out_width = args[6:]
        first_block = builder.mul(tile, blocks)

        def integer_dots(block, places):
            """[row] <16 x i32>: exact dot products of this block, zero point folded in."""
            offset = builder.mul(builder.add(first_block, block), emit.constant(block_bytes))
            dots = [emit.splat(emit.load(x_offsets, place, i32), i32x16) for place in places]
            inputs = [builder.mul(place, emit.constant(BLOCK)) for place in places]
            for part in range(block_bytes // 64):
                at = builder.add(offset, emit.constant(64 * part))
                packed = emit.load(weights, at, i32x16)
                emit.prefetch(weights, at, bits, len(places))
                for group, values in _byte_groups(emit, part, packed, bits):
                    for m, base in enumerate(inputs):
                        word = emit.load(x, builder.add(base, emit.constant(4 * group)), i32)
                        dots[m] = emit.dot4(dots[m], values, word, vnni)
            return dots

        def emit_for(rows):
            first_place = builder.mul(first_row, blocks)

            def body(block, partials):
                place = builder.add(first_place, builder.mul(block, emit.constant(rows)))
                places = [builder.add(place, emit.constant(m)) for m in range(rows)]
                dots = integer_dots(block, places)
                at = builder.mul(builder.add(first_block, block), emit.constant(TILE))
                weight_scale = emit.bfloat16_lanes(emit.load(scales, at, i16x16))
                for m, partial in enumerate(partials):
                    x_scale = emit.load(x_scales, places[m], f32)
                    scaled = builder.fmul(builder.sitofp(dots[m], f32x16), weight_scale)
                    emit.add_to(partial, builder.fmul(scaled, emit.splat(x_scale, f32x16)))

            totals = segmented_sums(emit, blocks, SEGMENT // BLOCK, rows, body)
            _store_rows(emit, totals, out, out_width, first_row, tile)

        for_each_row_count(builder, row_count, emit_for)
        return context.get_dummy_value()

    return code


def _byte_groups(emit: Emitter, part: int, packed, bits: int):
    """(index of the group of 4 inputs, their unsigned bytes) held by the `part`-th vector of a block."""
    if bits == 8:
        return [(part, packed)]
    nibble = emit.splat(ir.Constant(i32, 0x0F0F0F0F), i32x16)
    high = emit.builder.lshr(packed, emit.splat(ir.Constant(i32, 4), i32x16))
    return [(part, emit.builder.and_(packed, nibble)), (part + 4, emit.builder.and_(high, nibble))]


def _bfloat16_code(tiles: int):
    """The code generator for `tiles` tiles of bfloat16 weights and up to ROW_GROUP rows of float32 activations."""

    def code(context, builder, signature, args):
        emit = Emitter(context, builder)
        weights, x, out = (
            emit.data(signature.args[n], args[n], item) for n, item in enumerate((i16, f32, f32))
        )
        tile, width, first_row, row_count, out_width = args[3:]
        places = [builder.add(tile, emit.constant(t)) for t in range(tiles)]
        bases = [builder.mul(builder.mul(place, width), emit.constant(TILE)) for place in places]
        high = emit.splat(ir.Constant(i32, -0x10000), i32x16)
        shift = emit.splat(ir.Constant(i32, 16), i32x16)

        def emit_for(rows):
            x_rows = _row_bases(emit, first_row, rows, width)

            def body(pair, partials):
                k = builder.mul(pair, emit.constant(2))
                both = []
                for base in bases:
                    at = builder.add(base, builder.mul(k, emit.constant(TILE)))
                    words = emit.load(weights, at, i32x16)
                    emit.prefetch(weights, at, 16, rows)
                    halves = builder.shl(words, shift), builder.and_(words, high)
                    both.append([builder.bitcast(half, f32x16) for half in halves])
                for half in range(2):
                    for m in range(rows):
                        place = builder.add(x_rows[m], builder.add(k, emit.constant(half)))
                        value = emit.splat(emit.load(x, place, f32), f32x16)
                        for t in range(tiles):
                            emit.add_to(partials[m * tiles + t], builder.fmul(both[t][half], value))

            pairs = builder.sdiv(width, emit.constant(2))
            totals = segmented_sums(emit, pairs, SEGMENT // 2, rows * tiles, body)
            for t, place in enumerate(places):
                _store_rows(emit, totals[t::tiles], out, out_width, first_row, place)

        for_each_row_count(builder, row_count, emit_for, ROW_GROUP if tiles == 1 else FEW)
        return context.get_dummy_value()

    return code


_INDEXES = (types.intp,) * 5


@intrinsic
def q8_tile(typing, weights, scales, x, x_scales, x_offsets, out, tile, blocks, first_row, rows, out_width):
    """out[first_row + m, 16*tile + lane] for m < rows <= 8, weights [tiles, blocks, 512] uint8; x, x_scales and
    x_offsets as of `kernels.quantize`."""
    return types.void(weights, scales, x, x_scales, x_offsets, out, *_INDEXES), _quantized_code(8)


@intrinsic
def q4_tile(typing, weights, scales, x, x_scales, x_offsets, out, tile, blocks, first_row, rows, out_width):
    """As `q8_tile`, weights [tiles, blocks, 256] uint8, two values a byte."""
    return types.void(weights, scales, x, x_scales, x_offsets, out, *_INDEXES), _quantized_code(4)


@intrinsic
def bfloat16_tile(typing, weights, x, out, tile, width, first_row, rows, out_width):
    """out[first_row + m, 16*tile + lane] for m < rows <= 8, weights [tiles, width/2, 32] uint16."""
    return types.void(weights, x, out, *_INDEXES), _bfloat16_code(1)


@intrinsic
def bfloat16_tiles(typing, weights, x, out, tile, width, first_row, rows, out_width):
    """As `bfloat16_tile` for TOGETHER tiles from `tile` on, rows <= FEW."""
    return types.void(weights, x, out, *_INDEXES), _bfloat16_code(TOGETHER)
