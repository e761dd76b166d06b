package machine

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// productOp is a wgmma.mma_async of 64xN elements, of which a warp has 16 rows.
type productOp struct {
	n, depth int // columns; elements that the sum runs over
	size     int // bytes of an element
	number   func(bits uint64) float32
	acc      []int32 // rows of the accumulator
	a, b     int32   // rows of the descriptors
	tiles    []int32 // rows of the left operand if it is in registers, which a is not used for then
	scale    int32   // predicate: whether to add to what is there
	negate   bool
	down     [2]bool // whether the sum runs down the columns of a and of b
}

// products are those that a warp has begun. Each may be done at any time until the warp waits for its group; here
// it is done then, from what its panels hold then, and the registers of its accumulator are all ones
// meanwhile.
type products struct {
	pending []pendingProduct
	group   int
	fenced  bool
	flying  []*accumulator
}

type pendingProduct struct {
	op    *productOp
	in    *instr
	to    *accumulator
	descs [2]uint64
	tiles []row // the registers of the left operand, if it is in registers
	adds  bool
	group int
	done  bool
}

// accumulator is the numbers of one while it is in flight.
type accumulator struct {
	rows    []int32
	values  []row
	pending int
}

// wgmma decodes the asynchronous products of a warp group.
func (d *decoder) wgmma() {
	switch d.m.oneOf("mma_async", "fence", "commit_group", "wait_group") {
	case "fence":
		d.need(d.m.has("sync") && d.m.has("aligned"))
		d.emitGroup("fence", nil, func(w *warp, _ *instr) bool { w.products.fenced = true; return true })
	case "commit_group":
		d.need(d.m.has("sync") && d.m.has("aligned"))
		d.emitGroup("commit", nil, (*warp).commitProducts)
	case "wait_group":
		d.need(d.m.has("sync") && d.m.has("aligned"))
		if d.args(1, 1) {
			n, ok := d.arg(0).As(ptx.U32)
			d.need(ok)
			d.emitGroup("wait", nil, func(w *warp, in *instr) bool { return w.waitProducts(in, int(n)) })
		}
	case "mma_async":
		d.matrixProduct()
	default:
		d.need(false)
	}
}

// emitGroup emits an instruction at which the threads of a warp meet, which is one of four. It is tried again where f
// returns false.
func (d *decoder) emitGroup(name string, x *access, f func(w *warp, in *instr) bool) {
	s := &syncOp{name: "wgmma." + name, p: -1, members: d.constant(allLanes)}
	s.matrix = func(w *warp, pc int32) bool {
		in := &w.prog.code[pc]
		if w.id/4*4+4 > len(w.block.warps) {
			w.fail(in, allLanes, ErrUndefined, "the warp has no three others to be a group with")
			return false
		}
		return f(w, in)
	}
	d.emit(instr{kind: warpSync, sync: s, mem: x})
}

// commitProducts makes a group of products, for which other warps may wait.
func (w *warp) commitProducts(*instr) bool {
	w.products.group++
	for _, v := range w.block.group(w) {
		if v != w {
			v.meetAll()
		}
	}
	return true
}

// formats has the element types of products: size, and value of the bits.
var formats = map[string]struct {
	size   int
	number func(bits uint64) float32
}{
	"f16":  {2, func(x uint64) float32 { return dtype.F16(x).Float32() }},
	"bf16": {2, func(x uint64) float32 { return dtype.BF16(x).Float32() }},
	"tf32": {4, func(x uint64) float32 { return math.Float32frombits(uint32(x) &^ 0x1fff) }},
	"e4m3": {1, func(x uint64) float32 { return dtype.F8E4M3(x).Float32() }},
	"e5m2": {1, func(x uint64) float32 { return dtype.F8E5M2(x).Float32() }},
}

// matrixProduct decodes wgmma.mma_async.sync.aligned.m64nNkK.f32.T.T d, a, b, scale, 1, 1{{, down a}, down b}, where a is a
// descriptor or four registers.
func (d *decoder) matrixProduct() {
	op := d.productShape()
	inRegisters := len(d.in.Args) > 1 && d.arg(1).Kind == ptx.VectorOperand
	operands := 6
	if op.size == 2 {
		operands = 8
	}
	if inRegisters {
		d.need(op.size == 2)
		operands = 7
	}
	if d.err != nil || !d.args(operands, operands) {
		return
	}
	op.acc = d.destinations(0, op.n/2, ptx.F32)
	if inRegisters {
		op.tiles = d.sources(1, 4, ptx.B32)
	} else {
		op.a = d.src(1, ptx.B64)
	}
	op.b = d.src(2, ptx.B64)
	op.scale, op.negate = d.predicate(3)
	for i := 4; i < operands; i++ {
		bits, ok := d.arg(i).As(ptx.U32)
		d.need(ok && (i < 6 && bits == 1 || i >= 6 && bits <= 1))
		if i >= 6 {
			op.down[i-operands+2] = bits == 1
		}
	}
	x := &access{space: ptx.Shared, size: 16, count: 1, total: 16, near: d.near(), rows: [4]int32{-1}, reads: true}
	d.emitGroup("mma_async", x, func(w *warp, in *instr) bool { return w.beginProduct(in, op) })
}

// productShape takes the shape and the types of a product.
func (d *decoder) productShape() *productOp {
	var shape, format string
	d.m.drop(func(s string) bool {
		switch {
		case strings.HasPrefix(s, "m64n"):
			shape = s
		case formats[s].size > 0:
			format = s
		default:
			return false
		}
		return true
	})
	d.need(d.m.has("sync") && d.m.has("aligned") && d.m.has("f32") && format != "" && strings.Count(d.in.String(), "."+format) == 2)
	size := formats[format].size
	columns, depth, _ := strings.Cut(strings.TrimPrefix(shape, "m64n"), "k")
	n, err1 := strconv.Atoi(columns)
	k, err2 := strconv.Atoi(depth)
	d.need(err1 == nil && err2 == nil && n%8 == 0 && n >= 8 && n <= 256 && k*size == 32)
	return &productOp{n: n, depth: k, size: size, number: formats[format].number}
}

// beginProduct notes a product of the warp's rows.
func (w *warp) beginProduct(in *instr, op *productOp) bool {
	p := &w.products
	x := pendingProduct{op: op, in: in, group: p.group, descs: [2]uint64{1: w.row(op.b)[0]}}
	for _, r := range op.tiles {
		x.tiles = append(x.tiles, *w.row(r))
	}
	if op.tiles == nil {
		x.descs[0] = w.row(op.a)[0]
	}
	for l := range warpSize {
		if op.tiles == nil && w.row(op.a)[l] != x.descs[0] || w.row(op.b)[l] != x.descs[1] {
			w.fail(in, 1<<l, ErrUndefined, "the threads of the warp have different descriptors")
			return false
		}
	}
	if !p.fenced {
		w.fail(in, allLanes, ErrUndefined, "no wgmma.fence since the warp last waited for products")
		return false
	}
	predicate := w.preds[op.scale]
	if op.negate {
		predicate = ^predicate
	}
	x.adds, x.to = predicate&1 == 1, w.flying(op.acc)
	x.to.pending++
	p.pending = append(p.pending, x)
	return true
}

// flying returns the accumulator in some registers, and takes them away from it unless that has happened.
func (w *warp) flying(rows []int32) *accumulator {
	for _, x := range w.products.flying {
		if x.rows[0] == rows[0] && len(x.rows) == len(rows) {
			return x
		}
	}
	x := &accumulator{rows: rows, values: make([]row, len(rows))}
	for i, r := range rows {
		x.values[i] = *w.row(r)
		repeat(w.row(r), allLanes)
	}
	w.products.flying = append(w.products.flying, x)
	return x
}

// group returns the four warps that multiply with w.
func (b *block) group(w *warp) []*warp { return b.warps[w.id/4*4 : w.id/4*4+4] }

// waitProducts executes a wgmma.wait_group. A product is one of the warp group: none of the warps goes on before all have begun
// it, and where one goes on the panels of all have been read.
func (w *warp) waitProducts(in *instr, leave int) bool {
	before := w.products.group - leave
	for _, v := range w.block.group(w) {
		if v.live != 0 && v.products.group < before {
			return false
		}
	}
	for _, v := range w.block.group(w) {
		for i := range v.products.pending {
			if x := &v.products.pending[i]; x.group < before && !x.done {
				if x.done = true; !v.perform(x) {
					return false
				}
			}
		}
	}
	w.finishProducts(in, before)
	return w.fault == nil
}

// finishProducts gives the registers the results of the products of the groups before the given one.
func (w *warp) finishProducts(in *instr, before int) {
	p := &w.products
	p.fenced = false
	kept := p.pending[:0]
	for _, x := range p.pending {
		if x.group >= before {
			kept = append(kept, x)
			continue
		}
		x.to.pending--
		for i, r := range x.op.tiles {
			for l, v := range w.row(r) {
				if v != x.tiles[i][l] {
					w.fail(in, 1<<l, ErrUndefined, "a register of the left operand was changed before the product was done")
					return
				}
			}
		}
	}
	p.pending = kept
	flying := p.flying[:0]
	for _, x := range p.flying {
		if x.pending > 0 {
			flying = append(flying, x)
			continue
		}
		for i, r := range x.rows {
			for l, v := range w.row(r) {
				if v != allLanes {
					w.fail(in, 1<<l, ErrUndefined, "the accumulator was changed before the products were done")
					return
				}
			}
			*w.row(r) = x.values[i]
		}
	}
	p.flying = flying
}

// perform computes a product. The order of the additions is not defined; here the sum begins with
// what is there and k goes up.
func (w *warp) perform(x *pendingProduct) bool {
	op := x.op
	a, ok1 := w.leftOperand(x)
	b, ok2 := w.panelOperand(x, 1, 0, op.n)
	if !ok1 || !ok2 {
		return false
	}
	for j, n := 0, len(x.to.values)/4; j < n; j++ {
		var tile [4]*row
		for i := range tile {
			tile[i] = &x.to.values[4*j+i]
		}
		columns := eightColumns(b[j*8*op.depth:], op.depth)
		for r := range 16 {
			var sums rowSums
			if x.adds {
				sums = tileRow(tile, r)
			}
			sums.add(a[r*op.depth:][:op.depth], columns)
			sums.store(tile, r)
		}
	}
	return true
}

// eightColumns returns the elements of eight columns, which follow one another, row by row.
func eightColumns(columns []float32, depth int) [][8]float32 {
	rows := make([][8]float32, depth)
	for c := range 8 {
		for k, x := range columns[c*depth:][:depth] {
			rows[k][c] = x
		}
	}
	return rows
}

// leftOperand returns the warp's rows of the left operand.
func (w *warp) leftOperand(x *pendingProduct) (numbers []float32, ok bool) {
	op := x.op
	if op.tiles == nil {
		return w.panelOperand(x, 0, w.id%4*16, 16)
	}
	numbers = make([]float32, 16*op.depth)
	for i, tile := range x.tiles { // upper left, lower left, upper right, lower right
		for l, pair := range tile {
			at := numbers[(i%2*8+l/4)*op.depth+i/2*8+l%4*2:]
			at[0], at[1] = op.number(pair&0xffff), op.number(pair>>16&0xffff)
		}
	}
	return numbers, true
}

// panelOperand reads n rows, or columns, of operand i from shared memory, as its descriptor says: section "Matrix
// Descriptor Format", of which the swizzle of 128 bytes is known here.
func (w *warp) panelOperand(x *pendingProduct, i, first, n int) (numbers []float32, ok bool) {
	d, op := x.descs[i], x.op
	offset := func(shift int) uint64 { return d >> shift & 0x3fff << 4 }
	start, leading, stride := offset(0), offset(16), offset(32)
	if d>>62 != 1 || d>>49&7 != 0 {
		w.fail(x.in, allLanes, ErrUndefined, fmt.Sprintf("descriptor %#x has no swizzle of 128 bytes, or a base offset", d))
		return nil, false
	}
	numbers = make([]float32, n*op.depth)
	together := productBytes / op.size // numbers that lie side by side: of a row, or of a column
	rows, columns, next := 1, together, 1
	if op.down[i] {
		rows, columns, next = together, 1, op.depth
	}
	for r := 0; r < n; r += rows {
		for k := 0; k < op.depth; k += columns {
			at, other := uint64(first+r), uint64(k)
			address := start + at/8*stride + at%8*128 + other*uint64(op.size)
			if op.down[i] {
				address = start + at/64*leading + other/8*stride + other%8*128 + at%64*2
			}
			address ^= address >> 7 & 7 << 4
			p := w.productBytes(x.in, address)
			if p == nil {
				return nil, false
			}
			for j := range together {
				numbers[r*op.depth+k+j*next] = op.number(read(p[j*op.size:], uint64(op.size)))
			}
		}
	}
	return numbers, true
}

// productBytes is how many bytes the swizzle leaves together, all of which a product reads.
const productBytes = 16

// productBytes returns what a product reads at an address, or nil after a fault.
func (w *warp) productBytes(in *instr, address uint64) []byte {
	r := &w.block.shared
	p := r.window(address, productBytes)
	if p == nil {
		text, err := explain(r, address, productBytes)
		w.fail(in, allLanes, err, text)
		return nil
	}
	t := memoryAccess{in, 0, r, address}
	if offset := address - r.base; r.written != nil && r.written.firstMissing(offset, productBytes) != offset+productBytes {
		w.unwritten(t)
	}
	w.proxied(t, productBytes)
	return p
}
