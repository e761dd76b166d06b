package threads

import "github.com/gopherwarp/gopherwarp/gpu"

// size is the block of most kernels here.
const size = 96

// cell is an element of shared memory with several fields.
type cell struct {
	Tag  uint8
	Sum  float64
	Pair [2]int16
}

// exchanged is what a thread read from shared memory.
type exchanged struct {
	Neighbour, Reversed, Broadcast, Tile, StructField, StructWhole, StructArray int64
	Bytes, Booleans, TwoArrays, Slice, SliceArgument, InFunction, Pointer       int64
	Scalar, Atomic, Copied, Cleared, RangeOver, DoubleBuffer, Overwritten       int64
	Doubles, Overlapping, Rotated, NamedArray, GenericArray                     int64
}

//gpu:kernel
//gpu:block 96
func exchange(t gpu.Thread, in []int64, out []exchanged) {
	i, lane := t.GlobalX(), t.ThreadX()
	r := exchanged{}
	exchangeNumbers(t, in[i], &r)
	exchangeStructs(t, in[i], &r)
	exchangeSlices(t, in[i], &r)
	r.InFunction = scratch(t, lane, in[i])
	r.GenericArray = int64(rotate[[size]int16](t, lane, int16(in[i])))
	out[i] = r
}

func exchangeNumbers(t gpu.Thread, x int64, r *exchanged) {
	lane := t.ThreadX()
	a := gpu.Shared[[size]int64](t)
	tile := gpu.Shared[[8][13]int32](t)
	bytes := gpu.Shared[[size]uint8](t)
	flags := gpu.Shared[[size]bool](t)
	doubles := gpu.Shared[[size]float64](t)
	scalar := gpu.Shared[int32](t)
	a[lane] = x
	tile[lane/12][lane%12] = int32(x)
	bytes[size-1-lane] = uint8(x)
	flags[lane] = x%3 == 0
	doubles[lane] = float64(x) / 4
	if lane == 7 {
		*scalar = int32(x)
	}
	t.Sync()
	r.Neighbour, r.Reversed, r.Broadcast = a[(lane+1)%size], a[size-1-lane], a[13]
	r.Tile = int64(tile[lane%8][lane/8])
	r.Bytes, r.Doubles = int64(bytes[lane]), int64(doubles[lane^1]*8)
	for _, f := range flags[:10] {
		if f {
			r.Booleans++
		}
	}
	r.Scalar = int64(*scalar)
	r.TwoArrays = a[lane] + int64(tile[0][3])
	for _, v := range a {
		r.RangeOver = r.RangeOver*3 + v
	}
	t.Sync()
	a[lane] = -x
	t.Sync()
	r.Overwritten = a[(lane+50)%size]
}

func exchangeStructs(t gpu.Thread, x int64, r *exchanged) {
	lane := t.ThreadX()
	cells := gpu.Shared[[size]cell](t)
	cells[lane] = cell{uint8(x), float64(x) / 2, [2]int16{int16(x), 5}}
	t.Sync()
	c := cells[(lane+3)%size]
	r.StructWhole = int64(c.Tag) + int64(c.Sum*2)*1000
	r.StructField = int64(cells[(lane+4)%size].Sum)
	r.StructArray = int64(cells[(lane+5)%size].Pair[lane&1])
	t.Sync()
	p := &cells[lane]
	p.Tag++
	p.Pair[1] -= int16(lane)
	t.Sync()
	q := &cells[size-1-lane]
	r.Pointer = int64(q.Tag) + int64(q.Pair[1])*1000
}

type row [size]int32

func exchangeSlices(t gpu.Thread, x int64, r *exchanged) {
	lane := t.ThreadX()
	a := gpu.Shared[row](t)
	counter := gpu.Shared[[4]uint32](t)
	buffers := gpu.Shared[[2][size]int64](t)
	a[lane] = int32(x)
	if lane < 4 {
		counter[lane] = 0
	}
	t.Sync()
	gpu.AtomicAdd(&counter[lane&3], uint32(lane))
	s := a[lane/2:]
	r.Slice, r.SliceArgument = int64(s[0])+int64(len(s))*1000, total(a[8:16])
	r.NamedArray = int64(a[len(a)-1])
	t.Sync()
	r.Atomic = int64(counter[1]) + int64(counter[3])*10000
	if lane == 0 {
		copy(a[:4], a[8:12])
		clear(a[20:30])
	}
	t.Sync()
	r.Copied, r.Cleared = int64(a[2]), int64(a[25])
	buffers[0][lane] = x
	for step := range 5 {
		t.Sync()
		now, next := &buffers[step&1], &buffers[1-step&1]
		next[lane] = now[lane] + now[(lane+1)%size]
	}
	t.Sync()
	r.DoubleBuffer = buffers[1][lane]
	r.Rotated = buffers[0][(lane+48)%size]
	r.Overlapping = total(a[2:6]) + total(a[4:8])
}

func total(x []int32) (sum int64) {
	for _, v := range x {
		sum += int64(v)
	}
	return sum
}

// scratch has shared memory of its own.
func scratch(t gpu.Thread, lane int, x int64) int64 {
	a := gpu.Shared[[size / 2]int64](t)
	if lane%2 == 0 {
		a[lane/2] = x
	}
	t.Sync()
	return a[(lane/2+1)%(size/2)]
}

func rotate[A ~[size]int16](t gpu.Thread, lane int, x int16) int16 {
	a := gpu.Shared[A](t)
	(*a)[lane] = x
	t.Sync()
	return (*a)[(lane+7)%size]
}
