package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// thin is the arguments of few. Columns and Second of the job are those of its tiles.
type thin struct {
	job
	LDC int32 // in groups of eight elements
}

// few computes products of few rows of op(A) with layout NT, at the speed of memory. A tile has twice as many rows as a thread has sums, and
// op(B) has 64 columns in it for each warp group: they are the rows of the warp group's products, whose columns are rows of op(A). Two
// more warps copy, one for each operand. The blocks of a cluster share the steps of a tile. At the end each of them adds up the sums of
// some rows, and passes its other sums to the other blocks through work.
//
// A block requests its first weights before the preceding kernel is done, and allows the next kernel to do so at once. If a
// multiprocessor has room for two blocks, memory is busy while one block ends.
//
//gpu:kernel
//gpu:target sm_90a
func few[T gpu.Half, C any, F rounding[C], A sumsOf](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], work [][4]float32, c, residual [][eight]C, bias []float32, j thin) {
	t.StartNext()
	r := openBelt[T, A](t)
	if t.ThreadX() == 0 {
		for i := range stagesOf[A]() {
			r.full(uint32(i)).Init(t, 2)
			r.empty(uint32(i)).Init(t, fewGroups)
		}
		r.done().Init(t, fewGroups)
		r.warm().Init(t, 1)
	}
	t.Sync()
	var acc A
	parts := t.ClusterSize()
	s := spanOf(t, uint32(j.steps()))
	to := area{row: t.BlockY() * 2 * len(acc), col: t.ClusterX() * int(j.Columns), second: int(j.Second)}
	sums := gpu.DynamicShared[[4]float32](t)[:len(acc)*fewPitch/2]
	own := spanOf(t, uint32(len(acc)/4))
	if t.WarpGroup() == fewGroups {
		supply(t, r, supplies[T]{a, b, j}, task{s, to})
		t.SyncWarp()
	} else {
		multiplyFew(t, r, s, &acc)
		if t.ThreadX()%gpu.WarpGroupSize == 0 {
			r.done().Arrive(t)
		}
		r.done().Wait(t, 0) // no warp group reads the panels any more
		t.AwaitPrevious()
		distribute(t, sums, work, &acc)
	}
	t.AwaitPrevious()
	if parts > 1 {
		t.SyncCluster()
	} else {
		t.Sync()
	}
	finishFew[A](t, eightsOf[C, F]{c, residual, bias}, j, owned{to, int(own.first) * 8, int(own.last) * 8, sums, work, 2 * len(acc)})
}

const (
	mostStages = 6
	fewGroups  = 2                                            // warp groups that multiply
	fewColumns = fewGroups * 64                               // of op(B) in a tile
	fewThreads = fewGroups*gpu.WarpGroupSize + 2*gpu.WarpSize // of a block
	fewPitch   = fewColumns + 4                               // from one row of sums to the next: a warp's are in different banks
)

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

// stagesOf returns the number of stages of a block. If it has few rows, two blocks fit in a multiprocessor.
func stagesOf[A sumsOf]() int {
	var acc A
	if len(acc) == fewRows/2 {
		return 4
	}
	return 24 / panelsOf[A]()
}

// panelsOf returns the number of panels of a stage.
func panelsOf[A sumsOf]() int {
	var acc A
	return fewGroups + len(acc)/32
}

// belt is a ring of stages in dynamic shared memory: each has a panel of op(B) for each warp group, and those of op(A).
type belt[T gpu.Half, A sumsOf] struct {
	ring []gpu.Panel[T]
	bars *signals
}

func openBelt[T gpu.Half, A sumsOf](t gpu.Thread) belt[T, A] {
	return belt[T, A]{gpu.DynamicShared[gpu.Panel[T]](t)[:stagesOf[A]()*panelsOf[A]()], gpu.Shared[signals](t)}
}

func (b belt[T, A]) left(n uint32, group int) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A]()))*panelsOf[A]()+group&(fewGroups-1):][:1]
}

func (b belt[T, A]) right(n uint32) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A]()))*panelsOf[A]()+fewGroups:][:panelsOf[A]()-fewGroups]
}

func (b belt[T, A]) full(n uint32) *gpu.Barrier  { return &b.bars.full[n%uint32(stagesOf[A]())] }
func (b belt[T, A]) empty(n uint32) *gpu.Barrier { return &b.bars.empty[n%uint32(stagesOf[A]())] }
func (b belt[T, A]) done() *gpu.Barrier          { return &b.bars.done }
func (b belt[T, A]) warm() *gpu.Barrier          { return &b.bars.warm }

// phase returns the number of times that a stage has been used before.
func (b belt[T, A]) phase(n uint32) int { return int(n / uint32(stagesOf[A]())) }

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
func supply[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], x supplies[T], o task) {
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
			requestRows(t, r, x.a, o)
		}
	}
}

// requestWeights starts the copies of op(B).
func requestWeights[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], b gpu.TensorMap[gpu.Panel[T]], o task) {
	for n := range o.last - o.first {
		full := r.full(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, fewGroups*gpu.PanelBytes)
		for i := range fewGroups {
			b.Fetch(t, &r.left(n, i)[0], gpu.Corner{X: int(o.first+n) * depth, Y: o.col + i*o.second}, full)
		}
	}
}

// requestRows starts the copies of op(A).
func requestRows[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], a gpu.TensorMap[gpu.Panel[T]], o task) {
	for n := range o.last - o.first {
		full, right := r.full(n), r.right(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, len(right)*gpu.PanelBytes)
		for i := range right {
			a.Fetch(t, &right[i], gpu.Corner{X: int(o.first+n) * depth, Y: o.row + i*gpu.PanelRows}, full)
		}
	}
}

// multiplyFew multiplies a warp group's part of all steps.
func multiplyFew[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], s span, acc *A) {
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
func distribute[A sumsOf](t gpu.Thread, sums, work [][4]float32, acc *A) {
	own := spanOf(t, uint32(len(*acc)/4))
	row, col := t.Lane()%4*2, t.Warp()%8*16+t.Lane()/4
	near := sums[row*fewPitch/4+col/4:][:(2*len(*acc)-7)*fewPitch/4+3]
	if t.ClusterSize() == 1 {
		for i := range len(*acc) / 4 {
			for e := range 4 {
				near[(8*i+e%2)*fewPitch/4+e/2*2][col%4] = (*acc)[4*i+e]
			}
		}
		return
	}
	far := work[published(t, 0, 2*len(*acc))+row*fewColumns/4+col/4:][:(2*len(*acc)-7)*fewColumns/4+3]
	for i := range len(*acc) / 4 {
		mine := uint32(i)-own.first < own.last-own.first
		for e := range 4 {
			if mine {
				near[(8*i+e%2)*fewPitch/4+e/2*2][col%4] = (*acc)[4*i+e]
			} else {
				far[(8*i+e%2)*fewColumns/4+e/2*2][col%4] = (*acc)[4*i+e]
			}
		}
	}
}

// published returns the index of the sums of a block in work. The block is some ranks further in the cluster.
func published(t gpu.Thread, ranks, rows int) int {
	return (t.BlockY()*t.GridDimX() + t.BlockX() + ranks) * rows * fewColumns / 4
}

// owned is the rows of a tile that a block stores: their sums are in its shared memory, and in the work of the other blocks of its
// cluster, which have height rows each.
type owned struct {
	area
	first, last int
	sums, work  [][4]float32
	height      int
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
func finishFew[A sumsOf, C any, F rounding[C]](t gpu.Thread, o eightsOf[C, F], j thin, to owned) {
	const chunks = fewColumns / eight
	col, first, step := t.ThreadX()%chunks*eight, t.ThreadX()/chunks, fewThreads/chunks
	if j.Activation == SwiGLU { // half as many columns
		col, first, step = t.ThreadX()%(chunks/2)*eight, t.ThreadX()/(chunks/2), fewThreads/(chunks/2)
	}
	if to.col+col >= int(j.N) {
		return
	}
	last := min(to.last, int(j.M)-to.row)
	bias := o.biases(to.col + col)
	var up [eight]float32
	if j.Activation == SwiGLU {
		up = o.biases(to.col + col + to.second)
	}
	for row := to.first + first; row < last; row += rowsAtOnce[A]() * step {
		x := sumFew[A](t, to, eights{row, col, step, last})
		if j.Activation == SwiGLU {
			y := sumFew[A](t, to, eights{row, col + fewColumns/2, step, last})
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

// sumFew returns the sums of all blocks of the cluster: those of the block itself, and then of those after it.
func sumFew[A sumsOf](t gpu.Thread, o owned, at eights) (x [atOnce][eight]float32) {
	rows := rowsAtOnce[A]()
	for q := range rows {
		if row := at.row + q*at.step; row < at.last {
			x[q] = eightAt(o.sums, (row*fewPitch+at.col)/4)
		}
	}
	rank, parts := t.ClusterRank(), t.ClusterSize()
	for p := 1; p < parts; p += atOnce / rows {
		var y [atOnce][eight]float32
		for k := range atOnce {
			other, row := p+k/rows, at.row+k%rows*at.step
			if other < parts && row < at.last {
				if other += rank; other >= parts {
					other -= parts
				}
				y[k] = eightAt(o.work, published(t, other-rank, o.height)+(row*fewColumns+at.col)/4)
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
