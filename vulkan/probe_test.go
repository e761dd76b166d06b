package vulkan

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// computing returns a kernel that computes from the u32 after its address, and stores 8 bytes in %rd2.
func computing(code string) string {
	return `
.version 6.4
.target sm_75
.address_size 64
.visible .entry probe(.param .align 8 .b8 probe_params[24])
{
	.reg .pred %p<4>;
	.reg .b64 %rd<4>;
	.reg .b16 %rs<2>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .f64 %fd<4>;
	ld.param.u64 %rd1, [probe_params];
	ld.param.u32 %r1, [probe_params+8];
` + strings.ReplaceAll(code, ";", ";\n") + `
	st.global.u64 [%rd1], %rd2;
	ret;
}
`
}

// opened returns the first device. The test is skipped if there is none.
func opened(t *testing.T) *backend {
	t.Helper()
	if _, err := List(); err != nil {
		t.Skip(err)
	}
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestMistakes runs kernels that compilers of devices have translated wrongly.
func TestMistakes(t *testing.T) {
	b := opened(t)
	table := make([]byte, 8+4*16)
	binary.LittleEndian.PutUint32(table[8:], 18)
	tiny := math.Float32frombits(1)
	for _, c := range []struct {
		name, kernel string
		param        uint32
		want         uint64
	}{
		{"a value of a loop that the thread has left", loopProbe, 9, 18},
		{"absolute value", computing("cvt.s64.s32 %rd3, %r1; abs.s64 %rd2, %rd3;"), 1<<32 - 1, 1},
		{"subnormal to float64", computing("mov.b32 %f1, %r1; cvt.f64.f32 %fd1, %f1; mov.b64 %rd2, %fd1;"), 1<<31 + 1, math.Float64bits(-float64(tiny))},
		{"zero to float64", computing("mov.b32 %f1, %r1; cvt.f64.f32 %fd1, %f1; mov.b64 %rd2, %fd1;"), 1 << 31, 1 << 63},
		{"infinity to float64", computing("mov.b32 %f1, %r1; cvt.f64.f32 %fd1, %f1; mov.b64 %rd2, %fd1;"), 0x7f800000, math.Float64bits(math.Inf(1))},
		{"float64 to subnormal", computing("cvt.rn.f64.u32 %fd1, %r1; mul.rn.f64 %fd1, %fd1, 0d3680000000000000; " + // 2^-151
			"neg.f64 %fd1, %fd1; cvt.rn.f32.f64 %f1, %fd1; mov.b32 %r2, %f1; cvt.u64.u32 %rd2, %r2;"), 6, 1<<31 + 2}, // 1.5 units in the last place
		{"bytes in reverse order", computing("and.b32 %r2, %r1, 65535; shr.u32 %r3, %r2, 8; shl.b32 %r4, %r2, 8; or.b32 %r5, %r3, %r4; " +
			"st.global.u16 [%rd1], %r5; ld.volatile.global.u16 %r6, [%rd1]; cvt.u64.u32 %rd2, %r6;"), 0x51234, 0x3412},
		{"selection of -0 or 1", computing("setp.lt.u32 %p1, %r1, 5; selp.b32 %r2, -2147483648, 1065353216, %p1; cvt.u64.u32 %rd2, %r2;"), 4, 1 << 31},
		{"a zero that the size of the block determines, less 0", computing("mov.u32 %r2, %ntid.x; sub.u32 %r2, %r2, 1; cvt.rn.f64.u32 %fd1, %r2; " +
			"cvt.rn.f64.u32 %fd2, %r1; sub.rn.f64 %fd1, %fd1, %fd2; mov.b64 %rd2, %fd1;"), 0, 0},
		{"a number divided by a zero that the number of threads determines", computing("mov.u32 %r2, %tid.x; cvt.rn.f64.u32 %fd1, %r2; " +
			"cvt.rn.f64.u32 %fd2, %r1; div.rn.f64 %fd1, %fd2, %fd1; mov.b64 %rd2, %fd1;"), 3, math.Float64bits(math.Inf(1))},
		{"1 divided by the bits of such a zero", computing("mov.u32 %r2, %tid.x; cvt.u64.u32 %rd3, %r2; mov.b64 %fd1, %rd3; " +
			"div.rn.f64 %fd1, 0d3ff0000000000000, %fd1; mov.b64 %rd2, %fd1;"), 3, math.Float64bits(math.Inf(1))},
		{"-0 and such a zero from two parts", computing("mov.u32 %r2, %tid.x; mov.b64 %rd3, {%r2, %r2}; mov.b64 {%f1, %f2}, %rd3; shl.b32 %r3, %r1, 31; mov.b32 %f2, %r3; " +
			"add.rn.f32 %f1, %f1, %f2; mov.b32 %r4, %f1; cvt.u64.u32 %rd2, %r4;"), 1, 0},
		{"-0 and a float16 zero", computing("mov.u32 %r2, %tid.x; cvt.u16.u32 %rs1, %r2; cvt.f32.f16 %f1, %rs1; shl.b32 %r3, %r1, 31; mov.b32 %f2, %r3; " +
			"add.rn.f32 %f1, %f1, %f2; mov.b32 %r4, %f1; cvt.u64.u32 %rd2, %r4;"), 1, 0},
		{"-0 and a zero from memory", computing("mov.u32 %r2, %tid.x; st.global.u32 [%rd1], %r2; ld.global.f32 %f1, [%rd1]; shl.b32 %r3, %r1, 31; mov.b32 %f2, %r3; " +
			"add.rn.f32 %f1, %f1, %f2; mov.b32 %r4, %f1; cvt.u64.u32 %rd2, %r4;"), 1, 0},
		{"quotients of a loop that starts from 0", computing("mov.u32 %r2, 0; mov.f64 %fd1, 0d0000000000000000; $LOOP: cvt.rn.f64.u32 %fd2, %r2; " +
			"cvt.rn.f64.u32 %fd3, %r1; div.rn.f64 %fd2, %fd2, %fd3; div.rn.f64 %fd2, %fd3, %fd2; add.rn.f64 %fd1, %fd1, %fd2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; " +
			"@%p1 bra $LOOP; mov.b64 %rd2, %fd1;"), 1, math.Float64bits(math.Inf(1))},
		{"a difference that is 0 instead of negative", computing("cvt.u64.u32 %rd3, %r1; setp.lt.u64 %p1, 3, %rd3; add.s64 %rd0, %rd3, -3; " +
			"selp.b64 %rd2, %rd0, 0, %p1;"), 2, 0},
		{"such a difference that is not negative", computing("cvt.u64.u32 %rd3, %r1; setp.lt.u64 %p1, 3, %rd3; add.s64 %rd0, %rd3, -3; " +
			"selp.b64 %rd2, %rd0, 0, %p1;"), 1<<32 - 1, 1<<32 - 4},
		{"float64 to the least normal", computing("cvt.rn.f64.u32 %fd1, %r1; mul.rn.f64 %fd1, %fd1, 0d3690000000000000; " + // 2^-150
			"cvt.rn.f32.f64 %f1, %fd1; mov.b32 %r2, %f1; cvt.u64.u32 %rd2, %r2;"), 1<<24 - 1, 1 << 23},
	} {
		out, err := b.probe(c.kernel, binary.LittleEndian.AppendUint32(nil, c.param), append([]byte(nil), table...))
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint64(out); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}
