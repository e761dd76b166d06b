package row

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// TestTeams tests that teams cover all rows, and no more blocks than they need.
func TestTeams(t *testing.T) {
	for _, c := range []struct {
		vectors, rows int
		size          uint32
		want          device.Grid
	}{
		{1, 1, 32, device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 256}}},
		{128, 17, 32, device.Grid{Blocks: device.Dim{X: 3}, Block: device.Dim{X: 256}}},
		{129, 17, 256, device.Grid{Blocks: device.Dim{X: 17}, Block: device.Dim{X: 256}}},
		{1025, 5, 512, device.Grid{Blocks: device.Dim{X: 5}, Block: device.Dim{X: 512}}},
	} {
		size := TeamSize(c.vectors)
		if got := Teams(c.rows, size); size != c.size || got.Blocks.X != c.want.Blocks.X || got.Block.X != c.want.Block.X {
			t.Errorf("rows of %d vectors: teams of %d in %v, want %d in %v", c.vectors, size, got, c.size, c.want)
		}
	}
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
