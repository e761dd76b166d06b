package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// output is where parts stores sums. LD is the distance of rows.
type output struct {
	LD   int32
	Mode mode
}

// mode is how parts divides the work.
type mode int32

const (
	wholes   mode = iota // whole tiles, stored in C
	adding               // whole tiles, added to C
	segments             // equal numbers of steps for all blocks, stored as segments
)

// work is the part of a block: the steps from first to last, where each tile has j.steps() steps. After each tile, it leaves out skip
// steps.
type work struct{ first, last, skip int32 }

// workOf returns the part of a block (Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
// Multiplication on the GPU").
func workOf(t gpu.Thread, j job, m mode) work {
	steps := j.steps()
	all := j.tiles() * steps
	if m != segments {
		return work{int32(t.BlockX()) * steps, all, int32(t.GridDimX()-1) * steps}
	}
	return work{shareOf(all, int32(t.BlockX()), int32(t.GridDimX())), shareOf(all, int32(t.BlockX()+1), int32(t.GridDimX())), 0}
}

// shareOf returns the first step of a block.
func shareOf(all, block, blocks int32) int32 {
	return int32(uint64(all) * uint64(block) / uint64(blocks))
}

// blockOf returns the block that computes a step.
func blockOf(all, at, blocks int32) int32 {
	return int32(((uint32(at)+1)*uint32(blocks) - 1) / uint32(all))
}

// parts is resident without a bulk store: it stores sums in float32, whole tiles in C or segments of tiles in scratch memory. A tile is
// the sum of its segments. The number of a segment is the sum of the numbers of its block and of its tile.
//
//gpu:kernel
//gpu:block 384
func parts[T gpu.Half, L layout[T]](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], c []float32, j job, o output) {
	p, rows := gpu.Shared[pipe[T]](t), gpu.Shared[[2]buffer](t)
	joint := gpu.Shared[[2]gpu.Barrier](t)
	if t.ThreadX() == 0 {
		p.init(t)
		joint[0].Init(t, 4)
		joint[1].Init(t, 4)
	}
	t.Sync()
	t.StartNext() // join
	w, steps := workOf(t, j, o.Mode), j.steps()
	n := uint(0)
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			for u := w.first; u < w.last; u += w.skip {
				k := turnOf(u, w.last, steps, n)
				row, col := j.tile(u / steps)
				n = produce[T, L](t, p, sources[T]{a, b}, area{turn: k, row: row, col: col, second: int(j.Second)})
				u += k.to - k.from
			}
		}
		return
	}
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	phase := 0
	for u := w.first; u < w.last; u += w.skip {
		k := turnOf(u, w.last, steps, n)
		var acc [128]float32
		n = consume[T, L](t, p, &acc, k)
		if o.Mode == segments {
			if from := j.segment(t, half*4+t.Warp()%4, u/steps); from >= 0 {
				line := c[from : from+strand]
				for e := range acc {
					line[e*32+t.Lane()] = acc[e]
				}
			}
			u += k.to - k.from
			continue
		}
		to := o.rowsOf(t, j, u/steps)
		for side := range 2 {
			deposit(t, &rows[half], &acc, side)
			meet(t, &joint[half], phase)
			to.store(t, c, &rows[half], side)
			meet(t, &joint[half], phase+1)
			phase += 2
		}
		u += k.to - k.from
	}
}

// strand is the sums of a warp in a segment: 16 rows. Sum i of each thread is stored next to those of the other threads.
const strand = 16 * tileCols

// strands returns the number of warps that have sums in a segment.
func (j job) strands() int32 { return min(tileRows/16, (j.M+15)/16) }

// segment returns the index of the first sum of a warp, or a negative number if all its rows are outside C.
func (j job) segment(t gpu.Thread, warp int, tile int32) int {
	row, _ := j.tile(tile)
	if row+warp*16 >= int(j.M) {
		return -1
	}
	return int((int32(t.BlockX())+tile)*j.strands()+int32(warp)) * strand
}

// buffer holds half of the columns of a warp group's sums. The padding keeps threads of a warp in different banks.
type buffer [64][136]float32

// deposit stores half of the columns of an accumulator.
func deposit(t gpu.Thread, to *buffer, acc *[128]float32, side int) {
	row, col := t.Warp()%4*16+t.Lane()/4, t.Lane()%4*2
	for j := range 16 {
		for i := range 2 {
			to[row][j*8+col+i] = acc[side*64+4*j+i]
			to[row+8][j*8+col+i] = acc[side*64+4*j+2+i]
		}
	}
}

// place is where rows of sums go: from is the index of the first one, ld is the distance of rows, and height and width are the numbers
// of rows and columns to store.
type place struct {
	from              int
	ld, height, width int32
	add               bool
}

// rowsOf returns where a warp group's rows of a tile go.
func (o output) rowsOf(t gpu.Thread, j job, tile int32) place {
	row, col := j.tile(tile)
	below := int32((t.WarpGroup() - 1) & 1 * 64)
	height := min(64, j.M-int32(row)-below)
	return place{(row+int(below))*int(o.LD) + col, o.LD, height, j.N - int32(col), o.Mode == adding}
}

// store copies half of the columns of a warp group's sums.
func (p place) store(t gpu.Thread, c []float32, from *buffer, side int) {
	lane := int32(t.Lane())
	for row := int32(t.ThreadX() % 128 / 32); row < p.height; row += 4 {
		for col := lane; col < min(128, p.width-int32(side)*128); col += 32 {
			x := from[row&63][col&127]
			to := &c[p.from+int(row*p.ld+int32(side)*128+col)]
			if p.add {
				x += *to
			}
			*to = x
		}
	}
}

// turnOf returns the steps from u to the end of its tile, or of the work.
func turnOf(u, last, steps int32, n uint) turn {
	return turn{u % steps, min(steps, u%steps+last-u), n}
}
