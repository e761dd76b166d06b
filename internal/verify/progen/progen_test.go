package progen_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/shrink"
)

var (
	seed    = flag.Uint64("seed", 0, "of the random kernels; 0 takes 1, and then one that is new every time")
	first   = flag.Int("first", 0, "number of the first random kernel")
	count   = flag.Int("kernels", 0, "how many random kernels of each seed to run; 0 takes 20")
	fused   = flag.Bool("contract", false, "with -seed: let products and sums fuse, and leave out what Go's own compiler makes")
	shape   = flag.String("shape", "", "with -seed: \"lanes\" are kernels of control flow, \"mixed\", \"blocks\" and \"fused\" those of NewMixed, NewBlocks and NewFused")
	onGPU   = flag.Bool("gpu", false, "with -seed: run the kernels on the first GPU, or on the device that GOPHERWARP_DEVICE selects, too")
	smaller = flag.Bool("shrink", false, "make the first kernel that differs smaller; takes minutes")
)

// bug names a kernel that is known to differ.
type bug struct {
	seed   uint64
	kernel string
}

// open has the bugs that were found and are not fixed yet.
var open = map[bug]string{}

// batch is how many kernels are compiled in one package: enough that what does not depend on
// them counts for little, and few enough for memory.
const batch = 250

// TestRandomKernels compares native Go with the interpreter. What differs, or breaks the
// compiler, is printed with the seed that brings it back.
func TestRandomKernels(t *testing.T) {
	// The collector comes when there is more than this, which little of what is made lives to see.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 29))
	if *seed != 0 {
		if progen.Shape(*shape) == nil {
			t.Fatalf("no kernels have the shape %q", *shape)
		}
		o := compare.Options{Contracted: *fused}
		if *onGPU {
			o.GPU = replay(t)
		}
		series{*seed, *shape, o, total()}.run(t, comparer(t, o))
		return
	}
	t.Run("seeds", func(t *testing.T) { // which ends when all are done
		list := all(rand.Uint64N(1e12) + 2)
		for _, o := range []compare.Options{{}, {Contracted: true}} {
			t.Run(fmt.Sprintf("contracted=%v", o.Contracted), func(t *testing.T) {
				t.Parallel()
				c := comparer(t, o) // what does not depend on kernels is compiled once
				for name, s := range list {
					if s.Contracted == o.Contracted {
						t.Run(name, func(t *testing.T) { s.run(t, c) })
					}
				}
			})
		}
	})
}

// replay builds the command that runs kernels on a GPU.
func replay(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "replay.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", name, "./replay").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// comparer returns a comparer that ends with the test.
func comparer(t *testing.T, o compare.Options) *compare.Comparer {
	c, err := compare.New("../../..", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// all returns the series of a test, by their names. Those but the first are of the fresh seed.
func all(fresh uint64) map[string]series {
	return map[string]series{
		"fixed":      {1, "", compare.Options{}, total()},
		"fresh":      {fresh, "", compare.Options{}, total()},
		"contracted": {fresh + 1, "", compare.Options{Contracted: true}, special()},
		"lanes":      {fresh, "lanes", compare.Options{}, special()},
		"mixed":      {fresh, "mixed", compare.Options{}, special()},
		"blocks":     {fresh, "blocks", compare.Options{}, special()},
		"fused":      {fresh, "fused", compare.Options{Contracted: true}, special()},
	}
}

func TestKernelsDependOnSeedAndIndex(t *testing.T) {
	if a, b := progen.New(3, 5), progen.New(3, 5); a.Source != b.Source {
		t.Error("two kernels of one seed and index differ")
	}
	if a, b := progen.New(3, 5), progen.New(4, 5); a.Source == b.Source {
		t.Error("kernels of two seeds are the same")
	}
}

// series is kernels of a seed and a shape, and how they are compared.
type series struct {
	seed  uint64
	shape string
	compare.Options
	n int
}

// hasTwins reports whether kernels of the series have twins: no twin waits for other blocks or for copies.
func (s series) hasTwins() bool { return !s.Contracted && s.shape != "blocks" }

// run compares the kernels of the series with a comparer that has its options.
func (s series) run(t *testing.T, c *compare.Comparer) {
	faulted, twins, floats := 0, 0, compare.Fused{}
	for from := 0; from < s.n; from += batch {
		var kernels []progen.Kernel
		for i := from; i < min(from+batch, s.n); i++ {
			kernels = append(kernels, progen.Shape(s.shape)(s.seed, *first+i))
		}
		report, err := c.Kernels(t.Context(), kernels)
		if err != nil {
			t.Fatalf("seed %d: %v", s.seed, err)
		}
		faulted, twins = faulted+report.Faulted, twins+report.Twins
		floats.Compared, floats.Changed = floats.Compared+report.Fused.Compared, floats.Changed+report.Fused.Changed
		verdict(t, s.seed, kernels, report, s.Options)
	}
	if twins > 0 && !s.hasTwins() || twins == 0 && s.hasTwins() && (s.n >= 50 || s.seed == 1 && s.n >= 20) {
		t.Errorf("seed %d: %d of %d kernels have twins", s.seed, twins, s.n)
	}
	if s.shape == "fused" && s.Contracted && s.n >= 50 && floats.Changed < floats.Compared/20 {
		t.Errorf("seed %d: contraction changes %d of %d floats", s.seed, floats.Changed, floats.Compared)
	}
	t.Logf("seed %d: %d kernels, %d faulted, %d have twins; of %d floats with bounds, contraction changes %d",
		s.seed, s.n, faulted, twins, floats.Compared, floats.Changed)
}

// special returns how many kernels of a special kind to run.
func special() int { return max(total()/5, 5) }

func total() int {
	if *count > 0 {
		return *count
	}
	return 20 // .ci/run takes more
}

// verdict reports the kernels that are wrong.
func verdict(t *testing.T, seed uint64, kernels []progen.Kernel, r compare.Report, o compare.Options) {
	for i, how := range r.Wrong {
		k := kernels[i]
		if why, ok := open[bug{seed, k.Name}]; ok && how != "" {
			t.Logf("seed %d: %s is a known bug: %s", seed, k.Name, why)
			r.Wrong[i] = ""
		} else if how != "" {
			t.Errorf("seed %d: %s: %s\n%s", seed, k.Name, how, k.Source)
		}
	}
	if first := slices.IndexFunc(r.Wrong, func(how string) bool { return how != "" }); first >= 0 && *smaller {
		shrinkKernel(t, kernels[first], o)
	}
}

func shrinkKernel(t *testing.T, k progen.Kernel, o compare.Options) {
	o.MayRefuse = math.MaxInt // what a compiler refuses may be what is made smaller
	c := comparer(t, o)
	whole, err := c.Kernels(t.Context(), []progen.Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	small, err := shrink.Kernel(k, func(tried []progen.Kernel) (failed []bool, err error) {
		report, err := c.Kernels(t.Context(), tried)
		for i, how := range report.Wrong {
			same := report.Refused[i] == whole.Refused[0] && (report.Refused[i] || kind(how) == kind(whole.Wrong[0]))
			failed = append(failed, how != "" && same)
		}
		return failed, err
	})
	t.Logf("smaller (%v), as a file of compare/testdata/fixedbugs:\n%s", err, compare.Format(small))
}

// figures matches what differs from kernel to kernel in what is said of them: numbers and types.
var figures = regexp.MustCompile(`\(\w+\)|0x[0-9a-f]+|\d+`)

// kind is how without its figures. What is cut from a kernel may leave one that is wrong in itself: it
// has a race, say.
func kind(how string) string { return figures.ReplaceAllString(how, "") }
