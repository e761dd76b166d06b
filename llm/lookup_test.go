package llm

import (
	"slices"
	"testing"
)

func TestContinuation(t *testing.T) {
	for _, c := range []struct {
		tokens []int32
		n      int
		want   []int32
	}{
		{[]int32{1, 2, 3, 4, 1, 2}, 2, []int32{3, 4}},
		{[]int32{1, 2, 3, 4, 1, 2}, 5, []int32{3, 4, 1, 2, 3}},
		{[]int32{7, 7, 7}, 3, []int32{7, 7, 7}},
		{[]int32{5, 1, 2, 8, 0, 1, 2, 9, 5, 1, 2}, 1, []int32{8}}, // the longest match
		{[]int32{0, 1, 2, 8, 0, 1, 2, 9, 5, 1, 2}, 1, []int32{9}}, // the last one
		{[]int32{1, 2, 3, 4, 9, 1, 2, 3, 4, 6, 0, 2, 3, 4, 8, 1, 2, 3, 4}, 1, []int32{6}},
		{[]int32{1, 2, 3, 4, 2}, 3, nil}, // one token is too few
		{[]int32{1, 2, 1, 2}, 0, nil},
		{[]int32{1}, 3, nil},
		{[]int32{1, 1}, 3, nil},
		{nil, 3, nil},
	} {
		if got := continuation(c.tokens, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d tokens that continue %v: %v, want %v", c.n, c.tokens, got, c.want)
		}
	}
}
