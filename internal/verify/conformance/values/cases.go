package values

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	small := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13}
	return []check.Case{
		check.Fields("struct", Structs, structAll, small...),
		check.Fields("array", Arranges, arrangeAll, small...),
		check.Fields("function", Functions, callAll, small...),
		check.Stored("parameter", parameters, received{
			Bool: 1, Int8: -8, Uint8: 250, Int16: -30000, Uint16: 60000, Int32: -2e9, Uint32: 4e9,
			Int64: -1 << 60, Uint64: 1 << 61, Int: -5, Uint: 6, Float32: 5, Float64: -13,
			Struct: 16, NestedStruct: 115, Array: 321, ArrayOfArrays: 1234, AfterHoles: 7 - 300 + 9,
			SliceOfStructs: 60, SliceOfArrays: 369, SliceOfBools: 5, SliceOfBytes: 23, SliceLengths: 2334,
			NamedSlice: 30, NamedNumber: 212, EmptySlice: 0, PartOfBuffer: 303003, SameBuffers: 4,
		}),
		check.Stored("place in memory", places, placed{LoadAgainInLoop: 42, StoreInFrontOfLoad: 22, IndexFromBelow: -9900, RowsBehindHead: 9000}),
		{Name: "bytes that begin anywhere", Run: anywhere},
		{Name: "slice that is nil", Run: optional},
		check.Struct[tabulated]("tables that functions compute", lookUps),
		check.Struct[named]("tables of strings", describes),
		{Name: "struct with slices", Run: advanced},
		{Name: "struct with slices that are too short or nil", Run: reached},
	}
}

// places launches the kernels of places.go, which store in the same struct.
func places(r *check.Run) placed {
	out := check.Make[placed](r, 1)
	x := check.Upload[int32](r, 3, 0, 0, 0)
	r.Launch(LoadAgain(r.Stream, check.Threads(1), 2, x, out))
	r.Launch(LoadBetween(r.Stream, check.Threads(1), 7, x, x, out))
	check.Want(r, x, 7, 14, 21, 22)
	var in [2]headed
	for i := range 20 {
		in[0].Rows[i/4][i%4], in[1].Rows[i/4][i%4] = float32(i), float32(100+i)
	}
	r.Launch(Rows(r.Stream, check.Threads(20), 7, check.Upload(r, in[:]...), check.Make[float32](r, 20), out))
	r.Launch(FromBelow(r.Stream, check.Threads(1), -990, out))
	return check.Get(r, out)[0]
}

// anywhere lets bytes begin at each distance from a multiple of 16, where they are read as well as where
// they are written.
func anywhere(r *check.Run) {
	const n = 64
	var bytes [n + 16]uint8
	for i := range bytes {
		bytes[i] = uint8(i * 3)
	}
	x := check.Upload(r, bytes[:]...)
	for from := range 5 {
		for to := range 5 {
			out, want := check.Make[uint8](r, n+16), make([]uint8, n+16)
			for i := range n {
				want[to+i] = bytes[from+i] + 1
			}
			r.Launch(Successors(r.Stream, device.Cover(n, 32), x.Slice(from, from+n), out.Slice(to, to+n)))
			check.Want(r, out, want...)
		}
	}
}

// parameters launches the kernels of pass.go, which store in the same struct.
func parameters(r *check.Run) received {
	out := check.Make[received](r, 1)
	r.Launch(Scalars(r.Stream, check.Threads(1), true, -8, 250, -30000, 60000, -2e9, 4e9, -1<<60, 1<<61, -5, 6, 2.5, -3.25, out))
	m := mixed{Byte: 5, Long: 6, Last: 2, Wide: 3.5}
	o := outer{Head: 5, Tail: 50, Many: [2]inner{{}, {A: 10, B: [3]int16{20, 0, 30}}}}
	r.Launch(Aggregates(r.Stream, check.Threads(1), 7, m, true, o, -300, [3]int32{1, 2, 3}, 9, [2][2]float32{{1, 2}, {3, 4}}, out))
	ms := check.Upload(r, mixed{Long: 10, Tiny: 2}, mixed{Long: 20, Tiny: 2, Real: 5})
	as := check.Upload(r, [3]int16{1, 2, 3}, [3]int16{4, 5, 6}, [3]int16{7, 8, 9})
	bs, bytes := check.Upload(r, true, false, true), check.Upload[uint8](r, 1, 2, 1, 5)
	all := check.Upload[int32](r, 1, 2, 3, 4, 5)
	r.Launch(SlicesOf(r.Stream, check.Threads(1), ms, as, bs, bytes, check.Upload[int64](r, 10, 30), 100,
		check.Make[int32](r, 0), all.Slice(2, 5), all, out))
	check.Want(r, ms, mixed{Long: 10, Tiny: 2, Last: 7}, mixed{Long: 20, Tiny: 2, Real: 5, Last: 8})
	check.Want(r, as, [3]int16{1, 2, 3}, [3]int16{77, 5, 6}, [3]int16{7, 8, 9})
	check.Want(r, bs, false, true, false)
	check.Want(r, all, 1, 2, 4, 4, 5)
	return check.Get(r, out)[0]
}
