package harness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// Comparison states how close a kernel's results must be to those of plain Go.
type Comparison struct {
	// Relative is the largest permitted error, relative to the right value or, if Scale is larger, to Scale.
	Relative, Scale float64
	// Most is the number of elements to compare, chosen at random if there are more; 0 for all.
	Most int
}

// Compare compares got, the elements of an output, with want.
func Compare[T Float](c Comparison, got []T, want func(i int) float64) error {
	return Examine(len(got), c.Most, func(i int) error {
		g, w := float64(got[i]), want(i)
		if g == w || math.Abs(g-w) <= c.Relative*max(math.Abs(w), c.Scale) {
			return nil
		}
		return fmt.Errorf("element %d is %v, want %v (relative error allowed: %.3g)", i, g, w, c.Relative)
	})
}

// Exactly is like Compare, but requires that got equals want.
func Exactly[T comparable](got []T, want func(i int) T) error {
	return Examine(len(got), 0, func(i int) error {
		if w := want(i); got[i] != w {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], w)
		}
		return nil
	})
}

// Examine calls f with the numbers from 0 to n-1, on all cores, and returns the error of the lowest number. If n is greater than most, and most is
// not 0, Examine calls f only with a random sample of size most.
func Examine(n, most int, f func(i int) error) error {
	at := func(i int) int { return i }
	if most > 0 && most < n {
		some := make([]int, most)
		for i := range some {
			some[i] = rand.IntN(n)
		}
		n, at = most, func(i int) int { return some[i] }
	}
	var mu sync.Mutex
	var first error
	lowest := n
	InParallel(n, func(_, start, end int) {
		for i := start; i < end; i++ {
			if err := f(at(i)); err != nil {
				mu.Lock()
				if i < lowest {
					lowest, first = i, err
				}
				mu.Unlock()
				return
			}
		}
	})
	return first
}
