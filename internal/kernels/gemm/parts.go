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

// narrow holds the operands of a step for a tile of 64x256 elements.
type narrow[T gpu.Half] struct {
	left        [1]gpu.Panel[T]
	right       [4]gpu.Panel[T]
	full, empty gpu.Barrier
	_           [1008]byte // panels start at multiples of 1024
}

const slimRing = 5

// slim is parts for at most 64 rows of op(A), and layout NT: each of its warp groups multiplies all rows and half of the columns.
// Its speed is that of memory.
//
//gpu:kernel
//gpu:block 384
func slim[T gpu.Half](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], c []float32, j job) {
	stages := gpu.Shared[[slimRing]narrow[T]](t)
	if t.ThreadX() == 0 {
		for i := range slimRing {
			stages[i].full.Init(t, 1)
			stages[i].empty.Init(t, 2)
		}
	}
	t.Sync()
	t.StartNext() // join
	w, steps := workOf(t, j, segments), j.steps()
	n := uint(0)
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.ThreadX() == 0 {
			early := w.first
			if j.Weights {
				early = min(w.last, w.first+slimRing)
			}
			for u := w.first; u < early; u++ {
				fetchWeights(t, b, &stages[u-w.first], j.areaOf(u))
			}
			t.AwaitPrevious()
			for u := w.first; u < w.last; u++ {
				to, at := &stages[n%slimRing], j.areaOf(u)
				if u >= early {
					to.empty.Wait(t, int(n/slimRing+1))
					fetchWeights(t, b, to, at)
				}
				a.Fetch(t, &to.left[0], gpu.Corner{X: at.depth}, &to.full)
				n++
			}
		}
		return
	}
	t.AwaitPrevious() // join may still be reading the segments of the preceding product
	t.TakeRegisters(232)
	half := (t.WarpGroup() - 1) & 1
	leads := t.ThreadX()%128 == 0
	for u := w.first; u < w.last; {
		k := turnOf(u, w.last, steps, n)
		var acc [64]float32
		for at := k.from; ; {
			from := &stages[n%slimRing]
			from.full.Wait(t, int(n/slimRing))
			t.FenceProducts()
			for s := range 4 {
				gpu.MultiplyAsync(t, &acc, gpu.AlongRows(from.left[:], s), gpu.AlongRows(from.right[half*2:half*2+2], s))
			}
			t.CommitProducts()
			gpu.AwaitProducts(t, &acc, 1)
			if at > k.from && leads {
				stages[(n-1)%slimRing].empty.Arrive(t)
			}
			n++
			if at++; at >= k.to {
				break
			}
		}
		gpu.AwaitProducts(t, &acc, 0)
		if leads {
			stages[(n-1)%slimRing].empty.Arrive(t)
		}
		if from := j.segment(t, t.Warp()%4, u/steps); from >= 0 {
			line := c[from+half*(strand/2) : from+half*(strand/2)+strand/2]
			for e := range acc {
				line[e*32+t.Lane()] = acc[e]
			}
		}
		u += k.to - k.from
	}
}

// areaOf returns the position of a step.
func (j job) areaOf(u int32) area {
	_, col := j.tile(u / j.steps())
	return area{col: col, depth: int(u % j.steps() * depth), second: int(j.Second)}
}

// fetchWeights starts the copies of a step of op(B), after which those of op(A) may start.
func fetchWeights[T gpu.Half](t gpu.Thread, b gpu.TensorMap[gpu.Panel[T]], to *narrow[T], at area) {
	to.full.Expect(t, 5*gpu.PanelBytes)
	for q := range 4 {
		b.Fetch(t, &to.right[q], gpu.Corner{X: at.depth, Y: at.col + q%2*64 + q/2*at.second}, &to.full)
	}
}
