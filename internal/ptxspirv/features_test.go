package ptxspirv

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// TestFeatures translates a kernel for a device with all features, for a device that lacks the one that the kernel needs, and for a device
// that lacks all others.
func TestFeatures(t *testing.T) {
	const all = BufferAtomics64<<1 - 1
	for _, c := range []struct {
		needs Features
		body  string
		want  string // the error
	}{
		{Float64, "cvt.f64.u32 %rd1, %r1; add.rn.f64 %rd1, %rd1, %rd1;", "cvt.f64.u32 needs float64 (shaderFloat64)"},
		{Storage16 | Int16, "st.global.u16 [%rd1], %r1;", "st.global.u16 needs 16-bit "},
		{Storage8 | Int8, "ld.global.u8 %r1, [%rd1];", "ld.global.u8 needs 8-bit "},
		{BufferAtomics64, "atom.global.add.u64 %rd1, [%rd2], %rd3;", "atom.global.add.u64 needs 64-bit atomics (shaderBufferInt64Atomics)"},
		{0, "add.s64 %rd1, %rd1, %rd2; atom.global.add.u32 %r1, [%rd2], %r2; add.rn.f32 %r1, %r1, %r2;", ""},
	} {
		m, err := ptx.Parse(strings.Replace(text(".loc 1 12 7\n"+c.body+" ret;"), ".visible", ".file 1 \"sum.go\"\n.visible", 1))
		if err != nil {
			t.Fatal(err)
		}
		translate := func(lacks Features) error {
			_, err := Translate(m, "k", Options{Block: [3]int{64, 1, 1}, Subgroup: warpLanes, Lacks: lacks})
			return err
		}
		for _, lacks := range []Features{0, all &^ c.needs} {
			if err := translate(lacks); err != nil {
				t.Errorf("a device that lacks %q: %v", lacks.Names(), err)
			}
		}
		for i := Float64; i <= all; i <<= 1 {
			if c.needs&i == 0 {
				continue
			}
			err := translate(i)
			if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "sum.go:12:7: not supported: "+c.want) || !strings.Contains(err.Error(), ", which the device lacks") {
				t.Errorf("a device that lacks %q: %v", i.Names(), err)
			}
		}
	}
	if names := all.Names(); len(names) != 6 || !slices.Contains(names, "16-bit integers (shaderInt16)") {
		t.Errorf("the names are %q", names)
	}
}
