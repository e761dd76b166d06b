package conv

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	tileRows = 128 // places of a tile, half for each warp group
	depth    = 64  // products of each sum that a stage holds
	panels   = 12  // of all stages: two blocks fit in a multiprocessor
	groups   = 2   // warp groups that multiply
	stages   = 4   // at most
)

// sums are those of a thread: a tile has twice as many filters.
type sums interface{ [32]float32 | [64]float32 }

// across returns the number of panels of a tile's filters.
func across[A sums]() int {
	var acc A
	return len(acc) / 32
}

// each returns the number of panels of a stage.
func each[A sums]() int { return groups + across[A]() }

// ring is the shared memory of a block. For each stage there are the panels of places by warp group, and those of filters. The barrier full
// ends a phase when the copies to a stage are complete, empty when the warp groups have used it, and done when all products are done.
type ring[T gpu.Half] struct {
	panels      [panels]gpu.Panel[T]
	bias        [64][2]float32 // of the tile's filters
	full, empty [stages]gpu.Barrier
	done        gpu.Barrier
}

// tiling is a convolution as a product. The left matrix has Rows rows. Each of Taps groups of Steps steps multiplies by Channels columns of
// the filters; the left rows of group i begin i%Kernel + i/Kernel*Pitch rows further down. If Pitch is not 0, rows are the places of images with
// a border on top and on the left, of Pitch x Lines places, of which Width x Height are places of Y.
type tiling struct {
	Rows, Filters, Channels int32
	Taps, Kernel, Steps     int32
	Pitch, Lines            int32
	Width, Height           int32
	Tiles                   int32 // side by side
	SiLU                    bool
	Low, High               float32 // the range of results
}

// place returns the place of Y of a row of the left matrix, or -1.
func (g tiling) place(row int32) int32 {
	if row >= g.Rows {
		return -1
	}
	if g.Pitch == 0 {
		return row
	}
	p := uint32(g.Pitch)
	line := uint32(row) / p
	column, image := uint32(row)%p, line/uint32(g.Lines)
	line %= uint32(g.Lines)
	if column >= uint32(g.Width) || line >= uint32(g.Height) {
		return -1
	}
	return int32((image*uint32(g.Height)+line)*uint32(g.Width) + column)
}

// fused computes a tile of a convolution with warp-group products of panels. One warp copies, and two warp groups multiply. The results of a
// warp then pass through shared memory, so that each lane finishes and stores eight neighbours. While a block does that, another one on the
// multiprocessor multiplies. Results are rounded before the residual is added.
//
//gpu:kernel
//gpu:block 288
//gpu:target sm_90a
func fused[T gpu.Half, F row.Format[T], A sums](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], y, residual [][8]T, bias []float32, g tiling) {
	t.StartNext()
	r := gpu.Shared[ring[T]](t)
	tile := int32(t.BlockX())
	first, filter := int(tile/g.Tiles)*tileRows, int(tile%g.Tiles)*across[A]()*64
	if i := t.ThreadX(); i < across[A]()*64 {
		v := float32(0)
		if filter+i < len(bias) {
			v = bias[filter+i]
		}
		r.bias[i/2&63][i%2] = v
	}
	if t.ThreadX() == 0 {
		for i := range stages {
			r.full[i].Init(t, 1)
			r.empty[i].Init(t, groups)
		}
		r.done.Init(t, groups)
	}
	t.Sync()
	if t.WarpGroup() == groups {
		t.AwaitPrevious()
		if t.Lane() == 0 {
			request[T, A](t, r, task[T]{g, a, b, first, filter})
		}
		return
	}
	var acc A
	multiplyAll(t, r, &acc, uint32(g.Taps*g.Steps))
	if t.ThreadX()%gpu.WarpGroupSize == 0 {
		r.done.Arrive(t)
	}
	r.done.Wait(t, 0) // no warp group reads the panels any more
	deposit[T, F](t, r, &acc)
	t.SyncWarp()
	t.AwaitPrevious()
	deliver[T, F, A](t, r, results[T]{y, residual}, task[T]{tiling: g, first: first, filter: filter})
}

// results are where results go, and what is added to them.
type results[T any] struct{ y, residual [][8]T }

// deliver finishes and stores the results of a warp. It requests all residuals before it needs one.
func deliver[T gpu.Half, F row.Format[T], A sums](t gpu.Thread, r *ring[T], to results[T], o task[T]) {
	group, eights := t.WarpGroup()&1, int(o.Filters/8)
	column := t.Lane() % 8 * 8
	var at [8]int // of eight results, or -1
	var extra [8][8]T
	for i := range 4 {
		place := o.place(int32(o.first + group*64 + t.Warp()%4*16 + i*4 + t.Lane()/8))
		for p := range across[A]() {
			c := o.filter + p*64 + column
			k := i*across[A]() + p
			at[k] = -1
			if place >= 0 && c < int(o.Filters) {
				at[k] = int(place)*eights + c/8
				if len(to.residual) > 0 {
					extra[k] = to.residual[at[k]]
				}
			}
		}
	}
	var f F
	for i := range 4 {
		line := t.Warp()%4*16 + i*4 + t.Lane()/8
		for p := range across[A]() {
			k := i*across[A]() + p
			if at[k] < 0 {
				continue
			}
			x := *gpu.EightAt(&r.panels[group*across[A]()+p], line, column)
			for e := range 8 {
				v := f.Float32(x[e]) + f.Float32(extra[k][e])
				if o.SiLU {
					v = math32.FastDiv(v, 1+math32.FastExp(-v)) // short, because there are 64 copies of it
				}
				x[e] = f.Of(min(max(v, o.Low), o.High))
			}
			to.y[at[k]] = x
		}
	}
}

// task is the operands in memory, and a tile: its first row and filter.
type task[T gpu.Half] struct {
	tiling
	a, b          gpu.TensorMap[gpu.Panel[T]]
	first, filter int
}

// request copies the operands of all steps.
func request[T gpu.Half, A sums](t gpu.Thread, r *ring[T], o task[T]) {
	n := panels / each[A]()
	stage, phase := 0, 0
	for tap := range o.Taps {
		from := o.first
		if o.Pitch > 0 {
			from += int(tap%o.Kernel + tap/o.Kernel*o.Pitch)
		}
		for step := range o.Steps {
			full := &r.full[stage&(stages-1)]
			r.empty[stage&(stages-1)].Wait(t, phase+1)
			full.Expect(t, each[A]()*gpu.PanelBytes)
			for i := range groups {
				o.a.Fetch(t, &r.panels[stage*each[A]()+i], gpu.Corner{X: int(step) * depth, Y: from + i*64}, full)
			}
			for i := range across[A]() {
				o.b.Fetch(t, &r.panels[stage*each[A]()+groups+i], gpu.Corner{X: int(tap*o.Channels) + int(step)*depth, Y: o.filter + i*64}, full)
			}
			if stage++; stage == n {
				stage, phase = 0, phase+1
			}
		}
	}
}

// multiplyAll multiplies a warp group's part of all steps, at least one.
func multiplyAll[T gpu.Half, A sums](t gpu.Thread, r *ring[T], acc *A, steps uint32) {
	n, group, leads := uint32(panels/each[A]()), t.WarpGroup()&1, t.ThreadX()%gpu.WarpGroupSize == 0
	for k := uint32(0); ; {
		at := int(k%n) * each[A]()
		r.full[k%n&(stages-1)].Wait(t, int(k/n))
		t.FenceProducts()
		for i := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(r.panels[at+group:][:1], i), gpu.AlongRows(r.panels[at+groups:][:across[A]()], i))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, acc, 1)
		if k > 0 && leads {
			r.empty[(k-1)%n&(stages-1)].Arrive(t)
		}
		if k++; k >= steps { // at least one iteration, so that ptxas sees that all products belong to this tile
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
}

// deposit adds the bias to an accumulator, and stores the sums, rounded, in the first panels for each warp group.
func deposit[T gpu.Half, F row.Format[T], A sums](t gpu.Thread, r *ring[T], acc *A) {
	group := t.WarpGroup() & 1
	for p := range across[A]() {
		for q := range 4 {
			var tiles [4]gpu.Tile[T]
			for half := range 2 {
				b := r.bias[p*32+q*8+half*4+t.Lane()%4]
				for i := range 2 {
					e := p*32 + q*8 + half*4 + i*2
					tiles[half*2+i] = pair[T, F]((*acc)[e]+b[0], (*acc)[e+1]+b[1])
				}
			}
			gpu.StoreMatrix4(t, gpu.EightAt(&r.panels[group*across[A]()+p], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8), tiles)
		}
	}
}

// pair returns two neighbours as a part of a tile.
func pair[T gpu.Half, F row.Format[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](f.Of(low)) | gpu.Tile[T](f.Of(high))<<16
}
