package attention

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// half returns 1/256 of an element as a float16 number, whose exponent has a bit more and another bias.
func half(x dtype.F8E4M3) dtype.F16 { return dtype.F16(uint16(x)&0x80<<8 | uint16(x)&0x7f<<7) }

// widenLanes converts the pages of a head up to that of a token, on a CPU. It leaves them alone if the next token of the list needs them,
// too.
//
//gpu:kernel
//gpu:block 16
func widenLanes(t gpu.Thread, keys, values []dtype.F8E4M3, scales []dtype.F16, toKeys, toValues []float32, table []int32, tokens []Token, s CacheShape) {
	at, lane, head := tokens[t.BlockX()], t.ThreadX(), t.BlockY()
	if i := t.BlockX() + 1; i < len(tokens) && tokens[i].Sequence == at.Sequence && tokens[i].Position >= at.Position {
		return
	}
	if !s.holds(table, at) {
		return
	}
	size := PageTokens * s.Dim
	for p := range int(at.Position)/PageTokens + 1 {
		number := int(table[int(at.Sequence)*s.MaxPages+p])
		if number < 0 || number >= s.Pages {
			continue
		}
		first := number*s.KeyHeads + head
		by := scales[first*2*PageTokens:][:2*PageTokens]
		from, to := keys[first*size:][:size], toKeys[first*size:][:size]
		for g := range groups {
			scale := by[g*row.Lanes+lane].Float32() * compactExponent
			for i := g*row.Lanes + lane; i < len(to); i += PageTokens {
				to[i] = half(from[i]).Float32() * scale
			}
		}
		from, to = values[first*size:][:size], toValues[first*size:][:size]
		for i := range PageTokens {
			scale := by[PageTokens+i].Float32() * compactExponent
			for d := i*s.Dim + lane; d < (i+1)*s.Dim; d += row.Lanes {
				to[d] = half(from[d]).Float32() * scale
			}
		}
	}
}

// widenLanes converts the pages that tokens see, on a CPU.
func (c Compact[T]) widenLanes(s *device.Stream, tokens device.Slice[Token]) error {
	wide := any(c.Wide).(Cache[float32])
	grid := device.Blocks{X: tokens.Len(), Y: c.KeyHeads}
	return WidenLanes(s, grid, c.Keys, c.Values, c.Scales, wide.Keys, wide.Values, c.Table, tokens, c.CacheShape)
}

const widenThreads = 128 // of a block of widenPages

// widenPages converts a page of a span's sequence with each block, for a GPU: Y is the span, and Z the head. Each thread converts 16 elements
// of a key or a value at a time. The blocks of a span take turns.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:block 128
func widenPages(t gpu.Thread, keys, values []quad, scales []dtype.F16, toKeys, toValues [][2]row.Words, table []int32, spans []prefill.Span, s CacheShape) {
	t.StartNext()
	t.AwaitPrevious()
	span := spans[t.BlockY()]
	if span.Count < 1 || span.First < 0 {
		return
	}
	last := Token{Sequence: span.Keys, Position: span.First + span.Count - 1}
	if !s.holds(table, last) {
		return
	}
	width := s.Dim / 16
	for p := t.BlockX(); p <= int(last.Position)/PageTokens; p += t.GridDimX() {
		number := int(table[int(last.Sequence)*s.MaxPages+p])
		if number < 0 || number >= s.Pages {
			continue
		}
		first := number*s.KeyHeads + t.BlockZ()
		for i := t.ThreadX(); i < PageTokens*width; i += widenThreads {
			at, slot := first*PageTokens*width+i, first*2*PageTokens+i/width
			toKeys[at] = widened(keys[at], scales[slot].Float32()*compactExponent)
			toValues[at] = widened(values[at], scales[slot+PageTokens].Float32()*compactExponent)
		}
	}
}

// widened returns 16 elements times a scale as bfloat16 numbers.
func widened(x quad, scale float32) (y [2]row.Words) {
	for h := range y {
		var a [8]float32
		for i := range a {
			a[i] = half(dtype.F8E4M3(x[2*h+i/4]>>(i%4*8))).Float32() * scale
		}
		y[h] = row.BF16{}.Pack(a)
	}
	return y
}

// widenBlocks is the number of blocks that take the pages of a head of a span.
const widenBlocks = 32

// widenSpans converts the pages that spans see, on a GPU.
func (c Compact[T]) widenSpans(s *device.Stream, spans device.Slice[prefill.Span]) error {
	pages := device.View[[2]row.Words, T]
	grid := device.Blocks{X: min(widenBlocks, c.MaxPages), Y: spans.Len(), Z: c.KeyHeads}
	q := device.View[quad, dtype.F8E4M3]
	return WidenPages(s, grid, q(c.Keys), q(c.Values), c.Scales, pages(c.Wide.Keys), pages(c.Wide.Values), c.Table, spans, c.CacheShape)
}
