package machine

import (
	"errors"
	"testing"
)

// TestUnsetRegisters reads registers that nobody has written, in launches of one memory that leave
// each other theirs: they are all ones in every launch, and constants are themselves.
func TestUnsetRegisters(t *testing.T) {
	b := compile(t, entry(`
	add.u32 %r8, %r8, 2; cvt.u32.u16 %r7, %h2;
	mov.u32 %r6, %ctaid.x; mad.wide.u32 %rd4, %r6, 1024, %rd2;
	st.global.u32 [%rd4], %r8; st.global.u32 [%rd4+512], %r7;
	mov.u16 %h2, 7; mov.u64 %rd8, 9; mov.u32 %r2, 11;`), "k")
	var kept *uint64
	for i, l := range []Launch{
		{Grid: [3]int{3, 1, 1}, Block: [3]int{128, 1, 1}},
		{Grid: [3]int{1, 1, 1}, Block: [3]int{5, 1, 1}},
		{Grid: [3]int{2, 1, 1}, Block: [3]int{70, 1, 1}, Together: true},
	} {
		const places = 3 * 256
		out := b.words(make([]uint32, places)...)
		l.Params = params(out)
		b.mustRun(l)
		words := b.at(out, places)
		for block := range l.Grid[0] {
			for thread := range l.Block[0] {
				want(t, "all ones and two", words[block*256+thread], 1)
				want(t, "16 bits of all ones", words[block*256+128+thread], 0xffff)
			}
		}
		if len(b.mem.kept.registers) == 0 {
			t.Fatalf("launch %d left no registers", i)
		}
		if first := &b.mem.kept.registers[0]; i > 0 && first != kept {
			t.Errorf("launch %d did not take the registers that were left", i)
		}
		kept = &b.mem.kept.registers[0]
	}
}

// TestBegin demands of registers with something in them what those of a new warp hold.
func TestBegin(t *testing.T) {
	p := &program{rows: 6, widths: []uint64{mask(8), mask(4), mask(4), mask(1), mask(8), mask(8)}, consts: []fill{{4 * warpSize, 77}}}
	all := make([]uint64, 3*p.rows*warpSize)
	for i := range all {
		all[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	p.begin(all)
	for i, got := range all {
		r := i / warpSize % p.rows
		want := p.widths[r]
		if r == 4 {
			want = 77
		}
		if got != want {
			t.Fatalf("register %d of warp %d, thread %d: %#x, want %#x", r, i/warpSize/p.rows, i%warpSize, got, want)
		}
	}
}

// TestUnsetLocal reads local memory that nobody has written, in launches of one memory that leave each
// other theirs: every launch finds it, and all ones.
func TestUnsetLocal(t *testing.T) {
	b := compile(t, entry("ld.local.u32 %r2, [stack+4];\nst.global.u32 [%rd2], %r2; st.local.u32 [stack+4], 5;"), "k")
	for i, threads := range []int{96, 33, 96} {
		out := b.words(make([]uint32, threads)...)
		s, err := b.run(Launch{Block: [3]int{threads, 1, 1}, Params: params(out)})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 || !errors.Is(s.Findings[0].(error), ErrUnwritten) {
			t.Errorf("launch %d found %v, want a read of what is not written", i, s.Findings)
		}
		for _, w := range b.at(out, threads) {
			want(t, "local memory", w, 0xffffffff)
		}
		if len(b.mem.kept.local) == 0 || len(b.mem.kept.marks) == 0 {
			t.Errorf("launch %d left no local memory", i)
		}
	}
}

// TestKeeps demands that little memory stays for the next launch, and much does not.
func TestKeeps(t *testing.T) {
	var kept []uint64
	keep(&kept, make([]uint64, keptBytes/8+1))
	if kept != nil {
		t.Errorf("%d bytes are kept, want none", 8*len(kept))
	}
	keep(&kept, make([]uint64, 100))
	if p := reuse(&kept, 101); len(p) != 101 || kept != nil {
		t.Errorf("%d new elements, and %v is kept still", len(p), kept)
	}
}
