package panels

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	all := []check.Case{
		{Name: "product/bf16", Run: func(r *check.Run) {
			a, b := matrix(64, 64, dtype.BF16From32), matrix(64, 64, dtype.BF16From32)
			out := check.Make[float32](r, 64*64)
			r.Launch(ProductBF16(r.Stream, one, a.rows(r), b.rows(r), out))
			a.times(b).compare(r, out)
		}},
		{Name: "product/f16", Run: func(r *check.Run) {
			a, b := matrix(64, 64, dtype.F16From32), matrix(64, 256, dtype.F16From32)
			out := check.Make[float32](r, 64*256)
			r.Launch(ProductF16(r.Stream, one, a.columns(r), b.rows(r), out))
			a.times(b).compare(r, out)
		}},
		{Name: "product/tf32", Run: func(r *check.Run) {
			// Numbers of few bits: what becomes of the others is the tensor cores' affair.
			a, b := matrix(64, 32, rounded), matrix(32, 128, rounded)
			out := check.Make[float32](r, 64*128)
			right := device.MapTensor[[2]gpu.Panel[float32]](check.Upload(r, b.byColumns()...), device.Extent{Width: 32, Height: 128, Depth: 1})
			r.Launch(ProductTF32(r.Stream, one, a.rows(r), right, out))
			a.times(b).compare(r, out)
		}},
		{Name: "product/f8", Run: func(r *check.Run) {
			a, b := matrix(64, 128, dtype.F8E4M3From32), matrix(128, 64, dtype.F8E4M3From32)
			out := check.Make[float32](r, 64*64)
			r.Launch(ProductF8(r.Stream, one, a.rows(r), b.columns(r), out))
			p := a.times(b)
			p.tolerance = 1 << 11 // of the sums' bits the tensor cores keep few: 14
			p.compare(r, out)
		}},
		{Name: "product/dynamic", Run: func(r *check.Run) {
			a, b := matrix(64, 64, dtype.BF16From32), matrix(64, 64, dtype.BF16From32)
			out := check.Make[float32](r, 64*64)
			r.Launch(Spare(r.Stream, device.Grid{Blocks: one, Block: device.Dim{X: 128}, Shared: 2 * gpu.PanelBytes}, a.rows(r), b.rows(r), out))
			a.times(b).compare(r, out)
		}},
		{Name: "product/tiles", Run: productOfAccumulator},
		{Name: "product/tiles/f16", Run: func(r *check.Run) { productOfTiles(r, 1) }},
		{Name: "product/tiles/f16/loop", Run: func(r *check.Run) { productOfTiles(r, 7) }},
		{Name: "rows", Run: bulkRows},
		{Name: "rows that cannot be copied", Run: bulkFaults},
		{Name: "tile", Run: func(r *check.Run) { tile(r, [3]int{0, 0, 0}) }},
		{Name: "tile/inside", Run: func(r *check.Run) { tile(r, [3]int{4, 1, 2}) }},
		{Name: "tile/behind", Run: func(r *check.Run) { tile(r, [3]int{12, 7, 1}) }},
		{Name: "tile/outside", Run: func(r *check.Run) { tile(r, [3]int{40, 0, 0}) }},
		{Name: "tile/above", Run: func(r *check.Run) { tile(r, [3]int{0, 0, 3}) }},
		{Name: "tile/misplaced", Run: misplacedTiles},
		{Name: "multicast", Run: multicast},
		{Name: "arrival at no block", Run: absentBlocks},
		{Name: "panel", Run: wholePanels},
		{Name: "fault/barrier", Run: func(r *check.Run) {
			r.Launch(Deserted(r.Stream, one, check.Make[int32](r, 63)))
			faulted(r, "index out of range [63] with length 63")
		}},
		{Name: "product/fault", Run: func(r *check.Run) {
			a := matrix(64, 64, dtype.BF16From32)
			r.Launch(DesertedProducts(r.Stream, one, a.rows(r), check.Make[float32](r, 128)))
			faulted(r, "index out of range [128] with length 128")
		}},
	}
	for i, c := range all {
		all[i].Run = func(r *check.Run) {
			if !able(r.Device.Info().Capability, strings.HasPrefix(c.Name, "product")) {
				r.Skip("the device has no such copies or products")
				return
			}
			c.Run(r)
		}
	}
	return all
}

// able reports whether a device has what a case needs. One that is no GPU has it.
func able(c device.Capability, products bool) bool {
	return c == device.Capability{} || c.Major == 9 || c.Major > 9 && !products
}

var one = device.Blocks(device.Dim{X: 1})

func rounded(x float32) float32 { return dtype.F16From32(x).Float32() }

// numbers is a matrix, row by row.
type numbers[T gpu.Multiplicand] struct {
	height, width int
	elements      []T
}

func matrix[T gpu.Multiplicand](height, width int, from func(float32) T) numbers[T] {
	random := rand.New(rand.NewPCG(uint64(height), uint64(width)))
	m := numbers[T]{height, width, make([]T, height*width)}
	for i := range m.elements {
		m.elements[i] = from(float32(random.NormFloat64()))
	}
	return m
}

func (m numbers[T]) byColumns() []T {
	var all []T
	for j := range m.width {
		for i := range m.height {
			all = append(all, m.elements[i*m.width+j])
		}
	}
	return all
}

// rows returns the map of the matrix as it is, columns of the matrix column by column.
func (m numbers[T]) rows(r *check.Run) device.TensorMap[gpu.Panel[T]] {
	return device.MapTensor[gpu.Panel[T]](check.Upload(r, m.elements...), device.Extent{Width: m.width, Height: m.height, Depth: 1})
}

func (m numbers[T]) columns(r *check.Run) device.TensorMap[gpu.Panel[T]] {
	return device.MapTensor[gpu.Panel[T]](check.Upload(r, m.byColumns()...), device.Extent{Width: m.height, Height: m.width, Depth: 1})
}

// product is a product in float64, and the sums of its terms' magnitudes.
type product struct {
	sums, sizes []float64
	tolerance   float64 // the error of a sum is at most the sum of the magnitudes, divided by tolerance
}

func (m numbers[T]) times(n numbers[T]) product {
	p := product{make([]float64, m.height*n.width), make([]float64, m.height*n.width), 1 << 18}
	x, y := m.wide(), n.wide()
	for i := range m.height {
		for j := range n.width {
			sum, size := 0.0, 0.0
			for k := range m.width {
				v := x[i*m.width+k] * y[k*n.width+j]
				sum, size = sum+v, size+math.Abs(v)
			}
			p.sums[i*n.width+j], p.sizes[i*n.width+j] = sum, size
		}
	}
	return p
}

// wide returns the elements in float64.
func (m numbers[T]) wide() []float64 {
	w := make([]float64, len(m.elements))
	for i, x := range m.elements {
		w[i] = toFloat64(x)
	}
	return w
}

func toFloat64[T gpu.Multiplicand](x T) float64 {
	if f, ok := any(x).(interface{ Float64() float64 }); ok {
		return f.Float64()
	}
	return float64(any(x).(float32))
}

func (p product) compare(r *check.Run, out device.Slice[float32]) {
	for i, got := range check.Get(r, out) {
		if !(math.Abs(float64(got)-p.sums[i]) <= p.sizes[i]/p.tolerance) {
			r.Wrong("element %d: %v, want %v", i, got, p.sums[i])
			return
		}
	}
}

// tile moves a tile.
func tile(r *check.Run, at [3]int) {
	const width, height, depth = 20, 10, 3
	in, before := make([]int32, width*height*depth), make([]int32, width*height*depth)
	for i := range in {
		in[i], before[i] = int32(i+1), int32(-i)
	}
	out := check.Upload(r, before...)
	e := device.Extent{Width: width, Height: height, Depth: depth}
	r.Launch(Moved(r.Stream, one, device.MapTensor[[8][12]int32](check.Upload(r, in...), e), device.MapTensor[[8][12]int32](out, e), at[0], at[1], at[2]))
	to := [3]int{max(at[0], 0) &^ 3, max(at[1], 0), at[2]}
	find := func(x, y, z int) (int, bool) {
		return (z*height+y)*width + x, uint(x) < width && uint(y) < height && uint(z) < depth
	}
	for y := range 8 {
		for x := range 12 {
			place, ok := find(to[0]+x, to[1]+y, to[2])
			if !ok {
				continue
			}
			before[place] = 0
			if from, ok := find(at[0]+x, at[1]+7-y, at[2]); ok {
				before[place] = in[from]
			}
		}
	}
	for i, got := range check.Get(r, out) {
		if got != before[i] {
			r.Wrong("element %d is %d, want %d", i, got, before[i])
			return
		}
	}
}

// misplacedTiles demands a fault where a copy would lose the device.
func misplacedTiles(r *check.Run) {
	e := device.Extent{Width: 20, Height: 10, Depth: 1}
	for _, at := range [][2]int{{1, 0}, {-4, 0}, {0, -1}} {
		r.Launch(Misplaced(r.Stream, one, device.MapTensor[[8][12]int32](check.Make[int32](r, 200), e), at[0], at[1]))
		faulted(r, "gpu.TensorMap: corner is negative or not a multiple of 16 bytes along X")
	}
}

// faulted demands that a thread has faulted, and that nothing else is wrong with what was launched.
func faulted(r *check.Run, message string) {
	err := r.Stream.Synchronize(r.Context)
	if f, ok := err.(*device.Fault); !ok || f.Message != message {
		r.Wrong("it ends with %v, want %s", err, message)
	}
}

func wholePanels(r *check.Run) {
	const width, height = 72, 50
	in := make([]dtype.BF16, width*height)
	for i := range in {
		in[i] = dtype.BF16(i)
	}
	memory, out := check.Upload(r, in...), check.Make[[64]dtype.BF16](r, 3*64)
	r.Launch(Panels(r.Stream, one, device.MapTensor[gpu.Panel[dtype.BF16]](memory, device.Extent{Width: width, Height: height, Depth: 1}), out))
	for i, row := range check.Get(r, out) {
		for j, got := range row {
			want := dtype.BF16(0)
			if x, y := i/64*64+j, i%64; x >= 0 && x < width && y < height {
				want = in[y*width+x]
			}
			if got != want {
				r.Wrong("panel %d, row %d, column %d: %d, want %d", i/64, i%64, j, uint16(got), uint16(want))
			}
		}
	}
	for i, got := range check.Get(r, memory) {
		if got != in[i]+1 {
			r.Wrong("element %d is %d, want %d", i, uint16(got), uint16(in[i]+1))
		}
	}
}
