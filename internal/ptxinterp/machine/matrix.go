package machine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// performMatrix performs an instruction on matrices, which the manual defines for whole warps only:
// all threads execute the same one and none has exited (section 9.7.15, mma and ldmatrix).
func (w *warp) performMatrix(op *syncOp, groups []group) bool {
	var here uint32
	for _, g := range groups {
		here |= g.mask
		if g.pc != groups[0].pc {
			w.failAt(g.pc, g.mask, ErrUndefined, "the threads of the warp execute different instructions of this kind")
			return false
		}
	}
	if here != allLanes {
		w.failAt(groups[0].pc, here, ErrUndefined, fmt.Sprintf("of the warp only threads %#x are there", here))
		return false
	}
	return op.matrix(w, groups[0].pc)
}

// vector returns the elements of vector operand i.
func (d *decoder) vector(i, n int) []ptx.Operand {
	o := d.arg(i)
	if o.Kind == ptx.VectorOperand && len(o.Elems) == n {
		return o.Elems
	}
	if o.Kind != ptx.VectorOperand && n == 1 {
		return []ptx.Operand{o}
	}
	d.fail("%s where %d elements are expected", describe(o), n)
	return nil
}

func (d *decoder) destinations(i, n int, t ptx.Type) (rows []int32) {
	for _, o := range d.vector(i, n) {
		r, _ := d.destination(o, t, false)
		rows = append(rows, r)
	}
	return rows
}

func (d *decoder) sources(i, n int, t ptx.Type) (rows []int32) {
	for _, o := range d.vector(i, n) {
		rows = append(rows, d.source(o, t, false))
	}
	return rows
}

// loadMatrix decodes ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16.
func (d *decoder) loadMatrix() {
	d.need(d.m.has("sync") && d.m.has("aligned") && d.m.has("m8n8"))
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[d.m.oneOf("x1", "x2", "x4")]
	transposed := d.m.has("trans")
	space := d.m.space()
	d.need(n > 0 && (space == ptx.Shared || space == ptx.Generic) && d.m.has("b16"))
	if !d.args(2, 2) {
		return
	}
	x := &access{space: space, size: 8, count: 2, total: 16, near: d.prog.nears, reads: true}
	d.prog.nears++
	s := &syncOp{name: d.in.Op, p: -1, members: d.constant(allLanes), results: d.destinations(0, n, ptx.B32)}
	in := instr{kind: warpSync, sync: s, mem: x}
	in.a, in.imm, x.space = d.place(1, space)
	s.matrix = func(w *warp, pc int32) bool { return w.loadMatrix(pc, transposed) }
	d.emit(in)
}

// loadMatrix gives thread l elements 2*(l%4) and the next one of row l/4 of each matrix, or
// of its column: thread 8*i + r holds the address of row r of matrix i.
func (w *warp) loadMatrix(pc int32, transposed bool) bool {
	in := &w.prog.code[pc]
	addresses := w.row(in.a)
	w.count(in, uint32(1<<(8*len(in.sync.results))-1))
	for i, r := range in.sync.results {
		var matrix [8][8]uint16
		for row := range matrix {
			lane := 8*i + row
			p := w.bytes(in, lane, addresses[lane]+in.imm)
			if p == nil {
				return false
			}
			for col := range matrix[row] {
				matrix[row][col] = binary.LittleEndian.Uint16(p[2*col:])
			}
		}
		d := w.row(r)
		for l := range d {
			major, minor := l/4, 2*(l%4)
			low, high := matrix[major][minor], matrix[major][minor+1]
			if transposed {
				low, high = matrix[minor][major], matrix[minor+1][major]
			}
			d[l] = uint64(high)<<16 | uint64(low)
		}
	}
	return true
}

// storeMatrix decodes stmatrix.sync.aligned.m8n8.x4.shared.b16.
func (d *decoder) storeMatrix() {
	d.need(d.m.has("sync") && d.m.has("aligned") && d.m.has("m8n8") && d.m.has("x4"))
	space := d.m.space()
	d.need(space == ptx.Shared && d.m.has("b16"))
	if !d.args(2, 2) {
		return
	}
	x := &access{space: space, size: 8, count: 2, total: 16, near: d.near(), write: true, rows: [4]int32{-1}}
	s := &syncOp{name: d.in.Op, p: -1, members: d.constant(allLanes), sources: d.sources(1, 4, ptx.B32)}
	in := instr{kind: warpSync, sync: s, mem: x}
	in.a, in.imm, x.space = d.place(0, space)
	s.matrix = (*warp).storeMatrix
	d.emit(in)
}

// storeMatrix is the opposite of loadMatrix: thread 8*i + r holds the address of row r of matrix i.
func (w *warp) storeMatrix(pc int32) bool {
	in := &w.prog.code[pc]
	addresses := w.row(in.a)
	w.count(in, allLanes)
	for l := range warpSize {
		p := w.bytes(in, l, addresses[l]+in.imm)
		if p == nil {
			return false
		}
		for col := range 8 {
			pair := w.row(in.sync.sources[l/8])[l%8*4+col/2]
			binary.LittleEndian.PutUint16(p[2*col:], uint16(pair>>(col%2*16)))
		}
	}
	return true
}

// mma decodes mma.sync.aligned.m16n8k16.row.col.f32.T.T.f32 for T of 16 bits.
func (d *decoder) mma() {
	d.need(d.m.has("sync") && d.m.has("aligned") && d.m.has("m16n8k16") && d.m.has("row") && d.m.has("col"))
	to, a, b, c := d.m.typ(), d.m.typ(), d.m.typ(), d.m.typ()
	d.need(to == ptx.F32 && c == ptx.F32 && a == b && (a == ptx.F16 || a == ptx.BF16))
	if !d.args(4, 4) {
		return
	}
	half := func(x uint64) float32 { return dtype.F16(x).Float32() }
	if a == ptx.BF16 {
		half = func(x uint64) float32 { return dtype.BF16(x).Float32() }
	}
	s := &syncOp{name: d.in.Op + a.String(), p: -1, members: d.constant(allLanes), results: d.destinations(0, 4, ptx.F32)}
	s.sources = append(append(d.sources(1, 4, ptx.B32), d.sources(2, 2, ptx.B32)...), d.sources(3, 4, ptx.F32)...)
	s.matrix = func(w *warp, pc int32) bool { w.multiply(w.prog.code[pc].sync, half); return true }
	d.emit(instr{kind: warpSync, sync: s})
}

// multiply computes a product of 16x16 and 16x8 elements, laid out as the manual's figures for
// m16n8k16 show. The order of the additions is not defined; here k goes up, from c on.
func (w *warp) multiply(op *syncOp, half func(uint64) float32) {
	var a [16][16]float32
	for i, r := range op.sources[:4] { // upper left, lower left, upper right, lower right
		for l, pair := range w.row(r) {
			at := a[l>>2+i&1*8][l&3*2+i>>1*8:]
			at[0], at[1] = half(pair&0xffff), half(pair>>16&0xffff)
		}
	}
	var b [16][8]float32
	for i, r := range op.sources[4:6] { // upper, lower
		for l, pair := range w.row(r) {
			at := b[l&3*2+i*8:]
			at[0][l>>2], at[1][l>>2] = half(pair&0xffff), half(pair>>16&0xffff)
		}
	}
	var from, to [4]*row
	for i := range to {
		from[i], to[i] = w.row(op.sources[6+i]), w.row(op.results[i])
	}
	var sums [16]rowSums
	for r := range sums {
		sums[r] = tileRow(from, r)
	}
	for r := range sums {
		sums[r].add(a[r][:], b[:])
		sums[r].store(to, r)
	}
}

// rowSums is a row of a tile of 16x8 sums, which four registers of a warp hold: those of mma, and of each eight columns of wgmma.
type rowSums [8]float32

// tileRow returns row r of a tile.
func tileRow(tile [4]*row, r int) (sums rowSums) {
	for col := range sums {
		sums[col] = single(tile[r>>3<<1+col&1][r&7<<2+col>>1])
	}
	return sums
}

// store makes the sums row r of a tile.
func (sums *rowSums) store(tile [4]*row, r int) {
	for col, sum := range sums {
		tile[r>>3<<1+col&1][r&7<<2+col>>1] = uint64(math.Float32bits(sum))
	}
}

// add adds the products of a row with eight columns, whose elements stand side by side: the processor adds to four sums at a time. Go's
// compiler would keep some of eight sums in memory.
func (sums *rowSums) add(row []float32, columns [][8]float32) {
	columns = columns[:len(row)]
	a, b, c, d := sums[0], sums[1], sums[2], sums[3]
	for k, x := range row {
		y := &columns[k]
		a += x * y[0]
		b += x * y[1]
		c += x * y[2]
		d += x * y[3]
	}
	e, f, g, h := sums[4], sums[5], sums[6], sums[7]
	for k, x := range row {
		y := &columns[k]
		e += x * y[4]
		f += x * y[5]
		g += x * y[6]
		h += x * y[7]
	}
	*sums = rowSums{a, b, c, d, e, f, g, h}
}
