package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// thin is the arguments of few. Columns and Second of the job are those of its tiles.
type thin struct {
	job
	LDC int32 // in groups of eight elements
}

// few computes products of few rows of op(A) with layout NT, at the speed of memory. A tile has twice as many rows as a thread has sums, and
// op(B) has 64 columns in it for each of the G warp groups: they are the rows of the warp group's products, whose columns are rows of op(A).
// Two more warps copy, one for each operand. The blocks of a cluster share the steps of a tile. At the end each of them adds up the sums of
// some rows, and passes its other sums to the other blocks through work.
//
// A block requests its first weights before the preceding kernel is done, and allows the next kernel to do so at once. If a
// multiprocessor has room for two blocks, memory is busy while one block ends.
//
//gpu:kernel
//gpu:target sm_90a
//gpu:assume narrow,aligned
func few[T gpu.Half, C any, F rounding[C], A sumsOf, G groups](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], work [][4]float32, c, residual [][eight]C, bias []float32, j thin) {
	t.StartNext()
	r := openBelt[T, A, G](t)
	if t.ThreadX() == 0 {
		r.init(t)
	}
	t.Sync()
	var acc A
	parts := t.ClusterSize()
	s := spanOf(t, uint32(j.steps()))
	to := area{row: t.BlockY() * 2 * len(acc), col: t.ClusterX() * int(j.Columns), second: int(j.Second)}
	sums := gpu.DynamicShared[[4]float32](t)[:len(acc)*pitchOf[G]()/2]
	own := spanOf(t, uint32(len(acc)/4))
	if t.WarpGroup() == groupsOf[G]() {
		supply(t, r, supplies[T]{a, b, j}, task{s, to})
		t.SyncWarp()
	} else {
		multiplyFew(t, r, s, &acc)
		if t.ThreadX()%gpu.WarpGroupSize == 0 {
			r.done().Arrive(t)
		}
		r.done().Wait(t, 0) // no warp group reads the panels any more
		t.AwaitPrevious()
		distribute[A, G](t, sums, work, &acc)
	}
	t.AwaitPrevious()
	if parts > 1 {
		t.SyncCluster()
	} else {
		t.Sync()
	}
	finishFew[A, G](t, eightsOf[C, F]{c, residual, bias}, j, owned{to, int(own.first) * 8, int(own.last) * 8, sums, work})
}

const mostStages = 6

// groups is the number of warp groups of a block that multiply.
type groups interface{ count() int }

type (
	oneGroup  struct{} // for matrices op(B) of few columns, without SwiGLU, which needs columns of two halves of op(B)
	twoGroups struct{}
)

func (oneGroup) count() int  { return 1 }
func (twoGroups) count() int { return 2 }

func groupsOf[G groups]() int {
	var g G
	return g.count()
}

// columnsOf returns the number of columns of op(B) in a tile.
func columnsOf[G groups]() int { return 64 * groupsOf[G]() }

// threadsOf returns the number of threads of a block.
func threadsOf[G groups]() int { return groupsOf[G]()*gpu.WarpGroupSize + 2*gpu.WarpSize }

// pitchOf returns the distance from one row of sums to the next one: those of a warp are in different banks.
func pitchOf[G groups]() int { return columnsOf[G]() + 4 }

// signals are the barriers of a block: full and empty as in stage, done for the end of all products, and warm for the first copy with the
// map of op(A).
type signals struct {
	full, empty [mostStages]gpu.Barrier
	done, warm  gpu.Barrier
}

// span is a range of the steps of a tile, or of the groups of eight rows that it has.
type span struct{ first, last uint32 }

// spanOf returns the part of a block of a cluster.
func spanOf(t gpu.Thread, n uint32) span {
	part, parts := uint32(t.ClusterRank()), uint32(t.ClusterSize())
	return span{n * part / parts, n * (part + 1) / parts}
}

// sumsOf is a thread's sums, for twice as many rows of op(A) as there are elements.
type sumsOf interface{ [32]float32 | [64]float32 }

// The numbers of panels of all stages of a block. Of blocks with few rows, two fit in a multiprocessor.
const (
	smallRing = 12
	largeRing = 24
)

// stagesOf returns the number of stages of a block.
func stagesOf[A sumsOf, G groups]() int {
	var acc A
	if len(acc) == fewRows/2 {
		return smallRing / panelsOf[A, G]()
	}
	return largeRing / panelsOf[A, G]()
}

// panelsOf returns the number of panels of a stage.
func panelsOf[A sumsOf, G groups]() int {
	var acc A
	return groupsOf[G]() + len(acc)/32
}

// belt is a ring of stages in dynamic shared memory: each has a panel of op(B) for each warp group, and those of op(A).
type belt[T gpu.Half, A sumsOf, G groups] struct {
	ring []gpu.Panel[T]
	bars *signals
}

func openBelt[T gpu.Half, A sumsOf, G groups](t gpu.Thread) belt[T, A, G] {
	return belt[T, A, G]{gpu.DynamicShared[gpu.Panel[T]](t)[:stagesOf[A, G]()*panelsOf[A, G]()], gpu.Shared[signals](t)}
}

// init prepares the barriers.
func (b belt[T, A, G]) init(t gpu.Thread) {
	for i := range stagesOf[A, G]() {
		b.full(uint32(i)).Init(t, 2)
		b.empty(uint32(i)).Init(t, groupsOf[G]())
	}
	b.done().Init(t, groupsOf[G]())
	b.warm().Init(t, 1)
}

func (b belt[T, A, G]) left(n uint32, group int) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A, G]()))*panelsOf[A, G]()+group&(groupsOf[G]()-1):][:1]
}

func (b belt[T, A, G]) right(n uint32) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A, G]()))*panelsOf[A, G]()+groupsOf[G]():][:panelsOf[A, G]()-groupsOf[G]()]
}

func (b belt[T, A, G]) full(n uint32) *gpu.Barrier  { return &b.bars.full[n%uint32(stagesOf[A, G]())] }
func (b belt[T, A, G]) empty(n uint32) *gpu.Barrier { return &b.bars.empty[n%uint32(stagesOf[A, G]())] }
func (b belt[T, A, G]) done() *gpu.Barrier          { return &b.bars.done }
func (b belt[T, A, G]) warm() *gpu.Barrier          { return &b.bars.warm }

// phase returns the number of times that a stage has been used before.
func (b belt[T, A, G]) phase(n uint32) int { return int(n / uint32(stagesOf[A, G]())) }

// task is what a warp copies: some steps of the tile at a position.
type task struct {
	span
	area
}

// supplies are the operands in memory.
type supplies[T gpu.Half] struct {
	a, b gpu.TensorMap[gpu.Panel[T]]
	thin
}

// supply starts all copies of a block: a warp with an even number those of op(B), the next one those of op(A). The first copy with a tensor
// map also loads the map. For op(A), it copies a panel outside the matrix, and so does not wait for the preceding kernel.
func supply[T gpu.Half, A sumsOf, G groups](t gpu.Thread, r belt[T, A, G], x supplies[T], o task) {
	weights := t.Warp()%2 == 0
	if !weights && t.Lane() == 0 {
		r.warm().Expect(t, gpu.PanelBytes)
		x.a.Fetch(t, &r.right(0)[0], gpu.Corner{Y: int(x.M)}, r.warm())
	}
	if !weights || !x.Weights {
		t.AwaitPrevious()
	}
	if t.Lane() == 0 {
		if weights {
			requestWeights(t, r, x.b, o)
		} else {
			r.warm().Wait(t, 0)
			requestRows(t, r, x, o)
		}
	}
}

// requestWeights starts the copies of op(B).
func requestWeights[T gpu.Half, A sumsOf, G groups](t gpu.Thread, r belt[T, A, G], b gpu.TensorMap[gpu.Panel[T]], o task) {
	for n := range o.last - o.first {
		full := r.full(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, groupsOf[G]()*gpu.PanelBytes)
		for i := range groupsOf[G]() {
			b.Fetch(t, &r.left(n, i)[0], gpu.Corner{X: int(o.first+n) * depth, Y: o.col + i*o.second}, full)
		}
	}
}

// requestRows starts the copies of op(A). A panel outside the matrix, whose results are not stored, has the rows of the last one: copies of
// zeros take longer.
func requestRows[T gpu.Half, A sumsOf, G groups](t gpu.Thread, r belt[T, A, G], x supplies[T], o task) {
	last := int(x.M-1) &^ (gpu.PanelRows - 1)
	for n := range o.last - o.first {
		full, right := r.full(n), r.right(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, len(right)*gpu.PanelBytes)
		for i := range right {
			x.a.Fetch(t, &right[i], gpu.Corner{X: int(o.first+n) * depth, Y: min(o.row+i*gpu.PanelRows, last)}, full)
		}
	}
}

// multiplyFew multiplies a warp group's part of all steps.
func multiplyFew[T gpu.Half, A sumsOf, G groups](t gpu.Thread, r belt[T, A, G], s span, acc *A) {
	group, leads := t.WarpGroup(), t.ThreadX()%gpu.WarpGroupSize == 0
	for n := uint32(0); ; {
		left, right := r.left(n, group), r.right(n)
		r.full(n).Wait(t, r.phase(n))
		t.FenceProducts()
		for k := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(left, k), gpu.AlongRows(right, k))
		}
		t.CommitProducts()
		if len(*acc) == fewRows/2 { // memory is slower than the products
			gpu.AwaitProducts(t, acc, 0)
			if leads {
				r.empty(n).Arrive(t)
			}
		} else {
			gpu.AwaitProducts(t, acc, 1)
			if leads && n > 0 {
				r.empty(n - 1).Arrive(t)
			}
		}
		if n++; n >= s.last-s.first { // at least one iteration, as in consume
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
}

// distribute stores a thread's sums: those that the block stores in C in shared memory, the others in work, for the other blocks of the
// cluster.
func distribute[A sumsOf, G groups](t gpu.Thread, sums, work [][4]float32, acc *A) {
	own := spanOf(t, uint32(len(*acc)/4))
	row, col := t.Lane()%4*2, t.Warp()%(4*groupsOf[G]())*16+t.Lane()/4
	near := sums[row*pitchOf[G]()/4+col/4:][:(2*len(*acc)-7)*pitchOf[G]()/4+3]
	if t.ClusterSize() == 1 {
		for i := range len(*acc) / 4 {
			for e := range 4 {
				near[(8*i+e%2)*pitchOf[G]()/4+e/2*2][col%4] = (*acc)[4*i+e]
			}
		}
		return
	}
	far := work[published[A, G](t, 0)+row*columnsOf[G]()/4+col/4:][:(2*len(*acc)-7)*columnsOf[G]()/4+3]
	for i := range len(*acc) / 4 {
		mine := uint32(i)-own.first < own.last-own.first
		for e := range 4 {
			if mine {
				near[(8*i+e%2)*pitchOf[G]()/4+e/2*2][col%4] = (*acc)[4*i+e]
			} else {
				far[(8*i+e%2)*columnsOf[G]()/4+e/2*2][col%4] = (*acc)[4*i+e]
			}
		}
	}
}

// published returns the index of the sums of a block in work. The block is some ranks further in the cluster.
func published[A sumsOf, G groups](t gpu.Thread, ranks int) int {
	var acc A
	return (t.BlockY()*t.GridDimX() + t.BlockX() + ranks) * len(acc) * columnsOf[G]() / 2
}

// owned is the rows of a tile that a block stores: their sums are in its shared memory, and in the work of the other blocks of its
// cluster.
type owned struct {
	area
	first, last int
	sums, work  [][4]float32
}

// atOnce is the number of rows of eight sums that a thread requests from other blocks at once.
const atOnce = 4

// rowsAtOnce returns the number of rows that these belong to. Tiles with many rows have few blocks, and a thread has several rows.
func rowsAtOnce[A sumsOf]() int {
	var acc A
	if len(acc) == fewRows/2 {
		return 1
	}
	return atOnce
}

// finishFew stores the block's share of the tile: all of its columns, of some rows of op(A). A thread stores eight columns of some rows.
func finishFew[A sumsOf, G groups, C any, F rounding[C]](t gpu.Thread, o eightsOf[C, F], j thin, to owned) {
	chunks := columnsOf[G]() / eight
	col, first, step := t.ThreadX()%chunks*eight, t.ThreadX()/chunks, threadsOf[G]()/chunks
	paired := groupsOf[G]() > 1 && j.Activation == SwiGLU
	if paired { // half as many columns
		col, first, step = t.ThreadX()%(chunks/2)*eight, t.ThreadX()/(chunks/2), threadsOf[G]()/(chunks/2)
	}
	if to.col+col >= int(j.N) {
		return
	}
	last := min(to.last, int(j.M)-to.row)
	bias := o.biases(to.col + col)
	var up [eight]float32
	if paired {
		up = o.biases(to.col + col + to.second)
	}
	for row := to.first + first; row < last; row += rowsAtOnce[A]() * step {
		x := sumFew[A, G](t, to, eights{row, col, step, last})
		if paired {
			y := sumFew[A, G](t, to, eights{row, col + columnsOf[G]()/2, step, last})
			for q := range rowsAtOnce[A]() {
				for e := range eight {
					x[q][e] = silu(x[q][e]+bias[e]) * (y[q][e] + up[e])
				}
			}
		} else {
			for q := range rowsAtOnce[A]() {
				for e := range eight {
					x[q][e] += bias[e]
				}
				activateEight(&x[q], j.Activation)
			}
		}
		for q := range rowsAtOnce[A]() {
			if at := row + q*step; at < last {
				o.store(x[q], (to.row+at)*int(j.LDC)+(to.col+col)/eight)
			}
		}
	}
}

// eights is eight columns of some rows of a tile: the first row, and those step rows further, before last.
type eights struct{ row, col, step, last int }

// sumFew returns the sums of all blocks of the cluster, added in the order of their ranks: a row of C has the same bits at all positions.
func sumFew[A sumsOf, G groups](t gpu.Thread, o owned, at eights) (x [atOnce][eight]float32) {
	rows, rank, parts := rowsAtOnce[A](), t.ClusterRank(), t.ClusterSize()
	for p := 0; p < parts; p += atOnce / rows {
		var y [atOnce][eight]float32
		for k := range atOnce {
			part, row := p+k/rows, at.row+k%rows*at.step
			switch {
			case part >= parts || row >= at.last:
			case part == rank:
				y[k] = eightAt(o.sums, (row*pitchOf[G]()+at.col)/4)
			default:
				y[k] = eightAt(o.work, published[A, G](t, part-rank)+(row*columnsOf[G]()+at.col)/4)
			}
		}
		for k := range atOnce {
			for e := range eight {
				x[k%rows][e] += y[k][e]
			}
		}
	}
	return x
}

// eightAt returns eight elements.
func eightAt(x [][4]float32, at int) (y [eight]float32) {
	from := x[at:][:2]
	for e := range eight {
		y[e] = from[e/4][e%4]
	}
	return y
}

// activateEight applies an activation other than SwiGLU.
func activateEight(x *[eight]float32, a Activation) {
	switch a {
	case SiLU:
		for e := range eight {
			x[e] = silu(x[e])
		}
	case GELU:
		for e := range eight {
			x[e] = gelu(x[e])
		}
	}
}

// eight is the number of elements of a row of C that are stored at once.
const eight = 8

// eightsOf is operandsOf with eight elements of a row at once.
type eightsOf[C any, F rounding[C]] struct {
	c, residual [][eight]C
	bias        []float32
}

// biases returns the elements of the bias for a column and those after it, or zeros.
func (o eightsOf[C, F]) biases(col int) (x [eight]float32) {
	if len(o.bias) > 0 {
		for e := range eight {
			x[e] = at(o.bias, col+e)
		}
	}
	return x
}

// store adds the residual and stores elements of C.
func (o eightsOf[C, F]) store(x [eight]float32, to int) {
	var f F
	if len(o.residual) > 0 {
		y := o.residual[to]
		for e := range eight {
			x[e] += f.wide(y[e])
		}
	}
	var z [eight]C
	for e := range eight {
		z[e] = f.round(x[e])
	}
	o.c[to] = z
}
