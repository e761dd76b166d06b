package suite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// comparison says how close a kernel's results must be to plain Go's.
type comparison struct {
	// relative is the largest error in units of the right value, or of scale where that is larger.
	relative, scale float64
	// most is how many elements are looked at, chosen at random where there are more; 0 for all.
	most int
}

// compare compares got, the elements of an output, with want.
func compare[T float](c comparison, got []T, want func(i int) float64) error {
	return examine(len(got), c.most, func(i int) error {
		g, w := float64(got[i]), want(i)
		if g == w || math.Abs(g-w) <= c.relative*max(math.Abs(w), c.scale) {
			return nil
		}
		return fmt.Errorf("element %d is %v, want %v (relative error allowed: %.3g)", i, g, w, c.relative)
	})
}

// exactly compares got with want, which must be the same.
func exactly[T comparable](got []T, want func(i int) T) error {
	return examine(len(got), 0, func(i int) error {
		if w := want(i); got[i] != w {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], w)
		}
		return nil
	})
}

// examine calls f for 0 to n-1, or for so many random ones of them, on all cores, and returns the error
// of the lowest number.
func examine(n, most int, f func(i int) error) error {
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
	inParallel(n, func(_, start, end int) {
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
