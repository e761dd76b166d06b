package ptx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Result is a kernel's code and its properties for the driver.Kernel.
type Result struct {
	PTX         string
	Target      driver.Capability // lowest capability that runs it
	Sites       []driver.Site     // indexed by the numbers that the code writes to records
	SharedBytes int
	// DynamicBytes is the size of the kernel's variables in dynamic shared memory. They are there,
	// instead of in SharedBytes, if they are larger than a kernel may declare statically. The memory
	// that a launch adds follows them.
	DynamicBytes int
	Barriers     bool // threads of a block wait for each other
	Cooperative  bool // blocks wait for each other
	Awaits       bool // all threads wait for the kernels before this one
	Spins        bool // a loop waits for other threads with atomic operations
	Exact        bool // the code runs on Target only
	Test         driver.LaunchTest
}

// Options describe the variant of a kernel to emit. The zero Options select the lowest of its
// targets.
type Options struct {
	// Target is the lowest compute capability that must run the code. It is not lower than the first of
	// Targets.
	Target driver.Capability
	Exact  bool // for Target only, whose specific instructions (sm_90a) may be used
	// Resident is the number of blocks of the fixed size that should fit on a multiprocessor at a time, which limits
	// the registers of a thread, or 0.
	Resident int
	// Sites are the sites of another variant. They keep their numbers, and new sites are appended.
	Sites []driver.Site
}

// Emit returns the PTX of kernel f, which must be the output of package pass: its calls are inlined, its
// values are scalar, and Verify accepts it. Emit does not modify f. An error names an operation that PTX
// does not support.
func Emit(f *ir.Func, o Options) (*Result, error) {
	if err := emittable(f); err != nil {
		return nil, err
	}
	if o.Target == (driver.Capability{}) {
		o.Target = Targets(f)[0]
	}
	s := newSelector(f, o)
	s.function(layout(f))
	s.faults()
	m := s.out
	dropDead(m)
	m.number()
	live := newLiveness(m)
	replacePhis(m, live, coalesce(m, live))
	preferPositive(m)
	w := &writer{leave: s.awaitAtExit() + s.cluster.leave()}
	body := w.body(m)
	return &Result{
		PTX:         s.module(w, body),
		Target:      o.Target,
		Sites:       s.sites.sites,
		SharedBytes: int(s.vars.static), DynamicBytes: int(s.vars.dynamic),
		Barriers:    uses(f, func(op ir.Op) bool { return op.Convergent() || op == ir.OpMBarrierWait }),
		Exact:       o.Exact || Exact(f),
		Cooperative: uses(f, func(op ir.Op) bool { return op == ir.OpGridBarrier }),
		Awaits:      s.awaits(),
		Spins:       slices.Contains(s.polls, true),
		Test:        launchTest(f.Blocks[0]),
	}, nil
}

// module puts the text together.
func (s *selector) module(w *writer, body string) string {
	var b strings.Builder
	b.WriteString(header(s.target, s.exact || Exact(s.f), s.f))
	for i, file := range w.files {
		fmt.Fprintf(&b, ".file %d %q\n", i+1, file)
	}
	s.doubles.declare(s.vars)
	b.WriteString("\n" + s.vars.module.String())
	if s.vars.module.Len() > 0 {
		b.WriteByte('\n')
	}
	align := 8
	if uses(s.f, func(op ir.Op) bool { return op == ir.OpTensorMap }) {
		align = driver.TensorMapAlign
	}
	fmt.Fprintf(&b, ".visible .entry %s(.param .align %d .b8 %s_params[%d])\n", s.name, align, s.name, paramBytes(s.f))
	if d := s.f.Block; d != [3]int{} {
		fmt.Fprintf(&b, ".reqntid %d, %d, %d\n", max(1, d[0]), max(1, d[1]), max(1, d[2]))
	}
	resident := s.resident
	if uses(s.f, func(op ir.Op) bool { return op == ir.OpSetMaxNReg }) {
		resident = max(1, resident) // without it ptxas does not know how many registers there are to share
	}
	if resident > 0 && s.f.Block != [3]int{} {
		fmt.Fprintf(&b, ".minnctapersm %d\n", resident)
	}
	b.WriteString("{\n" + s.vars.local.String() + w.registers() + s.cluster.registers() + "\n" + body + "}\n")
	return b.String()
}

// paramBytes returns the size of the parameter block.
func paramBytes(f *ir.Func) int {
	switch {
	case f.Blocks[0].Launch:
		return f.ParamBytes + driver.CoarseBytes + driver.TestBytes
	case f.Coarse > 0:
		return f.ParamBytes + driver.CoarseBytes
	}
	return f.ParamBytes
}

// uses reports whether f has an operation for which is holds.
func uses(f *ir.Func, is func(ir.Op) bool) bool {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if is(v.Op) {
				return true
			}
		}
	}
	return false
}

// emittable reports what passes should have removed and what PTX cannot do.
func emittable(f *ir.Func) error {
	if !f.Kernel {
		return fmt.Errorf("ptx: %s is not a kernel", f.Name)
	}
	if f.ParamBytes < driver.HiddenBytes || f.ParamBytes%8 != 0 {
		return fmt.Errorf("ptx: %s: a parameter block of %d bytes", f.Name, f.ParamBytes)
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if problem := unfit(v); problem != "" {
				return fmt.Errorf("ptx: %s: %v: %s: %s", f.Name, v.Pos, v.LongString(), problem)
			}
		}
	}
	return nil
}

// unfit returns why v cannot be emitted, or "".
func unfit(v *ir.Value) string {
	site, _ := v.Aux.(*ir.Site)
	switch {
	case v.Op == ir.OpCall:
		return "calls must be inlined"
	case v.Type.Kind >= ir.KindStruct && !v.Op.Tuple() &&
		(v.Op != ir.OpLoad && v.Op != ir.OpStruct || !isVector(v.Type)):
		return "values must be scalar"
	case site != nil && len(site.Args) > driver.MaxSiteArgs:
		return fmt.Sprintf("has %d arguments, a record holds %d", len(site.Args), driver.MaxSiteArgs)
	case v.Op == ir.OpStore || v.Op.Atomic():
		if v.Args[0].Type.Space == ir.Constant {
			return "constants cannot be written"
		}
	}
	return ""
}
