package pooling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const wideThreads = 128 // of a block on a GPU

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

// wide reduces a sequence with each block of 128 threads.
//
//gpu:kernel
//gpu:twin off
//gpu:block 128
func wide[T any, F row.Format[T]](t gpu.Thread, x []T, starts []int32, y []float32, c config) {
	parts := gpu.Shared[[wideThreads / gpu.WarpSize]float32](t)
	j := jobOf[T, F](t, arrays[T]{x, starts, y}, c)
	j.threads = wideThreads
	sum := gpu.WarpReduceAdd(t, j.reduce())
	if !c.Unit {
		return
	}
	if t.Lane() == 0 {
		parts[t.Warp()] = sum
	}
	t.Sync()
	sum = 0
	for i := range parts {
		sum += parts[i]
	}
	j.scale(sum)
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
	inverse := float32(1)
	if j.Method == Mean {
		inverse = 1 / float32(max(rows/max(n, 1), 1))
	}
	for c := j.me; c < n; c += j.threads {
		v := float32(0)
		if c < rows {
			v = j.format.Float32(j.x[c])
		}
		for i := c + n; i < rows; i += n {
			w := j.format.Float32(j.x[i])
			if j.Method == Max {
				v = max(v, w)
			} else {
				v += w
			}
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
