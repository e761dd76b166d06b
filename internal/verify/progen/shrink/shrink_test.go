package shrink

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestKernelsAreValid checks the types of many kernels, which is quicker than to compile them.
func TestKernelsAreValid(t *testing.T) {
	c := newChecker()
	for _, name := range progen.Shapes() {
		for i := range 300 {
			if !sweep.Every(4, i) {
				continue
			}
			k := progen.Shape(name)(7, i)
			if err := c.valid(k.Source); err != nil {
				t.Errorf("kernel %d of shape %q: %v", i, name, err)
			}
		}
	}
}

// TestKernelsFromBytes has bytes of all kinds make valid kernels.
func TestKernelsFromBytes(t *testing.T) {
	c := newChecker()
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 100 {
		choices := make([]byte, r.IntN(400))
		for j := range choices {
			choices[j] = byte(r.Uint32())
			if i%3 == 0 {
				choices[j] = byte(i)
			}
		}
		k := progen.FromBytes(choices, i)
		if err := c.valid(k.Source); err != nil {
			t.Errorf("%x: %v\n%s", choices, err, k.Source)
		}
	}
}

// TestKernel takes a kernel to fail that has a certain function in it.
func TestKernel(t *testing.T) {
	const mark = "math.Ceil("
	index := 0
	for !strings.Contains(progen.New(1, index).Source, mark) {
		index++
	}
	calls := 0
	small, err := Kernel(progen.New(1, index), func(kernels []progen.Kernel) ([]bool, error) {
		calls++
		var failed []bool
		for _, k := range kernels {
			failed = append(failed, strings.Contains(k.Source, mark))
		}
		return failed, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(small.Source, mark) || newChecker().valid(small.Source) != nil {
		t.Errorf("the small kernel is wrong:\n%s", small.Source)
	}
	if n := strings.Count(small.Source, "\n"); n > 15 {
		t.Errorf("the small kernel has %d lines after %d calls:\n%s", n, calls, small.Source)
	}
}
