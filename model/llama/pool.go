package llama

import "container/list"

// A pool has the pages of a Cache. A page is free, or sequences have it, or it is idle: no sequence has it, but a sequence with the same
// tokens can take it until its memory is needed.
//
// The key of a full page is its tokens and the page that precedes it, which has a key itself. So two pages with one key follow the same
// tokens, and no hash can confuse them. A sequence that has a page has all pages before it, and returns the last one first. So among
// the idle pages, in the order of their last use, none precedes one that follows it in a text: the first can be evicted.
type pool struct {
	pages []page
	free  []int32
	index map[key]int32
	tails map[root][]int32 // idle pages that are not full, in the order of their last use
	idle  *list.List       // of int32, in the order of their last use
}

// page is a page of a pool.
type page struct {
	users   int     // sequences
	indexed bool    // the index has key
	key     key     // if indexed
	tail    []int32 // the tokens of an idle page that is not full
	after   root    // if tail has tokens
	element *list.Element
}

// root is what precedes a page.
type root struct {
	page   int32  // -1 for none
	origin Origin // of the sequence, if page is -1
}

// key is what a full page has.
type key struct {
	root
	tokens [PageTokens]int32
}

// mostTails is the number of pages that are not full and follow the same tokens of which a pool keeps the last tokens.
const mostTails = 16

func newPool(n int) pool {
	p := pool{pages: make([]page, n), index: map[key]int32{}, tails: map[root][]int32{}, idle: list.New()}
	for i := range n {
		p.free = append(p.free, int32(n-1-i))
	}
	return p
}

// available returns the number of pages that no sequence has.
func (p *pool) available() int { return len(p.free) + p.idle.Len() }

// take returns a page without tokens for a sequence. There must be one that no sequence has.
func (p *pool) take() int32 {
	if len(p.free) == 0 {
		p.evict(p.idle.Front().Value.(int32))
	}
	last := len(p.free) - 1
	i := p.free[last]
	p.free = p.free[:last]
	p.pages[i] = page{users: 1}
	return i
}

// share gives a page with a key to one more sequence.
func (p *pool) share(i int32) {
	x := &p.pages[i]
	if x.users++; x.users == 1 {
		p.wake(i)
	}
}

// wake takes a page off the list of idle ones.
func (p *pool) wake(i int32) {
	p.idle.Remove(p.pages[i].element)
	p.pages[i].element = nil
}

// release takes a page from a sequence. A page with tokens that a later sequence may have becomes idle.
func (p *pool) release(i int32) {
	x := &p.pages[i]
	if x.users--; x.users > 0 {
		return
	}
	if x.indexed || len(x.tail) > 0 {
		x.element = p.idle.PushBack(i)
		return
	}
	p.free = append(p.free, i)
}

// evict frees an idle page.
func (p *pool) evict(i int32) {
	p.wake(i)
	x := &p.pages[i]
	if x.indexed {
		delete(p.index, x.key)
	} else {
		p.cut(i)
	}
	*x = page{}
	p.free = append(p.free, i)
}

// cut removes a page from those that are not full.
func (p *pool) cut(i int32) {
	x := &p.pages[i]
	var rest []int32
	for _, j := range p.tails[x.after] {
		if j != i {
			rest = append(rest, j)
		}
	}
	x.tail = nil
	if p.tails[x.after] = rest; len(rest) == 0 {
		delete(p.tails, x.after)
	}
}

// name gives a full page of a sequence a key. If another page has it, the sequence gets that one.
func (p *pool) name(i int32, k key) int32 {
	if other, ok := p.index[k]; ok {
		p.share(other)
		p.release(i)
		return other
	}
	p.index[k] = i
	p.pages[i].indexed, p.pages[i].key = true, k
	return i
}

// find returns the full page with a key.
func (p *pool) find(k key) (int32, bool) {
	i, ok := p.index[k]
	return i, ok
}

// end notes the tokens of a page that is not full, before its sequence releases it.
func (p *pool) end(i int32, after root, tokens []int32) {
	if list := p.tails[after]; len(list) == mostTails {
		p.evict(list[0])
	}
	p.pages[i].tail, p.pages[i].after = tokens, after
	p.tails[after] = append(p.tails[after], i)
}

// resume gives a sequence that continues with tokens a page that is not full and begins like them, and returns how many of them it has.
// If these are less than half of the tokens of both, the page stays idle: it belongs to another conversation, which may continue.
func (p *pool) resume(after root, tokens []int32) (i int32, known int) {
	for _, j := range p.tails[after] {
		tail := p.pages[j].tail
		if n := common(tail, tokens); n > known && 2*n >= min(len(tail), len(tokens)) {
			i, known = j, n
		}
	}
	if known > 0 {
		p.wake(i)
		p.cut(i)
		p.pages[i] = page{users: 1}
	}
	return i, known
}

// common returns the length of the longest common prefix.
func common(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
