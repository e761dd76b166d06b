package compile

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/pass"
)

// gpuOnly are the passes that a twin is better without: they serve PTX, or do what Go's compiler
// does by itself. Nor are products and sums fused, so that every machine computes the same.
var gpuOnly = []string{
	"simplify-by-range", "divide-by-constant", "if-convert", "rotate", "unify-phis", "separate-offsets", "truncate-integers",
	"bypass-slow-division", "unroll-dense", "version-kernel", "speculate-addresses", "hoist-checks", "fuse-checks", "expand-fdiv",
	"sink",
}

// twinOptions says how the code is made that the twin is written from.
func (j *job) twinOptions() pass.Options {
	return pass.Options{Unroll: true, Verify: j.options.Verify, Disable: gpuOnly}
}

// Twins says which kernels get a twin, package internal/backend/cpu's Go function for whole blocks.
type Twins string

// Which kernels get twins.
const (
	// TwinsDefault leaves out kernels that do as well without, or nearly, for the program is built faster then: one whose blocks are
	// single threads, or whose threads do not wait for each other and whose twin would be long. It leaves
	// out all instances of a generic kernel whose twins would be very long together.
	TwinsDefault Twins = ""
	TwinsAll     Twins = "all"  // all that can have one
	TwinsNone    Twins = "none" // none
)

// maxPlainLines is the length up to which a twin is worth it that saves no stacks. It is that
// of nearly all kernels that people write; what is longer has mathematics of package math in it,
// several times, and spends its time there.
const maxPlainLines = 200

// maxInstanceLines is how long the twins of all instances of a generic kernel may be together, which the first one tells: they are
// in the repository, and whoever imports the package compiles all of them.
const maxInstanceLines = 3000

// wantsTwin reports whether the kernel is worth a twin, as far as that is known without one. Go calls the methods of type arguments
// by way of a table, a twin has them inlined: the sum of a chunk by an operator is eight times as fast.
func (j *job) wantsTwin() bool {
	k := j.compiled
	switch {
	case j.options.Twins == TwinsNone || k.Spins:
		return false
	case j.options.Twins == TwinsAll || k.Barriers || k.Block.Count() != 1:
		return true
	default:
		return j.function.operators
	}
}

// instances counts the instances of each generic kernel.
func instances(kernels []*Kernel) map[declPosition]int {
	n := map[declPosition]int{}
	for _, k := range kernels {
		n[declPosition{k.File, k.Line}]++
	}
	return n
}

// A declPosition is where a kernel is declared.
type declPosition struct {
	file string
	line int
}

// twinner writes the twins of a package's kernels.
type twinner struct {
	twins     *launcher.Twins
	vectors   *launcher.Vectors
	which     Twins
	instances map[declPosition]int
	lines     map[declPosition]int // how many lines the twins of the instances of a kernel would have
}

// emit adds the kernel's twin, if it gets one, and says how its threads run on a CPU.
func (w *twinner) emit(k *Kernel) {
	k.CPU = k.withoutTwin()
	if k.twin == nil {
		return
	}
	at := declPosition{k.File, k.Line}
	if w.tooLong(at) {
		k.CPU += fmt.Sprintf(": the twins of its %d instances would have some %d lines", w.instances[at], w.lines[at])
		return
	}
	t, function, err := w.twin(k)
	if err != nil {
		k.CPU += ": " + err.Error()
		return
	}
	if w.which != TwinsAll && !k.Barriers && len(t.Vectors) == 0 && t.Lines > maxPlainLines {
		k.CPU += fmt.Sprintf(": a twin would have %d lines", t.Lines)
		return
	}
	if w.lines[at] == 0 {
		w.lines[at] = t.Lines * w.instances[at]
		if w.tooLong(at) {
			w.emit(k)
			return
		}
	}
	w.twins.Add(k.stem, function, t.Text, t.Imports)
	for _, v := range t.Vectors {
		w.vectors.Add(v.Declaration, v.Text)
	}
	k.CPU = withTwin(t)
}

// tooLong reports whether the instances of the kernel at a place are known to have too long twins.
func (w *twinner) tooLong(at declPosition) bool {
	return w.which != TwinsAll && w.instances[at] > 1 && w.lines[at] > maxInstanceLines
}

// twin returns the kernel's twin and its name.
func (w *twinner) twin(k *Kernel) (*cpu.Twin, string, error) {
	function := w.twins.Declare(twinName(k))
	t, err := cpu.Emit(k.twin, cpu.Options{
		Func: function, Params: k.Params,
		Pos:      ir.Pos{File: filepath.Base(k.File), Line: k.Line},
		Declares: w.twins.Declares, Package: w.twins.Package, Declare: w.twins.Declare,
		Vector: &cpu.VectorOptions{Path: k.Package + "/" + load.Vectors, Declare: w.vectors.Declare},
	})
	return t, function, err
}

// withoutTwin says how the threads of a block run of a kernel that has no twin.
func (k *Kernel) withoutTwin() string {
	switch {
	case k.Spins:
		return "goroutines: threads wait in memory for what others write"
	case k.Barriers:
		return "coroutines"
	case k.Block.Count() == 1:
		return "plain loop: a block is one thread"
	default:
		return "plain loop"
	}
}

// withTwin says how the threads of a block run by t.
func withTwin(t *cpu.Twin) string {
	how := "twin"
	if !t.Split {
		how = "loop"
	}
	switch {
	case len(t.Vectors) > 0 && len(t.Scalar) > 0:
		return how + " with vector code, but: " + strings.Join(t.Scalar, "; ")
	case len(t.Vectors) > 0:
		return how + " with vector code"
	case len(t.Scalar) > 0:
		return how + " without vector code: " + strings.Join(t.Scalar, "; ")
	default:
		return how
	}
}

// twinName returns the name of the kernel's twin: scanChunkAddInt32Twin for the instance scanChunk_add_int32 of a generic
// kernel, whose stem may have other characters than Go's names.
func twinName(k *Kernel) string {
	if k.stem == k.Name {
		return k.Name + "Twin"
	}
	parts := strings.FieldsFunc(k.stem, func(r rune) bool { return r == '_' || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "") + "Twin"
}
