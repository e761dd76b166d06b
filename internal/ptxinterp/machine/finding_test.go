package machine

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/traffic"
)

// TestFindings runs code with mistakes that do not end it, and with none. The kernel k of entry has an
// allocation of 10 words, of which 4 are written, and runs with 2 blocks of 40 threads.
func TestFindings(t *testing.T) {
	const me = "shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; and.b32 %r2, %r2, 31; add.u32 %r3, %r3, %r2;\n"
	for _, c := range []struct {
		name, code string
		want       []string // parts of the findings' texts, in order
	}{
		{"nothing", "ld.global.u32 %r2, [%rd1];", nil},
		{"different values", "st.global.u32 [%rd1], %r1;", []string{
			"k: data race: write at PTX line 12, st.global.u32 by block 0,0,0 thread 0,0,0 and, without a barrier in between, write at PTX line 12, st.global.u32 by block 0,0,0 thread 1,0,0, of byte 0 of an allocation of 40 bytes at 0x100020000; 79 times"}},
		{"the same value", "st.global.u32 [%rd1], 7;", nil},
		{"the same value in parts of a register", "st.global.u8 [%rd1], 0x107;", nil},
		{"the same value, and readers", "st.global.u32 [%rd1], 7;\nld.global.u32 %r2, [%rd1];", []string{"write at PTX line 12"}},
		{"volatile", "st.volatile.global.u32 [%rd1], %r1;\nld.volatile.global.u32 %r2, [%rd1];", nil},
		{"volatile and plain", "st.volatile.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1];", []string{"atomic write at PTX line 12"}},
		{"atomic", "red.global.add.u32 [%rd1], 1;", nil},
		{"atomic, then plain", "red.global.add.u32 [%rd1], 1;\nld.global.u32 %r2, [%rd1];", []string{"atomic write at PTX line 12, red.global.add.u32 by block 0,0,0 thread "}},
		{"bytes of a word", "add.u64 %rd3, %rd1, 0; cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd1, %rd3; mov.u32 %r4, %ctaid.x; setp.ne.u32 %p1, %r4, 0; @%p1 ret; st.global.u8 [%rd3], %r1;", nil},
		{"shared", "st.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile];", []string{"write at PTX line 12"}},
		{"shared through a generic address", "mov.u32 %r4, tile; cvt.u64.u32 %rd3, %r4; cvta.shared.u64 %rd3, %rd3;\nst.u32 [%rd3], %r1;", []string{"st.u32 by block 0,0,0 thread 1,0,0, of byte 0 of shared memory"}},
		{"warp barrier", me + "st.shared.u32 [%r3], 1;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r2, [tile];", []string{"by block 0,0,0 thread 0,0,0 and, without a barrier in between, write at PTX line 13, st.shared.u32 by block 0,0,0 thread 32,0,0"}},
		{"counted barrier", "setp.gt.u32 %p1, %r1, 31; setp.ne.u32 %p2, %r1, 0; @!%p2 st.shared.u32 [tile], 5;\n@%p1 bra A;\nbar.sync 1, 32;\nld.shared.u32 %r2, [tile];\nA:", nil},
		{"exited threads", "setp.gt.u32 %p1, %r1, 35; st.shared.u32 [tile+8], 5;\n@%p1 ret;\nbar.sync 0; ld.shared.u32 %r2, [tile+8];", nil},
		{"next block's shared memory", "setp.ne.u32 %p1, %r1, 3; @%p1 ret; st.shared.u32 [tile], 5;\nld.shared.u32 %r2, [tile];", nil},

		{"unwritten", "ld.global.u32 %r2, [%rd1+36];", []string{"k: PTX line 12, ld.global.u32: memory was never written: 4 bytes, byte 36 of an allocation of 40 bytes at 0x100020000 (block 0,0,0 thread 0,0,0); 8 times"}},
		{"partly unwritten", "ld.global.v2.u32 {%r2, %r3}, [%rd1+8]; ld.global.u64 %rd3, [%rd1+8]; ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+16];", []string{"16 bytes, byte 16"}},
		{"unwritten and not wanted", "ld.global.v4.u32 {_, _, _, _}, [%rd1+16];", nil},
		{"unwritten atomic", "red.global.add.u32 [%rd1+32], 1;", []string{"memory was never written"}},
		{"shared unwritten", "ld.shared.u8 %r2, [tile+63];", []string{"1 bytes, byte 63 of shared memory"}},
		{"shared of the block before", "mov.u32 %r4, %ctaid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [tile], 5;\nbar.sync 0; ld.shared.u32 %r2, [tile];", []string{"(block 1,0,0 thread "}},
		{"local unwritten", "ld.local.u32 %r2, [stack+4];", []string{"of local memory"}},
		{"local written", "st.local.u32 [stack+4], 1; ld.local.u32 %r2, [stack+4]; ld.local.u8 %r2, [stack+7];", nil},
		{"local written by neighbours", "setp.eq.u32 %p1, %r1, 3; @!%p1 st.local.u32 [stack], 1; ld.local.u32 %r2, [stack];", []string{"thread 3,0,0); 2 times"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := compile(t, entry(c.code), "k")
			at, err := b.mem.Allocate(40)
			if err != nil {
				t.Fatal(err)
			}
			b.mem.Written(at, 16)
			s, err := b.run(Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{40, 1, 1}, Params: params(at), Resident: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Findings) != len(c.want) {
				t.Fatalf("findings %v, want %d", s.Findings, len(c.want))
			}
			for i, f := range s.Findings {
				if !strings.Contains(f.Error(), c.want[i]) {
					t.Errorf("finding %v, want %q", f, c.want[i])
				}
				if !errors.Is(f, ErrRace) && !errors.Is(f, ErrUnwritten) {
					t.Errorf("finding %v is of no kind", f)
				}
			}
		})
	}
}

// TestLastBlock runs a sum of all blocks by the last of them, with and without fences.
func TestLastBlock(t *testing.T) {
	const code = `mov.u32 %%r4, %%ctaid.x; mul.wide.u32 %%rd3, %%r4, 4; add.u64 %%rd3, %%rd3, %%rd1;
	setp.ne.u32 %%p1, %%r1, 0; @%%p1 ret;
	st.global.u32 [%%rd3+4], 5; @1 atom@2.global.inc.u32 %%r5, [%%rd1], 3; @3
	setp.ne.u32 %%p1, %%r5, 3; @%%p1 ret;
	ld.global.v2.u32 {%%r1, %%r2}, [%%rd1+8];`
	for _, c := range []struct {
		before, order, behind string
		races                 int
	}{
		{"fence.acq_rel.gpu;", "", "fence.acq_rel.gpu;", 0},
		{"membar.gl;", "", "membar.gl;", 0},
		{"", ".acq_rel.gpu", "", 0},
		{"", "", "", 1},
		{"", "", "fence.acq_rel.gpu;", 1},
		{"fence.acq_rel.gpu;", "", "", 1},
		{"", ".release.gpu", "", 1},
	} {
		text := strings.NewReplacer("%%", "%", "@1", c.before, "@2", c.order, "@3", c.behind).Replace(code)
		b := compile(t, entry(text), "k")
		s, err := b.run(Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{32, 1, 1}, Params: params(b.words(make([]uint32, 8)...))})
		if err != nil || len(s.Findings) != c.races {
			t.Errorf("%q %q %q: %v, findings %v, want %d", c.before, c.order, c.behind, err, s.Findings, c.races)
		}
	}
}

// TestTrust demands that memory of the runtime is not checked, and orders accesses all the same.
func TestTrust(t *testing.T) {
	b := compile(t, entry(`mov.u32 %r4, %ctaid.x; setp.ne.u32 %p1, %r4, 0;
	@%p1 ld.acquire.gpu.global.u32 %r2, [%rd1]; 	@!%p1 st.release.gpu.global.u32 [%rd1], 1; st.global.u32 [%rd1+8], %r1; ld.global.u32 %r2, [%rd1+12];`), "k")
	at, err := b.mem.Allocate(40)
	if err != nil {
		t.Fatal(err)
	}
	b.mem.Trust(at)
	b.mustRun(Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}, Params: params(at)})
}

// TestCopied demands that bytes that are copied stay unwritten.
func TestCopied(t *testing.T) {
	b := compile(t, entry("ld.global.u32 %r2, [%rd2];"), "k")
	from, err := b.mem.Allocate(40)
	if err != nil {
		t.Fatal(err)
	}
	b.mem.Written(from, 4)
	b.mem.Written(from+12, 8)
	to := b.words(make([]uint32, 10)...)
	for _, c := range []struct {
		to, from uint64
		n, bad   int
	}{{to, to, 40, 7}, {from + 20, to, 20, 2}, {from + 4, from, 20, 2}, {from, to, 40, 0}} {
		b.mem.Copied(c.to, c.from, c.n)
		s, err := b.run(Launch{Block: [3]int{10, 1, 1}, Params: params(from)})
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for _, f := range s.Findings {
			bad += f.(*Error).Count
		}
		if bad != c.bad {
			t.Errorf("%d bytes: %d words are unwritten, want %d", c.n, bad, c.bad)
		}
	}
}

// TestTraffic counts what a kernel's lines do.
func TestTraffic(t *testing.T) {
	b := compile(t, entry(`.loc 1 5 0
	ld.global.u32 %r2, [%rd2]; shl.b32 %r2, %r1, 5; mov.u32 %r3, tile; and.b32 %r2, %r2, 32; add.u32 %r3, %r3, %r2;
	.loc 1 6 0
	st.shared.u32 [%r3], 1;
	ld.param.u64 %rd3, [out]; st.local.u32 [stack], 1;`), "k")
	s, err := b.run(Launch{Block: [3]int{64, 1, 1}, Params: params(b.words(make([]uint32, 64)...)), Traffic: true})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]traffic.Counts{
		5: {Global: 2, Sectors: 8, SectorsLeast: 8},
		6: {Shared: 2, Passes: 2, PassesLeast: 2},
		7: {},
	} {
		if got := s.Traffic.Counts(traffic.Line{Kernel: "k", File: "k.go", Line: line}); got != want {
			t.Errorf("line %d: %+v, want %+v", line, got, want)
		}
	}
}
