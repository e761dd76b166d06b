package frontend

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestHostFunctions tests that each function that kernels replace by an operation can be called where a table is computed: what its Go source
// calls is not loaded.
func TestHostFunctions(t *testing.T) {
	leaves := []string{"Sqrt", "Abs", "Floor", "Ceil", "Trunc", "RoundToEven", "Copysign", "FMA", "fma"} // which call only package math
	for name := range intrinsics {
		math32Name, isMath32 := strings.CutPrefix(name, math32Path+".")
		switch {
		case strings.Contains(name, gpuPath+"."), name == "math.sqrt", isMath32 && slices.Contains(leaves, math32Name):
			continue
		case hostFunctions[name] == nil:
			t.Errorf("%s is not among the host functions", name)
		}
	}
}

// TestCallHost calls a host function of each type.
func TestCallHost(t *testing.T) {
	for _, c := range []struct {
		name string
		args []any
		want any
	}{
		{"math.Inf", []any{int64(-1)}, math.Inf(-1)},
		{"math.Pow", []any{2.0, 0.5}, math.Sqrt2},
		{"math.FMA", []any{2.0, 3.0, 4.0}, 10.0},
		{"math.Ldexp", []any{3.0, int64(-1)}, 1.5},
		{"math.Signbit", []any{math.Copysign(0, -1)}, true},
		{"math.IsInf", []any{math.Inf(1), int64(1)}, true},
		{"math.Float64bits", []any{-2.0}, int64(-1 << 62)},
		{"math.Float64frombits", []any{int64(-1 << 62)}, -2.0},
		{"math.Float32bits", []any{float32(-2)}, int64(0xc0000000)},
		{"math.Float32frombits", []any{int64(0xc0000000)}, float32(-2)},
		{"math/bits.LeadingZeros64", []any{int64(-1)}, int64(0)},
		{"math/bits.Len8", []any{int64(0x7f)}, int64(7)},
		{"math/bits.Reverse8", []any{int64(1)}, int64(128)},
		{"math/bits.Reverse64", []any{int64(1)}, int64(math.MinInt64)},
		{dtypePath + ".F16From32", []any{float32(1)}, int64(0x3c00)},
		{"(" + dtypePath + ".BF16).Float32", []any{int64(0xc000)}, float32(-2)},
		{math32Path + ".Min", []any{float32(0), float32(math.Copysign(0, -1))}, float32(math.Copysign(0, -1))},
	} {
		if got := callHost(hostFunctions[c.name], c.args); got != c.want {
			t.Errorf("%s: %v (%T), want %v", c.name, got, got, c.want)
		}
	}
	modf := callHost(hostFunctions["math.Modf"], []any{1.5})
	if got, ok := modf.(list); !ok || !slices.Equal(got, list{1.0, 0.5}) {
		t.Errorf("math.Modf: %v", modf)
	}
	product := callHost(hostFunctions["math/bits.Mul64"], []any{int64(-1), int64(-1)})
	if got, ok := product.(list); !ok || !slices.Equal(got, list{int64(-2), int64(1)}) {
		t.Errorf("math/bits.Mul64: %v", product)
	}
}
