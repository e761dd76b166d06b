package ptxspirv

import (
	"slices"
	"testing"
)

// TestRounds tests which kernels run in rounds or have shadows, and that all threads of a block reach the barrier of each round.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name, body string
		way        string // "", "rounds" or "shadows"
	}{
		{"no barrier", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 ret; mov.u32 %r2, 1; ret;", ""},
		{"all threads", "bar.sync 0; mov.u32 %r1, 1; bar.sync 0; ret;", ""},
		{"the same loop in all threads", "ld.param.u32 %r1, [a]; $A: bar.sync 0; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $A; ret;", ""},
		{"a part after the barrier", "bar.sync 0; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 ret; mov.u32 %r2, 1; ret;", ""},
		{"together again", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra $A; mov.u32 %r2, 1; $A: bar.sync 0; ret;", ""},
		{"the result of a barrier", "mov.u32 %r1, %tid.x; $A: setp.eq.u32 %p1, %r1, 0; bar.red.or.pred %p2, 0, %p1; @%p2 bra $A; ret;", ""},
		{"half of the threads", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4; @%p1 ret; bar.sync 0; ret;", "shadows"},
		{"a fault in a loop", "mov.u32 %r1, 9; mov.u32 %r2, %tid.x; $A: bar.sync 0; sub.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, %r2; @%p1 bra $F; " +
			"setp.ne.u32 %p2, %r1, 0; @%p2 bra $A; ret; $F: mov.u32 %r3, 1; ret;", "shadows"},
		{"different numbers of rounds", "mov.u32 %r1, %tid.x; $A: bar.sync 0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;", "rounds"},
		{"what a thread loads", "ld.global.u32 %r1, [%rd1]; $A: bar.sync 0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;", "rounds"},
		{"what a part of the threads stores", "mov.u32 %r1, %tid.x; mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra $B; mov.u32 %r2, 2; $B: " +
			"setp.eq.u32 %p2, %r2, 1; @%p2 bra $C; bar.sync 0; $C: ret;", "shadows"},
		{"a barrier in a part of a loop", "mov.u32 %r1, %tid.x; $A: sub.u32 %r1, %r1, 1; setp.eq.s32 %p1, %r1, 5; @%p1 bra $B; bar.sync 0; $B: " +
			"setp.gt.s32 %p2, %r1, 0; @%p2 bra $A; ret;", "rounds"},
		{"two loops", "mov.u32 %r1, %tid.x; $A: $B: bar.sync 0; sub.u32 %r1, %r1, 1; setp.eq.s32 %p1, %r1, 5; @%p1 bra $B; bar.red.popc.u32 %r2, 0, %p1; " +
			"setp.gt.s32 %p2, %r1, 0; @%p2 bra $A; bar.sync 0; ret;", "rounds"},
		{"a guarded barrier", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0; ret;", "shadows"},
	} {
		g, err := graphOf(t, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		meet := slices.IndexFunc(g.order, func(i int) bool { return slices.Contains(g.blocks[i].next, g.end) && g.blocks[i].test != nil })
		way := ""
		switch {
		case !g.hasBarrier() && meet >= 0:
			way = "rounds"
		case g.blocks[0].tail != nil:
			way = "shadows"
		}
		if way != c.way {
			t.Errorf("%s: the kernel runs in %q, want %q", c.name, way, c.way)
		}
		if way != "rounds" {
			continue
		}
		if start := g.blocks[g.order[meet]].next[1]; !always(g, start, g.order[meet]) {
			t.Errorf("%s: a thread may start a round and not reach its barrier", c.name)
		}
	}
}

// always reports whether control that starts in a block always reaches another one.
func always(g *graph, from, to int) bool {
	after := g.postdominators()
	for from >= 0 && from != to {
		from = after[from]
	}
	return from == to
}

// claim is the code that reports a fault, from where a thread has one.
const claim = "$F: atom.relaxed.gpu.global.cas.b32 %r9, [%rd9], 0, 1; setp.ne.u32 %p9, %r9, 0; @%p9 bra $E; st.volatile.global.u32 [%rd9], 1; $E: ret;"

// TestReports tests that threads which wait in a loop do not keep one that has a fault from reporting it.
func TestReports(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{
			"before a loop that waits", "@%p1 bra $F; $A: ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $A; bra $E; " + claim,
			"0 if({9 if(; 8)} 7 leave; {loop{1 if(; to 2)}} 2 5 leave)",
		},
		{
			"in a loop that waits", "$A: ld.relaxed.gpu.global.u32 %r1, [%rd1]; @%p1 bra $F; setp.eq.u32 %p2, %r1, 0; @%p2 bra $A; mov.u32 %r2, 1; @%p3 bra $F; bra $E; " + claim,
			"{loop{0 if({10 if(; 9)} 8 leave; 1 if(; to 2))}} 2 if({13 if(; 12)} 11 leave; 3 6 leave)",
		},
		{
			"no waiting", "$A: sub.u32 %r1, %r1, 1; @%p1 bra $F; setp.eq.u32 %p2, %r1, 0; @%p2 bra $A; mov.u32 %r2, 1; @%p3 bra $F; bra $E; " + claim,
			"switch{switch{{loop{0 if(to 4; 1 if(; to 2))}[4]} 2 if(; 3 to 6)}[6] 4 if(; 5)} 6 leave",
		},
	} {
		if got := nested(t, c.body); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
