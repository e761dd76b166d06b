package attention

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// holds reports whether a table has an entry for a token.
func (s *CacheShape) holds(table []int32, at Token) bool {
	return at.Sequence >= 0 && int(at.Sequence) < len(table)/s.MaxPages && at.Position >= 0 && int(at.Position) < s.MaxPages*PageTokens
}

// slot returns where a token's elements of a head of keys are: the index of the first element of the head's page, and the token's place
// in the page. It reports false if the token is outside the table, or the page outside the cache.
func (s *CacheShape) slot(table []int32, at Token, head int) (page, place int, ok bool) {
	if !s.holds(table, at) {
		return 0, 0, false
	}
	position := int(at.Position)
	number := int(table[int(at.Sequence)*s.MaxPages+position/PageTokens])
	return (number*s.KeyHeads + head) * PageTokens * s.Dim, position % PageTokens, number >= 0 && number < s.Pages
}

// storeLanes stores a head of a token's keys and values.
//
//gpu:kernel
//gpu:block 16
func storeLanes[T any](t gpu.Thread, k, v, keys, values []T, table []int32, tokens []Token, s CacheShape) {
	head := t.BlockY()
	page, slot, ok := s.slot(table, tokens[t.BlockX()], head)
	if !ok {
		return
	}
	from := (t.BlockX()*s.KeyHeads + head) * s.Dim
	for d := t.ThreadX(); d < s.Dim; d += row.Lanes {
		keys[page+d*PageTokens+slot] = k[from+d]
		values[page+slot*s.Dim+d] = v[from+d]
	}
}

// quad is 16 bytes of elements.
type quad = [4]uint32

const storeThreads = 64 // of a block

// storeRows stores keys and values of a token, 16 bytes of each with each thread. A head has width times 16 bytes.
//
//gpu:kernel
//gpu:block 64
func storeRows(t gpu.Thread, k, v, keys, values []quad, table []int32, tokens []Token, s CacheShape, width int) {
	t.StartNext()
	i := t.BlockY()*storeThreads + t.ThreadX()
	head := i / width
	if head >= s.KeyHeads {
		return
	}
	t.AwaitPrevious()
	if page, slot, ok := s.slot(table, tokens[t.BlockX()], head); ok {
		from, to := t.BlockX()*s.KeyHeads*width+i, page/s.Dim*width+slot*width+i%width
		keys[to], values[to] = k[from], v[from]
	}
}

//gpu:instance storeLanes32 = storeLanes[float32]
//gpu:instance storeLanesBF16 = storeLanes[dtype.BF16]

// store stores in a form.
func (c Cache[T]) store(s *device.Stream, f form, x New[T]) error {
	tokens := x.Tokens.Len()
	if f != lanes {
		width := c.Dim / row.Elements[T]()
		grid := device.Blocks{X: tokens, Y: (c.KeyHeads*width + storeThreads - 1) / storeThreads}
		return StoreRows(s, grid, quads(x.K), quads(x.V), quads(c.Keys), quads(c.Values), c.Table, x.Tokens, c.CacheShape, width)
	}
	grid := device.Blocks{X: tokens, Y: c.KeyHeads}
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(New[float32])
		return storeLanes32(s, grid, x.K, x.V, c.Keys, c.Values, c.Table, x.Tokens, c.CacheShape)
	case Cache[dtype.BF16]:
		x := any(x).(New[dtype.BF16])
		return storeLanesBF16(s, grid, x.K, x.V, c.Keys, c.Values, c.Table, x.Tokens, c.CacheShape)
	}
	panic("BUG: attention: no such element type")
}
