package matrices

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// loads stores what each way to load tiles gives each thread of a warp: 14 tiles.
//
//gpu:kernel
//gpu:block 32
func loads(t gpu.Thread, in [][8]dtype.BF16, out [][14]uint32) {
	rows := gpu.Shared[[32][8]dtype.BF16](t)
	lane := t.ThreadX()
	rows[lane] = in[lane]
	t.Sync()
	var all [14]uint32
	all[0] = uint32(gpu.LoadMatrix(t, &rows[lane]))
	two := gpu.LoadMatrix2(t, &rows[lane])
	all[1], all[2] = uint32(two[0]), uint32(two[1])
	for i, tile := range gpu.LoadMatrix4(t, &rows[lane]) {
		all[3+i] = uint32(tile)
	}
	all[7] = uint32(gpu.LoadTransposed(t, &rows[lane^1]))
	two = gpu.LoadTransposed2(t, &rows[lane])
	all[8], all[9] = uint32(two[0]), uint32(two[1])
	for i, tile := range gpu.LoadTransposed4(t, &rows[31-lane]) {
		all[10+i] = uint32(tile)
	}
	out[lane] = all
}

// place returns the row of a matrix that a lane names, and its half, to load the tiles of one
// of 16x16 elements: upper left, lower left, upper right, lower right.
func place(lane int) (row, half int) { return lane % 16, lane / 16 }

// productBF16 multiplies a, of 16x16 elements, by b, of 16x8, and adds c.
//
//gpu:kernel
//gpu:block 32
func productBF16(t gpu.Thread, a [][2][8]dtype.BF16, b [][8]dtype.BF16, c []float32) {
	left, right := gpu.Shared[[16][2][8]dtype.BF16](t), gpu.Shared[[16][8]dtype.BF16](t)
	lane := t.ThreadX()
	row, half := place(lane)
	left[row][half] = a[row][half]
	right[row] = b[row]
	t.Sync()
	x, y := gpu.LoadMatrix4(t, &left[row][half]), gpu.LoadTransposed2(t, &right[row])
	store(c, lane, gpu.MMA(t, x, y, load(c, lane)))
}

// productF16 is productBF16 of F16s.
//
//gpu:kernel
//gpu:block 32
func productF16(t gpu.Thread, a [][2][8]dtype.F16, b [][8]dtype.F16, c []float32) {
	left, right := gpu.Shared[[16][2][8]dtype.F16](t), gpu.Shared[[16][8]dtype.F16](t)
	lane := t.ThreadX()
	row, half := place(lane)
	left[row][half] = a[row][half]
	right[row] = b[row]
	t.Sync()
	x, y := gpu.LoadMatrix4(t, &left[row][half]), gpu.LoadTransposed2(t, &right[row])
	store(c, lane, gpu.MMA(t, x, y, load(c, lane)))
}

// load returns what the lane has of c, of 16x8 elements.
func load(c []float32, lane int) (d [4]float32) {
	for i := range d {
		d[i] = c[(lane/4+i/2*8)*8+lane%4*2+i%2]
	}
	return d
}

func store(c []float32, lane int, d [4]float32) {
	for i := range d {
		c[(lane/4+i/2*8)*8+lane%4*2+i%2] = d[i]
	}
}

// copies moves n elements of in, from start on, through shared memory in copies of all sizes.
//
//gpu:kernel
//gpu:block 64
func copies(t gpu.Thread, wide [][4]uint32, middle [][2]float32, narrow []int32, from int, out [][7]uint32) {
	a, b, c := gpu.Shared[[64][4]uint32](t), gpu.Shared[[64][2]float32](t), gpu.Shared[[64]int32](t)
	i := t.ThreadX()
	gpu.FetchAsync(t, &a[i], wide, from+i)
	t.CommitCopies()
	gpu.CopyAsync(t, &b[i], &middle[i])
	t.CommitCopies()
	gpu.FetchAsync(t, &c[i], narrow, from-i)
	t.CommitCopies()
	t.WaitCopies(1)
	own := uint32(b[i][0]) // a thread sees its own copies once it has waited for them
	t.WaitCopies(0)
	t.Sync()
	j := 63 - i
	out[i] = [7]uint32{a[j][0], a[j][1], a[j][2], a[j][3], own, uint32(b[j][1]), uint32(c[j])}
}

// fetches moves in, from an index on, through dynamic shared memory.
//
//gpu:kernel
func fetches(t gpu.Thread, in []int32, from int, out []int32) {
	d := gpu.DynamicShared[int32](t)
	i := t.ThreadX()
	gpu.FetchAsync(t, &d[i], in, from+i)
	t.CommitCopies()
	t.WaitCopies(0)
	t.Sync()
	out[i] = d[t.BlockDimX()-1-i]
}

// misaligned copies from an address that is not a multiple of 16.
//
//gpu:kernel
//gpu:block 32
func misaligned(t gpu.Thread, in []dtype.BF16, from int) {
	a := gpu.Shared[[32][8]dtype.BF16](t)
	gpu.CopyAsync(t, &a[t.ThreadX()], (*[8]dtype.BF16)(in[from:])) // misaligned
	t.WaitCopies(0)
}
