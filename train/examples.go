package train

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// Examples are inputs, and the label that a model should compute for each. Batches and Split panic with an error that wraps ErrOptions if
// the number of inputs does not fit the number of labels.
type Examples[X, Y any] struct {
	Inputs []X // Width numbers for each example
	Labels []Y // one for each example
	Width  int // if it is 0, the inputs are divided equally among the examples
}

// Len returns the number of examples.
func (e Examples[X, Y]) Len() int { return len(e.Labels) }

// Batches returns the examples in a random order, which seed determines, as batches. The argument size is the number of examples in a batch; the
// last batch may have fewer. A batch is valid until the iterator yields the next batch.
func (e Examples[X, Y]) Batches(size int, seed uint64) iter.Seq[Examples[X, Y]] {
	e = e.complete()
	return func(yield func(Examples[X, Y]) bool) {
		order := rand.New(rand.NewPCG(seed, 0)).Perm(e.Len())
		var b Examples[X, Y]
		for len(order) > 0 {
			n := min(max(size, 1), len(order))
			if e.take(&b, order[:n]); !yield(b) {
				return
			}
			order = order[n:]
		}
	}
}

// Split returns copies of the examples in a random order, which seed determines: the first n, and the rest.
func (e Examples[X, Y]) Split(n int, seed uint64) (first, rest Examples[X, Y]) {
	e = e.complete()
	order := rand.New(rand.NewPCG(seed, 0)).Perm(e.Len())
	n = min(max(n, 0), len(order))
	e.take(&first, order[:n])
	e.take(&rest, order[n:])
	return first, rest
}

// complete returns e with its Width. It panics if the numbers of inputs and labels do not fit.
func (e Examples[X, Y]) complete() Examples[X, Y] {
	n := e.Len()
	if e.Width == 0 && n > 0 {
		e.Width = len(e.Inputs) / n
	}
	if len(e.Inputs) != n*e.Width {
		panic(fmt.Errorf("%w: Examples have %d inputs and %d labels; the Width is %d", ErrOptions, len(e.Inputs), n, e.Width))
	}
	return e
}

// take makes to a copy of the examples with the given numbers, in memory of to if it is enough.
func (e Examples[X, Y]) take(to *Examples[X, Y], numbers []int) {
	to.Inputs, to.Labels, to.Width = to.Inputs[:0], to.Labels[:0], e.Width
	for _, i := range numbers {
		to.Inputs = append(to.Inputs, e.Inputs[i*e.Width:(i+1)*e.Width]...)
		to.Labels = append(to.Labels, e.Labels[i])
	}
}
