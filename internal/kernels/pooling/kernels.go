package pooling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const wideThreads = 512 // of a block on a GPU

// config is what kernels take beside slices.
type config struct {
	Rows, Columns uint32
	Method        Method
	Unit          bool
}

// plain reduces a sequence with each block of 16 threads.
//
//gpu:kernel
//gpu:block 16
func plain[T any, F row.Format[T]](t gpu.Thread, x []T, starts []int32, y []float32, c config) {
	parts := gpu.Shared[[row.Lanes]float32](t)
	j := jobOf[T, F](t, arrays[T]{x, starts, y}, c)
	j.threads = row.Lanes
	parts[j.me] = j.reduce()
	t.Sync()
	if c.Unit {
		j.scale(row.SumLanes(parts))
	}
}

const (
	wideColumns = 128 // that a block of wide takes at a time
	wideRows    = wideThreads / wideColumns
)

// wide reduces a sequence with each block. The threads of a column take its rows in turn.
//
//gpu:kernel
//gpu:twin off
//gpu:block 512
func wide[T any, F row.Format[T]](t gpu.Thread, x []T, starts []int32, y []float32, c config) {
	parts := gpu.Shared[[wideRows][wideColumns]float32](t)
	sums := gpu.Shared[[wideColumns / gpu.WarpSize]float32](t)
	j := jobOf[T, F](t, arrays[T]{x, starts, y}, c)
	column, me := t.ThreadX()%wideColumns, t.ThreadX()/wideColumns
	squares := float32(0)
	for from := 0; from < int(c.Columns); from += wideColumns {
		parts[me][column] = j.part(from+column, me)
		t.Sync()
		if at := from + column; me == 0 && at < int(c.Columns) {
			v := parts[0][column]
			for i := 1; i < wideRows; i++ {
				v = j.combine(v, parts[i][column])
			}
			v *= j.inverse()
			j.y[at] = v
			squares = math32.FMA(v, v, squares)
		}
		t.Sync()
	}
	if !c.Unit {
		return
	}
	if squares = gpu.WarpReduceAdd(t, squares); me == 0 && t.Lane() == 0 {
		sums[t.Warp()%len(sums)] = squares
	}
	t.Sync()
	if me > 0 {
		return
	}
	j.me, j.threads = column, wideColumns
	j.scale(sums[0] + sums[1] + sums[2] + sums[3])
}

// part returns the result of every wideRows-th row of a column, before it is divided.
func (j *job[T, F]) part(column, from int) float32 {
	n := int(j.Columns)
	v := float32(0)
	if j.Method == Max {
		v = math32.Inf(-1)
	}
	if column >= n || j.Method == First && from > 0 {
		return v
	}
	for i := from*n + column; i < len(j.x); i += wideRows * n {
		v = j.combine(v, j.format.Float32(j.x[i]))
		if j.Method == First {
			break
		}
	}
	if len(j.x) == 0 {
		return 0
	}
	return v
}

// combine returns the result of two rows.
func (j *job[T, F]) combine(v, w float32) float32 {
	if j.Method == Max {
		return max(v, w)
	}
	return v + w
}

// inverse returns the factor of results.
func (j *job[T, F]) inverse() float32 {
	if j.Method != Mean {
		return 1
	}
	return 1 / float32(max(len(j.x)/max(int(j.Columns), 1), 1))
}

// job is the work of a block for a thread.
type job[T any, F row.Format[T]] struct {
	config
	x           []T // the rows of the sequence
	y           []float32
	me, threads int
	format      F
}

// arrays are the operands of a kernel.
type arrays[T any] struct {
	x      []T
	starts []int32
	y      []float32
}

// jobOf returns the work of a thread's block. Starts outside the rows are those of the nearest row.
func jobOf[T any, F row.Format[T]](t gpu.Thread, a arrays[T], c config) job[T, F] {
	n := int(c.Columns)
	from := min(max(int(a.starts[t.BlockX()]), 0), int(c.Rows))
	to := min(max(int(a.starts[t.BlockX()+1]), from), int(c.Rows))
	return job[T, F]{config: c, x: a.x[from*n : to*n], y: a.y[t.BlockX()*n:][:n], me: t.ThreadX()}
}

// reduce stores the results of a thread's columns, and returns the sum of their squares.
func (j *job[T, F]) reduce() (squares float32) {
	n := int(j.Columns)
	rows := len(j.x)
	if j.Method == First {
		rows = min(rows, n)
	}
	inverse := j.inverse()
	for c := j.me; c < n; c += j.threads {
		v := float32(0)
		if c < rows {
			v = j.format.Float32(j.x[c])
		}
		for i := c + n; i < rows; i += n {
			v = j.combine(v, j.format.Float32(j.x[i]))
		}
		v *= inverse
		j.y[c] = v
		squares = math32.FMA(v, v, squares)
	}
	return squares
}

// scale divides a thread's results by the root of the sum of all squares, but at least by 1e-12.
func (j *job[T, F]) scale(squares float32) {
	factor := 1 / max(math32.Sqrt(squares), 1e-12)
	for c := j.me; c < int(j.Columns); c += j.threads {
		j.y[c] *= factor
	}
}
