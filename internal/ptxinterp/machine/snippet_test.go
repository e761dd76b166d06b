package machine

import (
	"fmt"
	"strings"
	"testing"
)

// snippets are instructions with what they leave in %r0 and %rd0. The registers hold numbers
// that are given at the top of the entry below.
var snippets = []struct {
	code string
	r    uint32
	rd   uint64
}{
	{"add.s32 %r0, %r1, %r2;", 10, 0},
	{"add.u32 %r0, %r3, 2;", 1, 0},
	{"add.s64 %rd0, %rd1, -1;", 0, 99},
	{"add.u16 %h0, %h1, %h1; cvt.u32.u16 %r0, %h0;", 0xfffe, 0},
	{"add.sat.s32 %r0, %r4, %r4;", 0x80000000, 0},
	{"sub.s32 %r0, %r1, %r2;", 0xfffffffc, 0},
	{"sub.u64 %rd0, %rd1, %rd2;", 0, 105},
	{"mul.lo.u64 %rd0, %rd1, %rd2;", 0, 0xfffffffffffffe0c},
	{"mul.lo.s32 %r0, %r1, %r2;", 21, 0},
	{"mul.hi.u32 %r0, %r3, %r3;", 0xfffffffe, 0},
	{"mul.wide.s32 %rd0, %r3, %r2;", 0, 0xfffffffffffffff9},
	{"mul.wide.u32 %rd0, %r3, %r3;", 0, 0xfffffffe00000001},
	{"mul.hi.s64 %rd0, %rd2, %rd1;", 0, 0xffffffffffffffff},
	{"mad.lo.s32 %r0, %r1, %r2, %r3;", 20, 0},
	{"mad.lo.s64 %rd0, %rd1, %rd1, %rd2;", 0, 9995},
	{"mad.hi.u32 %r0, %r3, %r3, %r1;", 1, 0},
	{"mad.wide.s32 %rd0, %r3, %r2, %rd1;", 0, 93},
	{"mul24.lo.u32 %r0, %r1, %r2;", 21, 0},
	{"div.s32 %r0, %r2, -2;", 0xfffffffd, 0},
	{"rem.u64 %rd0, %rd1, 7;", 0, 2},
	{"div.u32 %r0, %r2, 0;", 0xffffffff, 0},
	{"min.s32 %r0, %r3, %r1;", 0xffffffff, 0},
	{"max.u32 %r0, %r3, %r1;", 0xffffffff, 0},
	{"abs.s64 %rd0, %rd2;", 0, 5},
	{"neg.s32 %r0, %r1;", 0xfffffffd, 0},
	{"sad.u32 %r0, %r1, %r2, %r2;", 11, 0},
	{"and.b32 %r0, %r1, 6;", 2, 0},
	{"or.b64 %rd0, %rd1, 3;", 0, 103},
	{"xor.b32 %r0, %r3, %r1;", 0xfffffffc, 0},
	{"not.b32 %r0, %r1;", 0xfffffffc, 0},
	{"cnot.b32 %r0, %r1;", 0, 0},
	{"shl.b32 %r0, %r1, 31;", 0x80000000, 0},
	{"shl.b64 %rd0, %rd1, 64;", 0, 0},
	{"shr.s32 %r0, %r4, 99;", 0xffffffff, 0},
	{"shr.u64 %rd0, %rd2, 60;", 0, 15},
	{"shl.b64 %rd0, %rd2, %r2;", 0, 0xfffffffffffffd80},
	{"shr.u32 %r0, %r4, %r1;", 0x10000000, 0},
	{"shr.b64 %rd0, %rd2, %r4;", 0, 0},
	{"xor.b64 %rd0, %rd1, %rd2;", 0, 0xffffffffffffff9f},
	{"shf.l.wrap.b32 %r0, %r4, %r1, 1;", 7, 0},
	{"popc.b64 %r0, %rd2;", 63, 0},
	{"clz.b32 %r0, %r1;", 30, 0},
	{"brev.b32 %r0, %r1;", 0xc0000000, 0},
	{"bfind.u32 %r0, %r2;", 2, 0},
	{"bfe.s32 %r0, %r4, 28, 8;", 0xfffffff8, 0},
	{"bfi.b32 %r0, %r3, %r1, 4, 4;", 0xf3, 0},
	{"bmsk.clamp.b32 %r0, 4, 4;", 0xf0, 0},
	{"szext.clamp.s32 %r0, %r2, 3;", 0xffffffff, 0},
	{"lop3.b32 %r0, %r1, %r2, %r3, 0x80;", 3, 0},
	{"prmt.b32 %r0, %r1, %r2, 0x4040;", 0x07030703, 0},
	{"dp4a.u32.u32 %r0, %r1, %r2, %r1;", 24, 0},
	{"fns.b32 %r0, %r2, 0, 2;", 1, 0},
	{"add.cc.u32 %r0, %r3, 1; addc.u32 %r0, %r0, 5;", 6, 0},
	{"sub.cc.u32 %r0, 0, 1; subc.u32 %r0, 9, 0;", 8, 0},

	{"add.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x40600000, 0},
	{"mul.f32 %f0, 0f7F800000, 0f00000000; mov.b32 %r0, %f0;", 0x7fffffff, 0},
	{"sub.f64 %d0, %d1, %d1; mul.rn.f64 %d0, %d0, %d1; mov.b64 %rd0, %d0;", 0, 0},
	{"sub.rn.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x3f000000 | 1<<31, 0},
	{"mul.rz.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x40400000, 0},
	{"fma.rn.f32 %f0, %f1, %f2, 0fBF800000; mov.b32 %r0, %f0;", 0x40000000, 0},
	{"mad.rn.f32 %f0, %f1, %f2, %f2; mov.b32 %r0, %f0;", 0x40a00000, 0},
	{"div.rn.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x3f400000, 0},
	{"div.full.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x3f400000, 0},
	{"div.approx.ftz.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x3f400000, 0},
	{"rcp.rn.f32 %f0, %f2; mov.b32 %r0, %f0;", 0x3f000000, 0},
	{"sqrt.rn.f32 %f0, 0f40800000; mov.b32 %r0, %f0;", 0x40000000, 0},
	{"sqrt.approx.f32 %f0, 0f40800000; mov.b32 %r0, %f0;", 0x40000000, 0},
	{"rsqrt.approx.f32 %f0, 0f40800000; mov.b32 %r0, %f0;", 0x3f000000, 0},
	{"ex2.approx.ftz.f32 %f0, %f2; mov.b32 %r0, %f0;", 0x40800000, 0},
	{"lg2.approx.f32 %f0, %f2; mov.b32 %r0, %f0;", 0x3f800000, 0},
	{"sin.approx.f32 %f0, 0f00000000; mov.b32 %r0, %f0;", 0, 0},
	{"cos.approx.f32 %f0, 0f00000000; mov.b32 %r0, %f0;", 0x3f800000, 0},
	{"tanh.approx.f32 %f0, 0f7F800000; mov.b32 %r0, %f0;", 0x3f800000, 0},
	{"min.NaN.f32 %f0, %f1, 0f7FC00000; mov.b32 %r0, %f0;", 0x7fffffff, 0},
	{"max.f32 %f0, %f1, 0f7FC00000; mov.b32 %r0, %f0;", 0x3fc00000, 0},
	{"neg.f32 %f0, %f1; mov.b32 %r0, %f0;", 0xbfc00000, 0},
	{"abs.ftz.f32 %f0, 0f80000001; mov.b32 %r0, %f0;", 0, 0},
	{"copysign.f32 %f0, 0f80000000, %f1; mov.b32 %r0, %f0;", 0xbfc00000, 0},
	{"testp.infinite.f32 %p0, 0f7F800000; selp.u32 %r0, 1, 2, %p0;", 1, 0},
	{"add.f64 %d0, %d1, 1.0; mov.b64 %rd0, %d0;", 0, 0x4004000000000000},
	{"fma.rn.f64 %d0, %d1, %d1, 0d0000000000000000; mov.b64 %rd0, %d0;", 0, 0x4002000000000000},
	{"div.rn.f64 %d0, %d1, %d1; mov.b64 %rd0, %d0;", 0, 0x3ff0000000000000},
	{"sqrt.rp.f64 %d0, 4.0; mov.b64 %rd0, %d0;", 0, 0x4000000000000000},

	{"cvt.u32.u64 %r0, %rd2;", 0xfffffffb, 0},
	{"cvt.s64.s32 %rd0, %r3;", 0, 0xffffffffffffffff},
	{"cvt.s32.s8 %r0, %r5;", 0xffffff80, 0},
	{"cvt.u8.u32 %h0, %r5; cvt.u32.u16 %r0, %h0;", 0x80, 0},
	{"cvt.rzi.s32.f32 %r0, 0fC0200000;", 0xfffffffe, 0},
	{"cvt.rni.u64.f64 %rd0, 2.5;", 0, 2},
	{"cvt.rn.f32.s32 %f0, %r3; mov.b32 %r0, %f0;", 0xbf800000, 0},
	{"cvt.rp.f64.u64 %d0, %rd1; mov.b64 %rd0, %d0;", 0, 0x4059000000000000},
	{"cvt.f64.f32 %d0, %f1; mov.b64 %rd0, %d0;", 0, 0x3ff8000000000000},
	{"cvt.rn.f32.f64 %f0, %d1; mov.b32 %r0, %f0;", 0x3fc00000, 0},
	{"cvt.rmi.f32.f32 %f0, %f1; mov.b32 %r0, %f0;", 0x3f800000, 0},
	{"cvt.sat.u8.s32 %r0, %r3;", 0, 0},
	{"cvt.rn.bf16x2.f32 %r0, %f1, %f2;", 0x3fc04000, 0},
	{"cvt.rn.f16x2.f32 %r0, %f1, %f2;", 0x3e004000, 0},

	{"setp.lt.s32 %p0, %r3, %r1; selp.b32 %r0, 1, 2, %p0;", 1, 0},
	{"setp.lt.u32 %p0, %r3, %r1; selp.b32 %r0, 1, 2, %p0;", 2, 0},
	{"setp.ge.u64 %p0, %rd2, 5; selp.b64 %rd0, 1, 2, %p0;", 0, 1},
	{"setp.le.f64 %p0, %d1, 1.5; selp.b64 %rd0, 1, 2, %p0;", 0, 1},
	{"setp.gt.f32 %p0, %f2, %f1; selp.b64 %rd0, 1, 2, %p0;", 0, 1},
	{"setp.hi.u32 %p0, %r3, %r1; selp.b32 %r0, 1, 2, %p0;", 1, 0},
	{"setp.lt.s64 %p0, %rd2, 0; selp.b64 %rd0, 1, 2, %p0;", 0, 1},
	{"setp.eq.u32 %p0, %r3, %r1; selp.b32 %r0, 1, 2, %p0;", 2, 0},
	{"setp.ne.s64 %p0, %rd1, %rd2; selp.b32 %r0, 1, 2, %p0;", 1, 0},
	{"setp.ne.b32 %p0, %r3, -1; selp.b32 %r0, 1, 2, %p0;", 2, 0},
	{"setp.le.s32 %p0, %r3, %r1; selp.b32 %r0, 1, 2, %p0;", 1, 0},
	{"setp.gt.and.s32 %p0|%p1, %r1, %r2, !%p1; selp.b32 %r0, 1, 0, %p0; selp.b32 %r6, 2, 0, %p1; or.b32 %r0, %r0, %r6;", 2, 0},
	{"setp.neu.f32 %p0, 0f7FC00000, %f1; selp.f32 %f0, %f1, %f2, %p0; mov.b32 %r0, %f0;", 0x3fc00000, 0},
	{"set.lt.u32.s32 %r0, %r3, %r1;", 0xffffffff, 0},
	{"set.ge.f32.u32 %f0, %r3, %r1; mov.b32 %r0, %f0;", 0x3f800000, 0},
	{"slct.s32.f32 %r0, %r1, %r2, 0f80000000;", 3, 0},
	{"slct.u32.s32 %r0, %r1, %r2, -1;", 7, 0},
	{"setp.eq.s32 %p0, 1, 1; xor.pred %p0, %p0, %p1; not.pred %p1, %p0; selp.b32 %r0, 1, 2, %p1;", 2, 0},
	{"@%p1 mov.u32 %r0, 5; @!%p1 mov.u32 %r0, 6;", 6, 0},
	{"mov.b64 %rd0, {%r1, %r2};", 0, 0x0000000700000003},
	{"mov.b64 {%r0, %r6}, %rd2;", 0xfffffffb, 0},
	{"mov.u32 %r0, %ntid.x; mov.u32 %r6, %nctaid.z; add.u32 %r0, %r0, %r6;", 33, 0},
	{"mov.u32 %r0, %lanemask_ge; mov.u32 %r6, %lanemask_lt; add.u32 %r0, %r0, %r6;", 0xffffffff, 0},
	{"mov.u64 %rd0, %clock64; mov.u64 %rd3, %clock64; setp.lt.u64 %p0, %rd0, %rd3; selp.u64 %rd0, 1, 0, %p0;", 0, 1},
	{"mov.b64 %rd3, out; ld.param.u64 %rd4, [%rd3]; cvta.param.u64 %rd3, %rd3; ld.u64 %rd5, [%rd3]; sub.s64 %rd0, %rd4, %rd5;", 0, 0},
	{"elect.sync %r6|%p0, 0xffffffff; mov.u32 %r0, %r6;", 0, 0},
}

func snippetName(i int) string { return fmt.Sprintf("snippet%d", i) }

// snippetModule returns a module with an entry for each snippet.
func snippetModule() string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for i, s := range snippets {
		fmt.Fprintf(&b, `.visible .entry %s(.param .u64 out)
{
	.reg .pred %%p<4>;
	.reg .b16 %%h<4>;
	.reg .b32 %%r<8>;
	.reg .b64 %%rd<8>;
	.reg .f32 %%f<4>;
	.reg .f64 %%d<4>;
	mov.u32 %%r0, 0;
	mov.u64 %%rd0, 0;
	mov.u32 %%r1, 3;
	mov.u32 %%r2, 7;
	mov.u32 %%r3, -1;
	mov.u32 %%r4, 0x80000000;
	mov.u32 %%r5, 0x180;
	mov.u16 %%h1, -1;
	mov.u64 %%rd1, 100;
	mov.s64 %%rd2, -5;
	mov.f32 %%f1, 0f3FC00000;
	mov.f32 %%f2, 0f40000000;
	mov.f64 %%d1, 1.5;
	setp.ne.u32 %%p1, 0, 0;
	%s
	ld.param.u64 %%rd6, [out];
	mov.u32 %%r7, %%tid.x;
	mad.wide.u32 %%rd6, %%r7, 16, %%rd6;
	st.global.u32 [%%rd6], %%r0;
	st.global.u64 [%%rd6+8], %%rd0;
	ret;
}
`, snippetName(i), s.code)
	}
	return b.String()
}

// TestSnippets runs each with a full warp and with a few threads: some instructions are
// executed in another way where all threads of a warp take part.
func TestSnippets(t *testing.T) {
	mem := NewMemory()
	m, err := Load(snippetModule(), mem)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range snippets {
		k, err := m.Kernel(snippetName(i))
		if err != nil {
			t.Errorf("%s: %v", s.code, err)
			continue
		}
		b := &bench{t, mem, k}
		for _, threads := range []int{32, 5} {
			out := b.words(make([]uint32, 4*threads)...)
			b.mustRun(Launch{Block: [3]int{threads, 1, 1}, Params: params(out)})
			got := b.at(out, 4*threads)
			for l := range threads {
				r, rd := got[4*l], uint64(got[4*l+2])|uint64(got[4*l+3])<<32
				if strings.Contains(s.code, "%ntid") {
					r += uint32(32 - threads)
				}
				if r != s.r || rd != s.rd {
					t.Errorf("%s\nthread %d of %d has %#x and %#x, want %#x and %#x", s.code, l, threads, r, rd, s.r, s.rd)
					break
				}
			}
		}
	}
}
