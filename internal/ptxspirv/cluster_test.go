package ptxspirv

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// TestClusters tests which kernels run in rounds because the blocks of a cluster are one workgroup.
func TestClusters(t *testing.T) {
	const barrier = "barrier.cluster.arrive; barrier.cluster.wait; "
	for _, c := range []struct {
		name, body             string
		rounds, countsArrivals bool // of clusters of two blocks; a cluster of one block has neither
	}{
		{"no barrier", "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 ret; ret;", false, false},
		{"all blocks", barrier + "bar.sync 0; ret;", false, false},
		{"a barrier in one block", "mov.u32 %r1, %cluster_ctarank; $A: bar.sync 0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;", true, false},
		{"clusters apart", "mov.u32 %r1, %clusterid.x; $A: " + barrier + "sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;", false, false},
		{"blocks apart", "mov.u32 %r1, %ctaid.x; $A: " + barrier + "sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;", true, true},
	} {
		m, err := ptx.Parse(text(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, blocks := range []int{1, 2} {
			g, err := newGraph(m.Func("k"), Options{Block: [3]int{64, 1, 1}, Cluster: [3]int{1, blocks}, Subgroup: warpLanes})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			rounds, counts := c.rounds && blocks > 1, c.countsArrivals && blocks > 1
			if g.inRounds != rounds || g.countsArrivals != counts {
				t.Errorf("%s, %d blocks: in rounds %v, counts arrivals %v, want %v and %v", c.name, blocks, g.inRounds, g.countsArrivals, rounds, counts)
			}
		}
	}
}

// TestSlow tests in which kernels operations of warps become barriers although subgroups have the lanes of a warp.
func TestSlow(t *testing.T) {
	const all, some = "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; ", "shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3; "
	for _, c := range []struct {
		name, body      string
		threads, blocks int
		want            bool
	}{
		{"all lanes", all, 64, 1, false},
		{"half a warp", all, 48, 1, false},
		{"some lanes", all + some, 64, 1, true},
		{"a cluster", all, 64, 2, false},
		{"a cluster whose blocks have half a warp", all, 48, 2, true},
	} {
		m, err := ptx.Parse(text(c.body + "ret;"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := newGraph(m.Func("k"), Options{Block: [3]int{c.threads, 1, 1}, Cluster: [3]int{c.blocks}, Subgroup: warpLanes})
		if err != nil || g.meets != c.want || g.masked != (c.name == "some lanes") {
			t.Errorf("%s: %v, meets %v, masked %v, want %v", c.name, err, g.meets, g.masked, c.want)
		}
	}
}

// TestRefuseLost tests what is refused on a device whose compiler loses values: it has been seen to end such kernels early.
func TestRefuseLost(t *testing.T) {
	const apart = "mov.u32 %r1, %cluster_ctarank; $A: barrier.cluster.arrive; barrier.cluster.wait; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra $A; ret;"
	for _, c := range []struct {
		name, body string
		blocks     int
		refused    bool
	}{
		{"some lanes", "vote.sync.ballot.b32 %r1, %p1, %r2; ret;", 1, true},
		{"all lanes", "vote.sync.ballot.b32 %r1, %p1, -1; ret;", 1, false},
		{"a lock", ".shared .align 8 .b8 cell[8]; red.relaxed.cta.shared.add.u64 [cell], %rd1; ret;", 1, true},
		{"blocks apart", apart, 2, true},
		{"one block", apart, 1, false},
		{"blocks together", "barrier.cluster.arrive; barrier.cluster.wait; ret;", 2, false},
	} {
		m, err := ptx.Parse(text(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, loses := range []bool{false, true} {
			o := Options{Block: [3]int{64, 1, 1}, Cluster: [3]int{c.blocks}, Subgroup: warpLanes, Arithmetic: Arithmetic{LosesValues: loses}}
			_, err := Translate(m, "k", o)
			if refused := c.refused && loses; errors.Is(err, ErrUnsupported) != refused || !refused && err != nil {
				t.Errorf("%s, loses values %v: %v", c.name, loses, err)
			}
		}
	}
}

// TestShared tests how much shared memory a workgroup has: that of each block of a cluster, and a lock for atomic operations on 64 bits where the device has none.
func TestShared(t *testing.T) {
	const cell = ".shared .align 8 .b8 cell[24]; mov.u64 %rd1, 1; "
	atomic := cell + "red.relaxed.cta.shared.add.u64 [cell+8], %rd1; ret;"
	for _, c := range []struct {
		name, body string
		blocks     int
		views      Views
		want       int
	}{
		{"no atomic operation", cell + "st.shared.u64 [cell], %rd1; ret;", 1, Views{}, 32},
		{"a lock", atomic, 1, Views{}, 36},
		{"a lock of a cluster", atomic, 3, Views{}, 3*32 + 4},
		{"a lock beside views", atomic, 3, Views{Any: true}, 3*32 + 4},
		{"atomic operations of the device", atomic, 1, Views{Any: true, Atomics64: true}, 32},
	} {
		m, err := ptx.Parse(text(c.body))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Translate(m, "k", Options{Block: [3]int{64, 1, 1}, Cluster: [3]int{c.blocks}, Subgroup: warpLanes, Views: c.views})
		if err != nil || p.Shared != c.want {
			t.Errorf("%s: %+v, %v, want %d bytes", c.name, p, err, c.want)
		}
	}
}
