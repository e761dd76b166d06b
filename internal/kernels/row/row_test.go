package row

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// TestTeams tests that teams cover all rows with no more blocks than they need, and that shared memory takes their rows.
func TestTeams(t *testing.T) {
	hopper, old := Limits{Shared: 227 << 10, Clusters: 8}, Limits{Shared: 48 << 10}
	for _, c := range []struct {
		rows, words int
		limits      Limits
		want        device.Grid
	}{
		{5, 4097, Limits{Clusters: 8}, grid(5, device.Dim{X: 512, Y: 1}, 0)},
		{1, 1, hopper, grid(1, device.Dim{X: 4, Y: 64}, 4096)},
		{130, 32, hopper, grid(5, device.Dim{X: 8, Y: 32}, 16384)},
		{17, 72, hopper, grid(3, device.Dim{X: 32, Y: 8}, 12288)},
		{9, 128, hopper, grid(2, device.Dim{X: 32, Y: 8}, 16384)},
		{17, 129, hopper, grid(17, device.Dim{X: 64, Y: 1}, 3072)},
		{5, 4096, old, grid(5, device.Dim{X: 512, Y: 1}, 48<<10)},
		{5, 4097, Limits{Shared: 227 << 10}, grid(5, device.Dim{X: 512, Y: 1}, 64<<10)},
		{5, 4097, hopper, device.Grid{Blocks: device.Dim{X: 10}, Block: device.Dim{X: 256, Y: 1}, Cluster: device.Dim{X: 2}, Shared: 9 * 16 * 256}},
		{3, 100000, hopper, device.Grid{Blocks: device.Dim{X: 24}, Block: device.Dim{X: 256, Y: 1}, Cluster: device.Dim{X: 8}, Shared: 64 << 10}},
	} {
		if got := Teams(c.rows, c.words, c.limits); got != c.want {
			t.Errorf("%d rows of %d vectors: %+v, want %+v", c.rows, c.words, got, c.want)
		}
	}
}

// grid returns a grid of blocks without clusters.
func grid(blocks int, block device.Dim, shared int) device.Grid {
	return device.Grid{Blocks: device.Dim{X: blocks}, Block: block, Shared: shared}
}

// TestNumbers tests conversions and the errors that they may have.
func TestNumbers(t *testing.T) {
	testNumber[float32](t, 4)
	testNumber[dtype.BF16](t, 8)
	testNumber[dtype.F16](t, 8)
}

func testNumber[T Number](t *testing.T, elements int) {
	t.Helper()
	if got := Elements[T](); got != elements {
		t.Errorf("%d elements of %T in 16 bytes, want %d", got, *new(T), elements)
	}
	relative, absolute := Rounding[T]()
	for x := 1e-30; x < 60000; x *= 1.37 {
		if d := math.Abs(Float64(From64[T](x)) - x); d > relative*x+absolute {
			t.Errorf("%v rounds to %v", x, Float64(From64[T](x)))
		}
	}
	if half := 1 + relative*1.001; Float64(From64[T](half))-half < 0.99*relative {
		t.Errorf("the bound of a relative error of %T, %v, is not reached", *new(T), relative)
	}
	if got := Float64s([]T{From64[T](1.5), From64[T](-2)}); got[0] != 1.5 || got[1] != -2 {
		t.Errorf("%T: %v", *new(T), got)
	}
}
