package values

import (
	"github.com/gopherwarp/gopherwarp/gpu"
)

// received is what a kernel made of its parameters, which have all kinds of types.
type received struct {
	Bool, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64, Int, Uint  int64
	Float32, Float64, Struct, NestedStruct, Array, ArrayOfArrays               int64
	SliceOfStructs, SliceOfArrays, SliceOfBools, SliceOfBytes, SliceLengths    int64
	NamedSlice, NamedNumber, AfterHoles, EmptySlice, PartOfBuffer, SameBuffers int64
}

//gpu:kernel
func scalars(t gpu.Thread, a bool, b int8, c uint8, d int16, e uint16, f int32, g uint32, h int64, i uint64, j int, k uint, l float32, m float64, out []received) {
	r := &out[0]
	if a {
		r.Bool = 1
	}
	r.Int8, r.Uint8, r.Int16, r.Uint16, r.Int32, r.Uint32 = int64(b), int64(c), int64(d), int64(e), int64(f), int64(g)
	r.Int64, r.Uint64, r.Int, r.Uint = h, int64(i), int64(j), int64(k)
	r.Float32, r.Float64 = int64(l*2), int64(m*4)
}

//gpu:kernel
func aggregates(t gpu.Thread, a uint8, m mixed, b bool, o outer, c int16, x [3]int32, d uint8, y [2][2]float32, out []received) {
	r := &out[0]
	r.Struct = int64(m.Byte) + m.Long + int64(m.Last) + int64(m.Wide)
	r.NestedStruct = o.Many[1].total() + int64(o.Head) + int64(o.Tail)
	r.Array = int64(x[0] + x[1]*10 + x[2]*100)
	for i := range 2 {
		for j := range 2 {
			r.ArrayOfArrays = r.ArrayOfArrays*10 + int64(y[i][j])
		}
	}
	if b {
		r.AfterHoles = int64(a) + int64(c) + int64(d)
	}
}

//gpu:kernel
func slicesOf(t gpu.Thread, ms []mixed, as [][3]int16, bs []bool, bytes []uint8, ns []int64, f celsius, none []int32, part, all []int32, out []received) {
	r := &out[0]
	for i := range ms {
		r.SliceOfStructs += ms[i].Long * int64(ms[i].Tiny)
		ms[i].Last = uint8(i) + 7
	}
	for _, a := range as {
		r.SliceOfArrays = r.SliceOfArrays*10 + int64(a[2])
	}
	as[1][0] = 77
	for i, b := range bs {
		if b {
			r.SliceOfBools |= 1 << i
		}
		bs[i] = !b
	}
	for _, b := range bytes {
		r.SliceOfBytes = r.SliceOfBytes*2 + int64(b)
	}
	r.SliceLengths = int64(len(ms)*1000 + len(as)*100 + len(bs)*10 + len(bytes))
	r.NamedSlice, r.NamedNumber = numbers(ns).last(), int64(f.fahrenheit())
	r.EmptySlice = int64(len(none))
	r.PartOfBuffer = int64(part[0]) + int64(len(part))*1000 + int64(cap(part))*100000
	part[0]++
	r.SameBuffers = int64(all[2])
}
