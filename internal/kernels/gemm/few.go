package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// thin is the arguments of few. Columns and Second of the job are those of its tiles.
type thin struct {
	job
	LDC int32
}

// few computes products of few rows of op(A) with layout NT, at the speed of memory. In a tile, op(B) has 64 columns for each warp
// group: they are the rows of the warp group's products, whose columns are rows of op(A). One more warp copies. The blocks of a cluster
// share the steps of a tile, and add up their sums at the end, which they exchange through work.
//
// A block requests its first weights before the preceding kernel is done, and allows the next kernel to do so at once. If a
// multiprocessor has room for two blocks, memory is busy while one block ends.
//
//gpu:kernel
//gpu:target sm_90a
func few[T gpu.Half, C any, F rounding[C]](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], work [][4]float32, c, residual []C, bias []float32, j thin) {
	t.StartNext()
	r := openBelt[T](t)
	if t.ThreadX() == 0 {
		for i := range fewStages {
			r.full(uint(i)).Init(t, 1)
			r.empty(uint(i)).Init(t, fewGroups)
		}
		r.done().Init(t, fewGroups)
	}
	t.Sync()
	var acc [fewRows / 2]float32
	part, parts, steps := uint32(t.ClusterRank()), uint32(t.ClusterSize()), uint32(j.steps())
	s := span{steps * part / parts, steps * (part + 1) / parts}
	to := area{row: t.BlockY() * 2 * len(acc), col: t.ClusterX() * int(j.Columns), second: int(j.Second)}
	sums := gpu.DynamicShared[float32](t)
	if t.WarpGroup() == fewGroups {
		if t.Lane() == 0 {
			request(t, r, sources[T]{a, b}, task{s, to, j.Weights})
		}
		t.SyncWarp()
	} else {
		multiplyFew(t, r, s, &acc)
		t.AwaitPrevious()
		if parts > 1 {
			publish(t, work, &acc)
		} else {
			if t.ThreadX()%gpu.WarpGroupSize == 0 {
				r.done().Arrive(t)
			}
			r.done().Wait(t, 0) // no warp group reads the panels any more
			for i := range len(acc) / 4 {
				depositFew(t, sums[i*8*fewPitch:], [4]float32{acc[4*i], acc[4*i+1], acc[4*i+2], acc[4*i+3]})
			}
		}
	}
	t.SyncCluster()
	t.AwaitPrevious()
	groups := uint32(len(acc) / 4)
	first, last := groups*part/parts, groups*(part+1)/parts
	if parts > 1 && t.WarpGroup() < fewGroups {
		for i := first; i < last; i++ {
			depositFew(t, sums[int(i-first)*8*fewPitch:], collect(t, work, int(i), int(groups)))
		}
	}
	t.Sync()
	to.row += int(first) * 8
	finishFew[C, F](t, operandsOf[C]{c, residual, bias}, j, owned{to, int(last-first) * 8})
}

const (
	fewGroups  = 2                                          // warp groups that multiply
	fewColumns = fewGroups * 64                             // of op(B) in a tile
	fewStages  = 4                                          // two blocks fit in a multiprocessor
	fewPanels  = fewStages * (fewGroups + 1)                // of a block
	fewThreads = fewGroups*gpu.WarpGroupSize + gpu.WarpSize // of a block
	fewPitch   = fewColumns + 4                             // from one row of sums to the next: a warp's are in different banks
)

// signals are the barriers of a block: full and empty as in stage, and done for the end of all products.
type signals struct {
	full, empty [fewStages]gpu.Barrier
	done        gpu.Barrier
}

// span is the steps of a block.
type span struct{ first, last uint32 }

// belt is a ring of stages in dynamic shared memory: each has a panel of op(B) for each warp group, and one of op(A).
type belt[T gpu.Half] struct {
	ring *[fewStages][fewGroups + 1]gpu.Panel[T]
	bars *signals
}

func openBelt[T gpu.Half](t gpu.Thread) belt[T] {
	return belt[T]{(*[fewStages][fewGroups + 1]gpu.Panel[T])(gpu.DynamicShared[[fewGroups + 1]gpu.Panel[T]](t)), gpu.Shared[signals](t)}
}

func (b belt[T]) left(n uint, group int) []gpu.Panel[T] {
	g := group & (fewGroups - 1)
	return b.ring[n%fewStages][g : g+1]
}

func (b belt[T]) right(n uint) []gpu.Panel[T] { return b.ring[n%fewStages][fewGroups:] }

func (b belt[T]) full(n uint) *gpu.Barrier  { return &b.bars.full[n%fewStages] }
func (b belt[T]) empty(n uint) *gpu.Barrier { return &b.bars.empty[n%fewStages] }
func (b belt[T]) done() *gpu.Barrier        { return &b.bars.done }

// task is what a block copies: some steps of the tile at a position. Weights is that of Operands.
type task struct {
	span
	area
	weights bool
}

// request starts the copies of all steps.
func request[T gpu.Half](t gpu.Thread, r belt[T], x sources[T], o task) {
	early, to := o.first, o.area
	if o.weights {
		early = min(o.last, o.first+fewStages)
	}
	for u := o.first; u < early; u++ {
		to.depth, to.n = int(u)*depth, uint(u-o.first)
		requestWeights(t, r, x.b, to)
	}
	t.AwaitPrevious()
	to.n = 0
	for u := o.first; u < o.last; u++ {
		to.depth = int(u) * depth
		if u >= early {
			r.empty(to.n).Wait(t, int(to.n/fewStages+1))
			requestWeights(t, r, x.b, to)
		}
		x.a.Fetch(t, &r.right(to.n)[0], gpu.Corner{X: to.depth, Y: to.row}, r.full(to.n))
		to.n++
	}
}

// requestWeights starts the copies of a step of op(B).
func requestWeights[T gpu.Half](t gpu.Thread, r belt[T], b gpu.TensorMap[gpu.Panel[T]], at area) {
	full := r.full(at.n)
	full.Expect(t, (fewGroups+1)*gpu.PanelBytes)
	for i := range fewGroups {
		b.Fetch(t, &r.left(at.n, i)[0], gpu.Corner{X: at.depth, Y: at.col + i*at.second}, full)
	}
}

// multiplyFew multiplies a warp group's part of all steps.
func multiplyFew[T gpu.Half](t gpu.Thread, r belt[T], s span, acc *[fewRows / 2]float32) {
	group, leads := t.WarpGroup(), t.ThreadX()%gpu.WarpGroupSize == 0
	n := uint(0)
	for u := s.first; ; {
		stage := n % fewStages
		left, right := r.left(stage, group), r.right(stage)
		r.full(n).Wait(t, int(n/fewStages))
		t.FenceProducts()
		for k := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(left, k), gpu.AlongRows(right, k))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, acc, 0) // memory is slower than the products
		if leads {
			r.empty(n).Arrive(t)
		}
		n++
		if u++; u >= s.last { // at least one iteration, as in consume
			break
		}
	}
}

// publish stores a thread's sums for the other blocks of the cluster: groups of eight rows of op(A) one after the other, and of a group,
// the sums of each thread next to each other.
func publish(t gpu.Thread, work [][4]float32, acc *[fewRows / 2]float32) {
	to := work[published(t, 0, len(*acc)/4):][:len(*acc)/4*gpu.WarpGroupSize]
	for i := range len(*acc) / 4 {
		to[i*gpu.WarpGroupSize+t.ThreadX()%gpu.WarpGroupSize] = [4]float32{(*acc)[4*i], (*acc)[4*i+1], (*acc)[4*i+2], (*acc)[4*i+3]}
	}
}

// published returns the index of the first sum of the thread's warp group, in the block that is some ranks further in the cluster.
func published(t gpu.Thread, ranks, groups int) int {
	block := t.BlockY()*t.GridDimX() + t.BlockX() + ranks
	return (block*(fewGroups) + t.WarpGroup()) * groups * gpu.WarpGroupSize
}

// collect adds up what the blocks of the cluster have published for a thread's sums of a group, in the order of the blocks.
func collect(t gpu.Thread, work [][4]float32, i, groups int) (x [4]float32) {
	at := i*gpu.WarpGroupSize + t.ThreadX()%gpu.WarpGroupSize
	for p := range t.ClusterSize() {
		y := work[published(t, p-t.ClusterRank(), groups)+at]
		for e := range 4 {
			x[e] += y[e]
		}
	}
	return x
}

// depositFew stores a thread's sums for eight rows of op(A): those of a row next to each other, fewPitch elements from those of the next row.
func depositFew(t gpu.Thread, to []float32, x [4]float32) {
	at := t.Lane()%4*2*fewPitch + t.Warp()*16 + t.Lane()/4
	for e := range 4 {
		to[at+e%2*fewPitch+e/2*8] = x[e]
	}
}

// owned is the rows of a tile that a block stores, from a position on.
type owned struct {
	area
	rows int
}

// finishFew stores the block's share of the tile: all of its columns, of some rows of op(A).
func finishFew[C any, F rounding[C]](t gpu.Thread, o operandsOf[C], j thin, to owned) {
	sums, half := gpu.DynamicShared[float32](t), fewColumns/2
	f := final{int(j.N), to.second, int(j.LDC), j.Activation}
	for row := t.Warp(); row < min(to.rows, int(j.M)-to.row); row += fewThreads / gpu.WarpSize {
		from := sums[row*fewPitch:][:fewColumns]
		for col := t.Lane(); col < half; col += gpu.WarpSize {
			low, high := from[col], from[half+col]
			finish[C, F](o, [2]float32{low, high}, position{row: to.row + row, col: to.col + col}, f)
			if j.Activation != SwiGLU {
				finish[C, F](o, [2]float32{high}, position{row: to.row + row, col: to.col + col + half}, f)
			}
		}
	}
}
