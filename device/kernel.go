package device

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Kernel is a compiled kernel. Generated code makes one for each kernel function; it must
// not be changed afterwards, and any number of devices may run it at once.
type Kernel struct {
	Name    string // of the Go function; of an instance of a generic one: "add[float32]"
	Package string // import path
	File    string // base name of the source file
	Line    int    // of the function
	Params  []Param
	// ParamBytes is the size of the parameter block: the Go struct that has the kernel's
	// parameters (without the thread) as fields, and behind it, 8-aligned, the hidden
	// parameters (see Hidden).
	ParamBytes int
	Block      Dim // fixed by //gpu:block, or zero
	Cluster    Dim // fixed by //gpu:cluster, or zero
	Shared     int // bytes of shared memory that it declares
	// Dynamic is bytes of shared memory that the kernel declares as dynamic, because all that
	// it wants is more than it may declare otherwise. They come before those of a Grid.
	Dynamic  int
	Barriers bool // threads of a block wait for each other
	// Spins is that a loop waits by atomic operations for what other threads write: on a CPU
	// threads must not take turns then.
	Spins bool
	// Cooperative is that blocks wait for each other: every launch runs all of them at once.
	Cooperative bool
	Sites       []Site
	// Integers has the offsets of the 64-bit integers in the parameter block, lengths of
	// slices among them: their values decide on narrow variants.
	Integers []int
	Variants []Variant // code for GPUs, the most demanding first
	// OnDemand says that a build has left out Variants and Twin, which gopherwarp run and gopherwarp test
	// generate (//gpu:ondemand).
	OnDemand bool
	// Native runs the Go function for each thread of ts; args points to the parameter block.
	Native func(ts *gpu.Threads, args unsafe.Pointer)
	// Twin, where it is not nil, does the same for whole blocks: it needs no stack for each thread.
	Twin func(b *gpu.Blocks, args unsafe.Pointer)
	// Sources lists the declarations that the code of the package's kernels was generated from, a line each, and Uses has
	// the numbers of this kernel's lines. Before the first launch they are compared with the source, if that is there.
	Sources string
	Uses    []uint16

	known uint32 // not 0 once they have been compared; it is accessed atomically
}

// Entry returns the name of the kernel's function in its PTX.
func (k *Kernel) Entry() string { return Entry(k.Name) }

// Entry returns the name that a kernel has in PTX: "add_float32" for "add[float32]". The names of
// functions without type arguments stay as they are.
func Entry(name string) string {
	var b strings.Builder
	gap := false // something was left out
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

// Param is a parameter of a kernel, at Offset in the parameter block. A slice has Go's
// layout there: address, length, capacity, 8 bytes each.
type Param struct {
	Name   string
	Offset int
	Size   int  // bytes of the value; 24 for a slice
	Elem   int  // bytes of a slice's element; 0 where the parameter is no slice
	Tensor bool // a tensor map
}

// Site is a place in a kernel's source that can fault or print. Format takes Args, which
// are numbers and booleans; constant strings stand in the format already.
type Site struct {
	File   string // base name
	Line   int
	Format string
	Args   []dtype.Type
}

// Variant is a kernel's code for one target and what the driver can run it on.
type Variant struct {
	Target Capability // lowest compute capability that runs it
	Exact  bool       // runs on Target only (sm_90a)
	Narrow bool       // counts on launches whose Fit is narrow
	// Coarse, where it is not 0, is how many neighbouring elements a thread does. The launch asked
	// for a thread for each, in a grid of one dimension: see Blocks.
	Coarse  int
	Aligned bool // counts on launches whose Fit is aligned
	// Body is the name of the function that it is made of, where that is not the kernel's own but one
	// that //gpu:variant gives it. Shared and Dynamic are what this one declares, then.
	Body            string
	Shared, Dynamic int
	PTX             string
}

// Memory returns the bytes of shared memory that the code declares, as Kernel has them.
func (k *Kernel) Memory(v *Variant) (shared, dynamic int) {
	if v.Body != "" {
		return v.Shared, v.Dynamic
	}
	return k.Shared, k.Dynamic
}

// Blocks returns the grid of blocks that run the variant for p.
func (v *Variant) Blocks(p *Plan) [3]int {
	blocks, _ := p.Grid()
	blocks[0], _ = p.Axis(0, v)
	return blocks
}

// Variant returns the best variant for a GPU of capability c and a launch of the given fit.
func (k *Kernel) Variant(c Capability, f Fit) (Variant, bool) {
	if i := k.Best(c, f); i >= 0 {
		return k.Variants[i], true
	}
	return Variant{}, false
}

// Best returns the index of the variant that Variant returns, or -1.
func (k *Kernel) Best(c Capability, f Fit) int {
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

// NoVariant returns an error that wraps ErrNoVariant and says what the kernel needs and what
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
		return fmt.Errorf("%s: %w: package %s is //gpu:ondemand: build the program by gopherwarp run or gopherwarp test", k.Name, ErrNoVariant, k.Package)
	}
	if needs == nil {
		needs = []string{"a CPU: it has no code for GPUs"}
	}
	return fmt.Errorf("%s: %w: %s has compute capability %v, the kernel needs %s",
		k.Name, ErrNoVariant, i.Name, i.Capability, strings.Join(needs, ", or "))
}

func (c Capability) less(d Capability) bool {
	return c.Major < d.Major || c.Major == d.Major && c.Minor < d.Minor
}

// Grid returns the grid of b blocks of the kernel's fixed size.
func (k *Kernel) Grid(b Blocks) Grid { return Grid{Blocks: b, Block: k.Block} }
