package llama

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// TestSurplusSpans checks that the parts of spans are the same with surplus spans after them.
func TestSurplusSpans(t *testing.T) {
	b := batch{rows: 1, chosen: 2, ids: make([]int32, 351), positions: make([]int32, 351), places: make([]int32, 702)}
	b.spans = []int32{0, 1, 40, 0, 1, 300, 0, 1, 301, 50, 9, 2}
	const tile = 128
	parts := func(of bulk) map[prefill.Part]int {
		p := (&Model{}).pack(&Cache{}, &b, of)
		var spans []prefill.Span
		for list := p.all[p.lists[5][0]:p.lists[5][1]]; len(list) > 0; list = list[4:] {
			spans = append(spans, prefill.Span{Row: list[0], Count: list[1], First: list[2], Keys: list[3]})
		}
		all := map[prefill.Part]int{}
		for at := range of.tokens/tile + len(spans) {
			if part := (&prefill.Layout{Causal: true, Pages: 100, MaxPages: 9}).Part(spans, at, tile, 0); part.Count > 0 {
				all[part]++
			}
		}
		return all
	}
	want, got := parts(bulk{tokens: 351, spans: 2, chosen: 2}), parts(bulk{tokens: 384, spans: 16, chosen: 32})
	if len(want) != 4 || len(got) != len(want) {
		t.Fatalf("the parts are %v, want %v", got, want)
	}
	for part := range want {
		if got[part] != 1 {
			t.Errorf("part %+v occurs %d times", part, got[part])
		}
	}
}
