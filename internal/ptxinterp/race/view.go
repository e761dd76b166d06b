package race

import "math/bits"

// Time counts synchronizations. Zero is before all of them.
type Time uint32

const lanes = 32 // threads of a warp

// View holds, for each other thread, the time before which a thread has observed all of its
// accesses. The nil View is empty. Views are immutable and share their parts.
//
// It is a Patricia tree over the numbers of blocks, so that the cost of joining two views is
// proportional to their difference (Okasaki and Gill, "Fast Mergeable Integer Maps", 1998).
type View struct {
	prefix      uint32 // of the blocks below, the bits above bit; the block itself in a leaf
	bit         uint32 // that tells left from right; 0 in a leaf
	left, right *View

	all   Time           // of every thread of the block
	warps []*[lanes]Time // of single threads, where that is more; nil or a row for each warp, which may be nil
}

// leaf returns the part that holds a block, or nil.
func (v *View) leaf(block uint32) *View {
	for v != nil && v.bit != 0 {
		if block&v.bit == 0 {
			v = v.left
		} else {
			v = v.right
		}
	}
	if v == nil || v.prefix != block {
		return nil
	}
	return v
}

// knows reports whether what a thread did at a time is before the view.
func (v *View) knows(block, thread uint32, when Time) bool {
	v = v.leaf(block)
	switch {
	case v == nil:
		return false
	case v.all > when:
		return true
	case v.warps == nil || v.warps[thread/lanes] == nil:
		return false
	}
	return v.warps[thread/lanes][thread%lanes] > when
}

// join returns what a and b know together. The result is a or b itself where that has it all.
func join(a, b *View) *View {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	case a.bit == 0 && b.bit == 0 && a.prefix == b.prefix:
		return joinLeaves(a, b)
	case a.bit == b.bit && a.prefix == b.prefix:
		return a.with(b, join(a.left, b.left), join(a.right, b.right))
	case a.bit > b.bit && a.holds(b):
		return a.insert(b)
	case b.bit > a.bit && b.holds(a):
		return b.insert(a)
	}
	return branch(a, b)
}

// holds reports whether the blocks of b are among those that a, a branch, is for.
func (a *View) holds(b *View) bool { return a.prefix == above(b.prefix, a.bit) }

// above returns the bits of a block's number above a bit.
func above(block, bit uint32) uint32 { return block &^ (bit<<1 - 1) }

// insert joins b into a branch that holds it.
func (a *View) insert(b *View) *View {
	if b.prefix&a.bit == 0 {
		return a.with(nil, join(a.left, b), a.right)
	}
	return a.with(nil, a.left, join(a.right, b))
}

// with returns a with other branches, or a or b, which is like a, if that has them.
func (a *View) with(b, left, right *View) *View {
	switch {
	case left == a.left && right == a.right:
		return a
	case b != nil && left == b.left && right == b.right:
		return b
	}
	return &View{prefix: a.prefix, bit: a.bit, left: left, right: right}
}

// branch returns the parent of two views of different blocks.
func branch(a, b *View) *View {
	bit := uint32(1) << (31 - bits.LeadingZeros32(a.prefix^b.prefix))
	if a.prefix&bit != 0 {
		a, b = b, a
	}
	return &View{prefix: above(a.prefix, bit), bit: bit, left: a, right: b}
}

// joinLeaves joins what is known of one block.
func joinLeaves(a, b *View) *View {
	switch {
	case a.covers(b):
		return a
	case b.covers(a):
		return b
	}
	v := &View{prefix: a.prefix, all: max(a.all, b.all), warps: make([]*[lanes]Time, max(len(a.warps), len(b.warps)))}
	for i := range v.warps {
		v.warps[i] = joinRows(a.row(i), b.row(i))
	}
	return v
}

// covers reports whether a, a leaf, knows what b does, as far as that shows at a glance.
func (a *View) covers(b *View) bool {
	if a.all < b.all {
		return false
	}
	for i, r := range b.warps {
		if r != nil && r != a.row(i) && !a.past(r) {
			return false
		}
	}
	return true
}

// past reports whether a knows of every thread more than a row says.
func (a *View) past(r *[lanes]Time) bool {
	for _, t := range r {
		if t > a.all {
			return false
		}
	}
	return true
}

func (v *View) row(warp int) *[lanes]Time {
	if v.warps == nil {
		return nil
	}
	return v.warps[warp]
}

func joinRows(a, b *[lanes]Time) *[lanes]Time {
	if a == nil || a == b {
		return b
	}
	if b == nil {
		return a
	}
	if upTo(a, b) { // a later barrier of the same threads
		return b
	}
	r := *a
	for l, t := range b {
		r[l] = max(r[l], t)
	}
	return &r
}

// upTo reports whether b knows all that a does.
func upTo(a, b *[lanes]Time) bool {
	for l, t := range a {
		if t > b[l] {
			return false
		}
	}
	return true
}

// everyone returns the view that knows all of a block up to a time.
func everyone(block uint32, t Time) *View { return &View{prefix: block, all: t} }

// some returns the view that knows some threads of a block of n warps up to a time: those of
// the masks, one for each warp.
func some(block uint32, masks []uint32, t Time) *View {
	v := &View{prefix: block, warps: make([]*[lanes]Time, len(masks))}
	for i, m := range masks {
		if m == 0 {
			continue
		}
		v.warps[i] = new([lanes]Time)
		for ; m != 0; m &= m - 1 {
			v.warps[i][bits.TrailingZeros32(m)] = t
		}
	}
	return v
}
