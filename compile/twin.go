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

// gpuOnly lists the passes that are disabled for twins: they improve PTX only, or duplicate work of
// the Go compiler. Products and sums are not fused either, so that all machines compute the same results.
var gpuOnly = []string{
	"simplify-by-range", "divide-by-power", "divide-by-constant", "if-convert", "rotate", "unify-phis", "separate-offsets", "truncate-integers",
	"bypass-slow-division", "unroll-dense", "unroll-guarded", "unroll-calls", "reduce-strides", "version-kernel", "version-apart", "speculate-addresses", "hoist-checks", "fuse-checks", "expand-fdiv",
	"launch-tests", "sink-loads", "sink",
}

// twinOptions returns the options for the IR from which the twin is generated.
func (j *job) twinOptions() pass.Options {
	return pass.Options{Unroll: true, Verify: j.options.Verify, Disable: gpuOnly}
}

// Twins selects the kernels that get a twin: a Go function that runs whole blocks on the CPU.
type Twins string

// Selections of kernels that get twins.
const (
	// TwinsDefault omits twins that would save little time and make programs slower to build: the twins of
	// kernels whose blocks have one thread, and long twins of kernels without barriers or vector code. It also
	// omits the twins of all instances of a generic kernel if they would be very long together.
	TwinsDefault Twins = ""
	TwinsAll     Twins = "all"  // all kernels that can have a twin
	TwinsNone    Twins = "none" // no kernels
)

// maxPlainLines is the maximum length of a twin that saves no stacks and has no vector code. Nearly all
// kernels are shorter; longer ones contain several inlined functions of package math and spend their time there.
const maxPlainLines = 200

// maxInstanceLines is the maximum total length of the twins of a generic kernel's instances, estimated from the first one.
// Twins are committed, and every program that imports the package compiles all of them.
const maxInstanceLines = 3000

// wantsTwin reports whether a twin may be worthwhile, as far as that is known before it is generated. Go calls the methods of type
// arguments through a dictionary; a twin inlines them, which makes the sum of a chunk by an operator eight times as fast.
func (j *job) wantsTwin() bool {
	k := j.compiled
	switch {
	case j.options.Twins == TwinsNone || k.Spins:
		return false
	case j.options.Twins == TwinsAll:
		return true
	case k.native:
		return false
	case k.Barriers || k.Block.Count() != 1:
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

// declPosition is the position of a kernel's declaration.
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
	lines     map[declPosition]int // total number of lines of the twins of a kernel's instances
}

// emit adds the kernel's twin, if it gets one, and sets k.CPU, which describes how its threads run on a CPU.
func (w *twinner) emit(k *Kernel) {
	k.CPU = k.withoutTwin()
	if k.twin == nil {
		if k.native {
			k.CPU += ": //gpu:twin off"
		}
		return
	}
	at := declPosition{k.File, k.Line}
	if w.tooLong(at) {
		k.CPU += fmt.Sprintf(": the twins of its %d instances would have about %d lines", w.instances[at], w.lines[at])
		return
	}
	t, function, err := w.twin(k)
	if err != nil {
		k.CPU += ": " + err.Error()
		return
	}
	if w.which != TwinsAll && !k.Barriers && len(t.Vectors) == 0 && t.Lines > maxPlainLines {
		k.CPU += fmt.Sprintf(": a twin would have %d lines and no vector code", t.Lines)
		if len(t.Scalar) > 0 {
			k.CPU += ": " + strings.Join(t.Scalar, "; ")
		}
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

// tooLong reports whether the twins of the instances of the kernel at a position are known to be too long.
func (w *twinner) tooLong(at declPosition) bool {
	return w.which != TwinsAll && w.instances[at] > 1 && w.lines[at] > maxInstanceLines
}

// twin generates the kernel's twin and returns it with its name.
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

// withoutTwin describes how the threads of a block run if the kernel has no twin.
func (k *Kernel) withoutTwin() string {
	switch {
	case k.Spins:
		return "goroutines: threads wait for memory to change"
	case k.Barriers:
		return "coroutines"
	case k.Block.Count() == 1:
		return "plain loop: a block has one thread"
	default:
		return "plain loop"
	}
}

// withTwin describes how t runs the threads of a block.
func withTwin(t *cpu.Twin) string {
	how := "twin"
	if !t.Split {
		how = "loop"
	}
	switch {
	case len(t.Vectors) > 0 && len(t.Scalar) > 0:
		return how + " with vector code, except for " + strings.Join(t.Scalar, "; ")
	case len(t.Vectors) > 0:
		return how + " with vector code"
	case len(t.Scalar) > 0:
		return how + " without vector code: " + strings.Join(t.Scalar, "; ")
	default:
		return how
	}
}

// twinName returns the name of the kernel's twin: scanChunkAddInt32Twin for the instance scanChunk_add_int32 of a generic
// kernel, whose stem may contain characters that Go identifiers cannot.
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
