package driver

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Kernel is a compiled kernel. Generated code declares a Kernel for each kernel function, and for
// each instance of a generic kernel. A Kernel must not be changed. Any number of devices may run
// it.
type Kernel struct {
	Name    string // the name of the Go function; "add[float32]" for an instance of a generic function
	Package string // import path
	File    string // base name of the source file
	Line    int    // the line of the function
	Params  []Param
	// ParamBytes is the size of the parameter block: a Go struct whose fields are the kernel's
	// parameters (without the thread), followed by the hidden parameters, 8-aligned.
	ParamBytes int
	Block      Dim // fixed by //gpu:block, or zero
	Cluster    Dim // fixed by //gpu:cluster, or zero
	Shared     int // bytes of static shared memory
	// Dynamic is the size in bytes of shared memory that the kernel declares and the compiler places
	// in dynamic shared memory, because the total exceeds the limit for static shared memory. This
	// memory precedes the memory that Grid.Shared requests.
	Dynamic  int
	Barriers bool // whether the kernel has block barriers
	// Spins means that a loop polls memory that other threads write: a CPU must not run the
	// threads one after the other.
	Spins bool
	// Cooperative means that blocks wait for each other, so all blocks of a launch must run at the
	// same time.
	Cooperative bool
	Sites       []Site
	// Assumes is the set of properties that all launches must have (//gpu:assume). Other launches
	// return an error.
	Assumes Fit
	// Integers lists the offsets, in the parameter block, of the 64-bit integers and slice lengths
	// that determine Fit.Narrow. It is empty if no code of the kernel depends on Fit.Narrow.
	Integers []int
	Variants []Variant // code for GPUs, in order of preference
	// OnDemand means that the build has omitted Variants and Twin (//gpu:ondemand). gopherwarp run
	// and gopherwarp test generate them.
	OnDemand bool
	// Native runs the Go function for each thread of ts; args points to the parameter block.
	Native func(ts *gpu.Threads, args unsafe.Pointer)
	// Twin, if not nil, runs whole blocks without a stack for each thread.
	Twin func(b *gpu.Blocks, args unsafe.Pointer)
	// Sources lists the declarations that the code of the package's kernels was generated from, one
	// per line. Uses contains the indices of the lines that concern this kernel. Before the first
	// launch, package device compares these declarations with the source files, if the files are on
	// this machine.
	Sources string
	Uses    []uint16

	known uint32 // not 0 after the comparison; accessed atomically
}

// Entry returns the name of the kernel's function in its PTX.
func (k *Kernel) Entry() string { return Entry(k.Name) }

// Entry returns the PTX name of the kernel with the given name: "add_float32" for "add[float32]".
// If the kernel has no type arguments, both names are the same.
func Entry(name string) string {
	var b strings.Builder
	gap := false // characters were left out
	for _, r := range name {
		if !plain(r) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

func plain(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// Environment reports whether the kernel's code uses an environment (see EnvBytes).
func (k *Kernel) Environment() bool { return len(k.Sites) > 0 || k.Cooperative }

// Grid returns a grid of blocks of the kernel's fixed size.
func (k *Kernel) Grid(blocks Dim) Grid { return Grid{Blocks: blocks, Block: k.Block} }

// Param is a parameter of a kernel, at Offset in the parameter block. A slice has Go's layout:
// address, length and capacity, 8 bytes each.
type Param struct {
	Name   string
	Offset int
	Size   int  // in bytes; 24 for a slice
	Elem   int  // size of a slice's element in bytes; 0 if the parameter is not a slice
	Tensor bool // whether the parameter is a tensor map
}

// Site is a place in a kernel's source that can fault or print. Format is a format of package fmt.
// Args are the types of its arguments, which are numbers and booleans. If Args is nil, each verb of
// Format has an argument of type int64.
type Site struct {
	File   string // base name
	Line   int
	Format string
	Args   []dtype.Type
}

// Variant is a kernel's code for one target and one kind of launch.
type Variant struct {
	Target Capability // lowest compute capability that runs the code
	Exact  bool       // whether the code runs only on Target (sm_90a)
	Narrow bool       // the code requires Fit.Narrow
	// Coarse, if not 0, is the number of neighboring elements that each thread computes. The code
	// then requires Fit.Line, and runs with fewer blocks (see Blocks).
	Coarse  int
	Aligned bool // the code requires Fit.Aligned
	// Awaits means that all threads of the code wait for the preceding kernel of the stream, so
	// that the launch need not wait.
	Awaits bool
	// Body is the name of the //gpu:variant function that the code was compiled from, or empty for
	// the kernel's own function. If Body is not empty, Shared and Dynamic replace those of the
	// Kernel.
	Body            string
	Shared, Dynamic int
	// Test computes the value of the extra parameter that tells the code about the launch (see
	// TestBytes).
	Test LaunchTest
	PTX  *Text
}

// Memory returns the values of Kernel.Shared and Kernel.Dynamic that apply to a variant.
func (k *Kernel) Memory(v *Variant) (shared, dynamic int) {
	if v.Body != "" {
		return v.Shared, v.Dynamic
	}
	return k.Shared, k.Dynamic
}

// ParamBytes returns the size of the parameter block of v, a variant of k.
func (v *Variant) ParamBytes(k *Kernel) int {
	switch {
	case v.Test != "":
		return k.ParamBytes + CoarseBytes + TestBytes
	case v.Coarse > 0:
		return k.ParamBytes + CoarseBytes
	}
	return k.ParamBytes
}

// Blocks returns the number of blocks along each axis that run p with the variant.
func (v *Variant) Blocks(p *Plan) [3]int {
	blocks, _ := p.Grid()
	blocks[0], _ = p.Axis(0, v)
	return blocks
}

// Variant returns the best variant for a GPU of capability c and a launch with properties f.
func (k *Kernel) Variant(c Capability, f Fit) (Variant, bool) {
	if i := k.Best(c, f); i >= 0 {
		return k.Variants[i], true
	}
	return Variant{}, false
}

// Best is like Variant, but returns the index of the variant, or -1 if there is none. It assumes
// that the launch also has the properties in k.Assumes.
func (k *Kernel) Best(c Capability, f Fit) int {
	f.Narrow, f.Aligned = f.Narrow || k.Assumes.Narrow, f.Aligned || k.Assumes.Aligned
	for i := range k.Variants {
		v := &k.Variants[i]
		if v.Narrow && !f.Narrow || v.Coarse > 0 && !f.Line || v.Aligned && !f.Aligned {
			continue
		}
		if v.Target == c || !v.Exact && !c.less(v.Target) {
			return i
		}
	}
	return -1
}

// NoVariant returns an error that wraps ErrNoVariant and states what the kernel needs and what
// the device has.
func (k *Kernel) NoVariant(i Info) error {
	var needs []string
	for _, v := range k.Variants {
		text := v.Target.String() + " or later"
		if v.Exact {
			text = v.Target.String() + " exactly"
		}
		if !slices.Contains(needs, text) {
			needs = append(needs, text)
		}
	}
	if k.OnDemand {
		return fmt.Errorf("%s: %w: package %s is //gpu:ondemand; build the program with gopherwarp run or gopherwarp test", k.Name, ErrNoVariant, k.Package)
	}
	if needs == nil {
		needs = []string{"a CPU: it has no code for GPUs"}
	}
	has := "%s has compute capability %v"
	if i.Kind == "vulkan" { // GPUs of other makers have no such number
		has = "through Vulkan, %s runs kernels for compute capability %v"
	}
	return fmt.Errorf("%s: %w: "+has+", the kernel needs %s", k.Name, ErrNoVariant, i.Name, i.Capability, strings.Join(needs, ", or "))
}
