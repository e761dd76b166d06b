package llama

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// fake is a Cache without a device, and what its pages would have: at each place, the salt and all tokens up to there.
type fake struct {
	*testing.T
	*Cache
	content [][PageTokens]string
	tokens  [][]int32 // of each sequence
	salts   []string
}

func newFake(t *testing.T, sequences, pages int) *fake {
	return &fake{
		T: t, Cache: &Cache{list: make([]row, sequences), pool: newPool(pages)}, content: make([][PageTokens]string, pages),
		tokens: make([][]int32, sequences), salts: make([]string, sequences),
	}
}

// at is what a place has after tokens.
func at(salt string, tokens []int32) string {
	text := append(make([]byte, 0, len(salt)+4*len(tokens)), salt...)
	for _, token := range tokens {
		text = binary.LittleEndian.AppendUint32(text, uint32(token))
	}
	return string(text)
}

// begin starts a sequence and computes the tokens that the cache does not know. It returns those that it knows.
func (f *fake) begin(q int, salt string, tokens []int32) (known int) {
	known = f.Reuse(q, Origin{Salt: salt}, tokens[:len(tokens)-1])
	f.tokens[q], f.salts[q] = append([]int32(nil), tokens[:known]...), salt
	f.check()
	f.extend(q, tokens[known:]...)
	return known
}

// extend computes tokens.
func (f *fake) extend(q int, tokens ...int32) {
	for _, id := range tokens {
		f.tokens[q] = append(f.tokens[q], id)
		position := f.grow(q)
		r := f.list[q]
		f.content[r.pages[position/PageTokens]][position%PageTokens] = at(f.salts[q], f.tokens[q])
	}
	f.Keep(q, f.tokens[q])
	f.check()
}

// check fails if a sequence has a place with what is not its own, or if the pool's lists contradict each other.
func (f *fake) check() {
	f.Helper()
	users := make([]int, len(f.pool.pages))
	for q, r := range f.list {
		if r.length != len(f.tokens[q]) || len(r.pages) != pagesOf(r.length) {
			f.Fatalf("sequence %d has %d tokens in %d pages, want %d", q, r.length, len(r.pages), len(f.tokens[q]))
		}
		for _, i := range r.pages {
			users[i]++
		}
		for i := range r.length {
			if got, want := f.content[r.pages[i/PageTokens]][i%PageTokens], at(f.salts[q], f.tokens[q][:i+1]); got != want {
				f.Fatalf("sequence %d, token %d: %x, want %x", q, i, got, want)
			}
		}
	}
	indexed, tails := 0, 0
	for i, x := range f.pool.pages {
		if x.users != users[i] || (x.element != nil) != (x.users == 0 && (x.indexed || x.tail != nil)) {
			f.Fatalf("page %d: %+v, %d sequences have it", i, x, users[i])
		}
		if x.indexed {
			indexed++
		}
		if x.tail != nil {
			tails++
		}
	}
	for _, list := range f.pool.tails {
		tails -= len(list)
	}
	if indexed != len(f.pool.index) || tails != 0 {
		f.Fatalf("%d pages have keys, the index %d; %d tails too many", indexed, len(f.pool.index), tails)
	}
}

// leave releases a sequence.
func (f *fake) leave(q int) {
	f.Release(q, f.tokens[q])
	f.tokens[q] = nil
	f.check()
}

// numbers returns n tokens.
func numbers(from, n int) (list []int32) {
	for i := range n {
		list = append(list, int32(from+i))
	}
	return list
}

func TestReuse(t *testing.T) {
	f := newFake(t, 3, 12)
	prompt := numbers(0, 200)
	if known := f.begin(0, "", prompt); known != 0 {
		t.Errorf("an empty cache knows %d tokens", known)
	}
	if known := f.begin(1, "", prompt); known != 192 {
		t.Errorf("of a running sequence, %d tokens are known, want 192", known)
	}
	if all, free := f.Pages(); all != 12 || free != 12-5 {
		t.Errorf("two sequences of three shared pages leave %d of %d free", free, all)
	}
	if known := f.begin(2, "other", prompt[:100]); known != 0 {
		t.Errorf("with another salt, %d tokens are known", known)
	}
	f.leave(1)
	f.leave(2)
	if known := f.begin(1, "", append(numbers(0, 200), 7, 8)); known != 200 {
		t.Errorf("a sequence that continues one knows %d tokens, want 200", known)
	}
	if cost := f.Cost(Origin{}, prompt[:150]); cost != 1 {
		t.Errorf("150 tokens, 128 of them in use, cost %d pages, want 1", cost)
	}
	f.leave(0)
	f.leave(1)
	if _, free := f.Pages(); free != 12 {
		t.Errorf("%d pages are free in the end", free)
	}
	f.begin(0, "", numbers(1000, 64*10)) // evicts all but the first two pages
	if known := f.begin(1, "", prompt[:64*1+1]); known != 64 {
		t.Errorf("of what was left last, %d tokens are known, want 64", known)
	}
	f.Reset()
	clear(f.tokens)
	if known := f.begin(1, "", prompt); known != 0 {
		t.Errorf("after Reset, %d tokens are known", known)
	}
}

// TestSamePages computes the same prompt in two sequences at once, which share the pages then, and continue with their own.
func TestSamePages(t *testing.T) {
	f := newFake(t, 2, 8)
	for range 3 {
		for q := range 2 {
			f.tokens[q] = append(f.tokens[q], numbers(len(f.tokens[q]), 50)...)
			for i := len(f.tokens[q]) - 50; i < len(f.tokens[q]); i++ {
				position := f.grow(q)
				f.content[f.list[q].pages[position/PageTokens]][position%PageTokens] = at("", f.tokens[q][:i+1])
			}
		}
		for q := range 2 {
			f.Keep(q, f.tokens[q])
		}
		f.check()
	}
	if _, free := f.Pages(); free != 8-4 {
		t.Errorf("two sequences of 150 tokens, 128 of them shared, leave %d pages", free)
	}
	f.extend(0, 1)
	f.extend(1, 2)
	f.Truncate(0, 100) // in a shared page
	f.tokens[0] = f.tokens[0][:64]
	f.check()
	f.extend(0, 3)
	f.leave(0)
	f.leave(1)
}

// TestRandomReuse begins, continues, shortens and releases random sequences, with tokens that often are the same.
func TestRandomReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := newFake(t, 5, 20)
	known := 0
	for range 600 {
		q := r.IntN(len(f.list))
		_, free := f.Pages()
		switch n := len(f.tokens[q]); {
		case n == 0:
			tokens := numbers(0, 1+r.IntN(200))
			for i := 40 + r.IntN(200); i < len(tokens); i++ {
				tokens[i] = int32(r.IntN(3))
			}
			salt := []string{"", "a"}[r.IntN(2)]
			if f.Cost(Origin{Salt: salt}, tokens) <= free {
				known += f.begin(q, salt, tokens)
			}
		case r.IntN(4) == 0:
			f.leave(q)
		case r.IntN(8) == 0:
			f.Truncate(q, r.IntN(n))
			f.tokens[q] = f.tokens[q][:f.Len(q)]
			f.check()
		case free >= 2 && n < 250:
			f.extend(q, int32(r.IntN(2)), int32(r.IntN(2)))
			f.extend(q, numbers(n, 1+r.IntN(60))...)
		}
	}
	if known < 200 {
		t.Errorf("only %d tokens were known", known)
	}
	for q := range f.list {
		f.leave(q)
	}
	for len(f.pool.free) < len(f.pool.pages) {
		f.pool.evict(f.pool.idle.Front().Value.(int32))
		f.check()
	}
}
