package ptxspirv

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// Options describe a launch and the device.
type Options struct {
	Block    [3]int // threads of a block
	Cluster  [3]int // blocks of a cluster, or zeros; the threads of a cluster are one workgroup
	Shared   int    // bytes of dynamic shared memory
	Subgroup int    // lanes of the device's subgroups, or 0 if their number varies
	Push     int    // bytes of push constants that the device has
	Lacks    Features
	Views
	Arithmetic
}

// Arithmetic is what a device can promise for float32 and for float64, and what was seen of it.
type Arithmetic struct {
	Fused       bool    // Fma rounds once
	FoldsZeros  bool    // the device's compiler forgets that -0+0 is 0 and x/0 is infinite if it knows the 0
	LosesValues bool    // the device's compiler may lose values that a loop has computed for threads that leave it early
	Shallow     bool    // the device's compiler ignores conditions that are nested deeply, or crashes
	SignedZero  [2]bool // zeros keep their signs, infinities and NaNs are as in IEEE 754
	Denormals   [2]bool // subnormal numbers are not zeros
	Nearest     [2]bool // results are rounded to nearest
}

// Program is a translated kernel. Its push constants are the address of Data and, from byte 8 on, the parameter block, or its address.
type Program struct {
	Words  []uint32
	Pushed bool   // the parameter block is in the push constants, not its address
	Data   []byte // the constants, which the caller places in device memory
	Shared int    // bytes of shared memory of the workgroup
}

// Translate returns the kernel with a name as SPIR-V. Errors match ErrUnsupported.
func Translate(m *ptx.Module, name string, o Options) (*Program, error) {
	f := m.Func(name)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("ptxspirv: no kernel %s", name)
	}
	g, err := newGraph(f, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	t := &translator{Builder: spirv.New(), f: f, files: m.Files, graph: g, options: o}
	t.declare(m)
	t.refuseLost()
	t.beginLock()
	if g.meets {
		t.beginMeetings()
	}
	if t.list(nest(g), nil) {
		t.Emit(spirv.OpReturn)
	}
	if t.err != nil {
		return nil, t.err
	}
	return &Program{Words: t.finish(), Pushed: t.parameters != 0, Data: t.data, Shared: t.sharedTotal}, nil
}

// refuseLost fails for kernels that a device whose compiler loses values has been seen to compile wrongly: those with operations of some lanes,
// those that take the lock, and those with clusters that run in rounds.
func (t *translator) refuseLost() {
	if !t.options.LosesValues || t.err != nil {
		return
	}
	for i := range t.f.Code {
		in := &t.f.Code[i]
		what := ""
		switch {
		case ofSomeLanes(in):
			what = "of some lanes of a warp"
		case t.needsLockFor(*in):
			what = "of 8 bytes in shared memory"
		case t.clustered && t.inRounds && (in.Op == "bar" || isClusterWait(in)):
			what = "in a cluster"
		default:
			continue
		}
		t.in = in
		t.fail("%s %s: the compiler of this driver loses values of loops; a newer driver may not", in, what)
		return
	}
}

// translator translates one kernel.
type translator struct {
	*spirv.Builder
	*graph
	f       *ptx.Func
	files   map[int]string // names, for positions
	options Options
	in      *ptx.Instr // that is being translated
	mods    []string   // of it
	err     error      // the first one

	registers   []spirv.ID          // variables
	definitions []*ptx.Instr        // by register, for definition; nil until it needs them
	exit        spirv.ID            // variable: where a jump goes that leaves several constructs, plus 1, or 0
	addresses   map[*ptx.Var]uint64 // of variables in their spaces
	builtins    map[uint32]spirv.ID // variables
	push        spirv.ID            // variable
	parameters  int                 // words of the parameter block among the push constants
	shared      spirv.ID            // variable: an array of words, unless there are views
	views       map[view]spirv.ID   // variables: shared memory as elements of several types
	hiddenBytes int                 // of shared memory, after the kernel's own, that the translation uses; only with views
	local       spirv.ID            // variable: an array of words
	scratch     spirv.ID            // variable: a word of shared memory for barriers that reduce, for each block
	lock        spirv.ID            // variable: the word of shared memory that locked takes, or 0
	round       round
	meeting     meeting
	gone        spirv.ID // variable: the thread is a shadow; 0 in kernels without shadows
	sharedBytes int      // of a block
	sharedTotal int      // of the workgroup, with what the translation uses
	localBytes  int
	data        []byte
	doubles     bool // there is arithmetic in float64
	generic     bool // addresses may be of shared or local memory
}

// fail records an error at the instruction that is being translated.
func (t *translator) fail(format string, args ...any) {
	if t.err != nil {
		return
	}
	t.err = fmt.Errorf("%s: %w: %s", t.position(), ErrUnsupported, fmt.Sprintf(format, args...))
}

// position returns where the instruction is in the program's source, or in the PTX if that does not say it.
func (t *translator) position() string {
	if l := t.in.Loc; l.File != 0 {
		return fmt.Sprintf("%s:%d:%d", t.files[l.File], l.Line, l.Col)
	}
	return fmt.Sprintf("line %d of the PTX", t.in.Line)
}

// declare declares the types, variables and modes that all kernels have.
func (t *translator) declare(m *ptx.Module) {
	for _, c := range []uint32{
		spirv.CapabilityShader, spirv.CapabilityInt64, spirv.CapabilityPhysicalStorageBufferAddresses,
	} {
		t.Capability(c)
	}
	t.Extension("SPV_KHR_physical_storage_buffer")
	t.addresses, t.builtins, t.views = map[*ptx.Var]uint64{}, map[uint32]spirv.ID{}, map[view]spirv.ID{}
	for _, r := range t.f.Regs {
		t.registers = append(t.registers, t.Local(t.pointer(spirv.StorageFunction, t.register(r.Type))))
	}
	t.exit = t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.declarePush()
	t.lay(slices.Concat(m.Vars, t.f.Vars))
	for i := range t.f.Code {
		in := &t.f.Code[i]
		t.generic = t.generic || in.Op == "cvta" && (slices.Contains(in.Mods, "shared") || slices.Contains(in.Mods, "local"))
	}
	if t.options.Views.Any {
		t.sharedTotal = t.sharedBytes * t.blockCount()
	} else if t.sharedBytes > 0 {
		t.shared = t.words(spirv.StorageWorkgroup, t.sharedBytes*t.blockCount())
	}
	if t.localBytes > 0 {
		t.local = t.words(spirv.StorageFunction, t.localBytes)
	}
}

// words returns a variable: an array of words.
func (t *translator) words(storage uint32, bytes int) spirv.ID {
	if storage == spirv.StorageWorkgroup {
		t.sharedTotal += align(bytes, 4)
	}
	if storage == spirv.StorageWorkgroup && t.options.Views.Any {
		return t.hiddenWords(bytes)
	}
	array := t.Type(spirv.OpTypeArray, t.u32(), t.word(uint32(bytes+3)/4))
	if p := t.pointer(storage, array); storage == spirv.StorageFunction {
		return t.Local(p)
	} else {
		return t.Variable(p, storage)
	}
}

// lay gives variables their addresses.
func (t *translator) lay(list []*ptx.Var) {
	for _, v := range list {
		switch v.Space {
		case ptx.Shared:
			if v.Extern {
				continue
			}
			t.sharedBytes = align(t.sharedBytes, v.Align)
			t.addresses[v] = uint64(t.sharedBytes)
			t.sharedBytes += v.Size()
		case ptx.Local:
			t.localBytes = align(t.localBytes, v.Align)
			t.addresses[v] = uint64(t.localBytes)
			t.localBytes += v.Size()
		case ptx.Const, ptx.Global:
			t.constant(v)
		}
	}
	t.sharedBytes = align(t.sharedBytes, 16)
	for _, v := range list {
		if v.Space == ptx.Shared && v.Extern {
			t.addresses[v] = uint64(t.sharedBytes)
		}
	}
	t.sharedBytes = t.sharedBytes + t.options.Shared
	if t.blockCount() > 1 {
		t.sharedBytes = align(t.sharedBytes, 16)
	}
}

// constant adds a variable with its initial contents to the data.
func (t *translator) constant(v *ptx.Var) {
	at := align(len(t.data), max(v.Align, 16))
	t.addresses[v] = uint64(at)
	t.data = append(t.data, make([]byte, at+v.Size()-len(t.data))...)
	for _, x := range v.Init {
		if x.Symbol != "" {
			t.err = fmt.Errorf("line %d of the PTX: %w: the address of %s in a constant", x.Line, ErrUnsupported, x.Symbol)
			return
		}
		for k := range x.Size {
			t.data[at+x.Offset+k] = byte(x.Bits >> (8 * k))
		}
	}
}

func align(n, to int) int { return (n + to - 1) / to * to }

// finish returns the module's words.
func (t *translator) finish() []uint32 {
	b := t.options.Block
	if n := t.blockCount(); n > 1 {
		b = [3]int{n * t.threads(), 1, 1}
	}
	modes := [][]uint32{{spirv.ModeLocalSize, uint32(b[0]), uint32(b[1]), uint32(b[2])}}
	for i, wide := range []bool{false, true} {
		if wide && !t.doubles {
			continue
		}
		for _, x := range []struct {
			can              bool
			capability, mode uint32
		}{
			{t.options.SignedZero[i], spirv.CapabilitySignedZeroInfNan, spirv.ModeSignedZeroInfNan},
			{t.options.Denormals[i], spirv.CapabilityDenormPreserve, spirv.ModeDenormPreserve},
			{t.options.Nearest[i], spirv.CapabilityRoundingModeRTE, spirv.ModeRoundingModeRTE},
		} {
			if x.can {
				t.Capability(x.capability)
				modes = append(modes, []uint32{x.mode, uint32(32 << i)})
			}
		}
	}
	return t.Module(spirv.Entry{Name: "main", Modes: modes})
}

// instructions translates those of a block.
func (t *translator) instructions(i int) {
	for _, in := range t.blocks[i].code {
		t.in, t.mods = in, in.Mods
		if t.translate(); t.err != nil {
			return
		}
	}
	if tail := t.blocks[i].tail; tail != nil {
		tail(t)
	}
}

// has reports whether the instruction has a modifier.
func (t *translator) has(mod string) bool { return slices.Contains(t.mods, mod) }

// typ returns the type that is the last modifier, or the one before for 1.
func (t *translator) typ(fromEnd int) ptx.Type {
	for _, s := range slices.Backward(t.mods) {
		if typ, ok := ptx.ParseType(s); ok {
			if fromEnd == 0 {
				return typ
			}
			fromEnd--
		}
	}
	t.fail("%s has no type", t.in)
	return ptx.B32
}
