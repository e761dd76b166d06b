package simt_test

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// TestPeer finds the shared variables of another block, whose threads request them in another order, and one that none
// of them has requested yet.
func TestPeer(t *testing.T) {
	a, b := begun(1), begun(1)
	c := &simt.Cluster{Blocks: []*simt.Block{a, b}}
	a.Cluster, b.Cluster, b.Rank = c, c, 1
	const first, second = 1, 2
	mine, my := simt.Shared[[4]int32](a, first), simt.Shared[[4]int32](a, second)
	theirs := simt.Shared[[4]int32](b, second)
	if p := a.Peer(unsafe.Pointer(&my[2]), 1); p != unsafe.Pointer(&theirs[2]) {
		t.Errorf("element 2 of the other block's second variable is at %p, want %p", p, &theirs[2])
	}
	p := a.Peer(unsafe.Pointer(mine), 1)
	if p != unsafe.Pointer(simt.Shared[[4]int32](b, first)) {
		t.Errorf("the other block's first variable is at %p", p)
	}
	if p := b.Peer(p, 1); p != unsafe.Pointer(simt.Shared[[4]int32](b, first)) {
		t.Errorf("a block's own variable is at %p", p)
	}
}
