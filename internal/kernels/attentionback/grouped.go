package attentionback

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// What the kernels for warp groups share. In each block, one warp copies tiles to shared memory, and two warp groups multiply.

type (
	panel = gpu.Panel[dtype.BF16]
	sheet = [2]panel // 64 rows of up to 128 elements: panels side by side
	tall  = [2]panel // 128 rows of 64 elements
	piles = [2]tall  // 128 rows of up to 128 elements
	tile  = gpu.Tile[dtype.BF16]
)

const (
	groupRows  = 64            // rows of a block that a warp group multiplies
	blockRows  = 2 * groupRows // rows of a block
	panelWidth = 64            // elements of a row of a panel
)

// turns makes the two warp groups of a block start their products one after the other: a group computes while the other one multiplies.
// Otherwise tensor cores interleave the products of both groups, which then compute at the same time.
type turns [2]gpu.Barrier

func (b *turns) init(t gpu.Thread) {
	for i := range 2 {
		b[i].Init(t, 4)
	}
}

// await waits for the warp group's turn i.
func (b *turns) await(t gpu.Thread, i int) {
	group := (t.WarpGroup() - 1) & 1
	b[group].Wait(t, i+1-group)
}

// pass lets the other group have its turn.
func (b *turns) pass(t gpu.Thread) {
	if t.Lane() == 0 {
		b[t.WarpGroup()&1].Arrive(t)
	}
}

// operands32 packs an accumulator as left operands.
func operands32(x *[32]float32) (p [4][4]tile) {
	for i := range 16 {
		p[i/4][i%4] = rounded(x[2*i], x[2*i+1])
	}
	return p
}

// operands64 is operands32 for 128 columns.
func operands64(x *[64]float32) (p [8][4]tile) {
	for i := range 32 {
		p[i/4][i%4] = rounded(x[2*i], x[2*i+1])
	}
	return p
}

// rounded rounds two neighbouring elements.
func rounded(low, high float32) tile {
	return tile(dtype.BF16From32(low)) | tile(dtype.BF16From32(high))<<16
}

// clearRows clears the rows of a panel from one on, for a warp.
func clearRows(t gpu.Thread, p *panel, from int) {
	for i := from*8 + t.Lane(); i < gpu.PanelRows*8; i += gpu.WarpSize {
		*gpu.EightAt(p, i/8, i%8*8) = [8]dtype.BF16{}
	}
}

// blockOf returns the number of the part, and the head, of block i of a grid, of arrays with a number of heads. With a causal mask, blocks of
// all heads alternate: those that see most come first, and the last ones end at about the same time. Otherwise, the blocks of a
// head follow each other, and so share what they read in the L2 cache.
func (l *layout) blockOf(i, grid, heads int) (part, head int) {
	if l.Causal {
		return int(uint32(i) / uint32(heads)), int(uint32(i) % uint32(heads))
	}
	parts := uint32(grid) / uint32(heads)
	return int(uint32(i) % parts), int(uint32(i) / parts)
}

// target is where a warp group's results go, in groups of eight elements: the index of the first group of its first row, the distance of rows, and
// their number.
type target struct {
	to              [][8]dtype.BF16
	at, step, count int
	panel           int     // the number of panels in the sums before the columns
	factor          float32 // of the sums
}

// targetOf returns where the rows of a warp group go, of a head of an array whose rows are step groups apart.
func (w *section) targetOf(t gpu.Thread, head, step int) target {
	first, width := (t.WarpGroup()-1)*groupRows, int(w.Dim)/8
	return target{at: (w.Row+first)*step + head*width, step: step, count: w.Count - first, factor: w.Slope}
}

// store stores sums of a panel's width of columns. Each warp puts its rows into the panel x before it stores whole lines of them.
func store[A [32]float32 | [64]float32](t gpu.Thread, p target, sums *A, x *panel) {
	lane, first := t.Lane(), t.Warp()%4*16
	for q := range 4 {
		var tiles [4]tile
		for i := range tiles {
			e := p.panel*32 + q*8 + 2*i
			tiles[i] = rounded((*sums)[e]*p.factor, (*sums)[e+1]*p.factor)
		}
		gpu.StoreMatrix4(t, gpu.EightAt(x, first+lane%16, q*16+lane/16*8), tiles)
	}
	t.SyncWarp()
	for i := range 4 {
		r := first + i*4 + lane/8
		if at := p.at + r*p.step + lane%8; r < p.count && at < len(p.to) {
			p.to[at] = *gpu.EightAt(x, r, lane%8*8)
		}
	}
}
