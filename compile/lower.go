package compile

import (
	"cmp"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/frontend"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/pass"
)

// buildSSA builds the program's packages. One that has errors, or whose function bodies
// were not loaded, gets its declarations only. A panic stays on this goroutine, for guard.
func buildSSA(p *load.Program) *ssa.Program {
	program := ssa.NewProgram(p.Fset, ssa.InstantiateGenerics|ssa.BuildSerially)
	for _, pkg := range p.Packages {
		if pkg.IllTyped {
			program.CreatePackage(pkg.Types, nil, nil, true)
		} else {
			program.CreatePackage(pkg.Types, pkg.Syntax, pkg.Info, true)
		}
	}
	program.Build()
	return program
}

// lower compiles one kernel, or returns nil where it has diagnostics.
func (b *build) lower(u *unit, k function) (*Kernel, error) {
	name := k.instance.Name
	kernel := frontend.Kernel{Func: k.ssa, Name: device.Entry(name), Block: [3]int{k.Block.X, k.Block.Y, k.Block.Z}, Unchecked: b.options.Checks == ChecksOff}
	module, found := b.frontend.Build([]frontend.Kernel{kernel})
	if len(found) > 0 {
		b.found.Add(found...)
		return nil, nil
	}
	params, bytes := layout(k)
	f := module.Func(kernel.Name)
	if f.ParamBytes != bytes {
		panic("BUG: compile: frontend and launcher disagree on the parameter block")
	}
	compiled := &Kernel{
		Kernel: &device.Kernel{
			Name: name, Package: u.pkg.ImportPath,
			Params: params, ParamBytes: bytes, Block: k.Block,
		},
		File: k.Pos.Filename, Line: k.Pos.Line, stem: k.instance.Stem,
	}
	d, err := b.dump(name)
	if err != nil {
		return nil, err
	}
	options := pass.Options{
		Contract: b.contract(k.Kernel),
		Wide:     true,
		Verify:   true, // costs milliseconds, and wrong code more
	}
	all := optimise(module, f, options)
	if v := misplaced(all); v != nil {
		b.found.Add(diag.New(k.Pos, diag.KernelShared, "kernel %s moves data at %v by an address that is not known to be one in shared memory", name, v.Pos).
			WithHelp("hand over the address of an element of what gpu.Shared returned"))
		return nil, nil
	}
	emit(all, compiled)
	for _, f := range narrow(module, f, options, d.pass()) {
		emit(f, compiled)
	}
	if err := d.close(); err != nil {
		return nil, err
	}
	if b.options.Twins != TwinsNone {
		compiled.twin = optimise(module, f, pass.Options{Verify: true, Disable: gpuOnly})
	}
	if shared := compiled.Shared + compiled.Dynamic; shared > maxShared {
		b.found.Add(diag.New(k.Pos, diag.KernelShared, "kernel %s declares %d bytes of shared memory, a block has at most %d", name, shared, maxShared).
			WithHelp("use smaller arrays and more blocks"))
		return nil, nil
	}
	return compiled, nil
}

// narrow returns the code that runs but for huge arrays, the least demanding first. The last is for
// launches that fit in every way; where it counts on more than 32-bit indices, there is also what
// counts on less.
func narrow(m *ir.Module, f *ir.Func, o pass.Options, dump func(string, *ir.Func)) []*ir.Func {
	o.Narrow, o.Coarse, o.Aligned = true, true, true
	best := o
	best.Dump = dump
	all := []*ir.Func{optimise(m, f, best)}
	if all[0].Coarse > 0 {
		o.Coarse = false
		all = slices.Insert(all, 0, optimise(m, f, o))
	}
	if all[0].Aligned {
		o.Aligned = false
		all = slices.Insert(all, 0, optimise(m, f, o))
	}
	return all
}

// misplaced returns an operation of f that works in shared memory and has an address that may lie
// elsewhere, or nil.
func misplaced(f *ir.Func) *ir.Value {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if (v.Op == ir.OpLoadMatrix || v.Op == ir.OpFetchAsync) && v.Args[0].Type.Space != ir.Shared {
				return v
			}
		}
	}
	return nil
}

// maxShared is the shared memory, in bytes, that a block has on the GPUs that have most of it
// (sm_90, sm_100). On others the launch says no.
const maxShared = 227 << 10

// contract reports whether products and sums of the kernel may fuse.
func (b *build) contract(k decl.Kernel) bool {
	if b.options.Contract != ContractDefault {
		return b.options.Contract == ContractOn
	}
	return Contract(k.Contract) != ContractOff
}

// optimise runs the passes.
func optimise(m *ir.Module, f *ir.Func, o pass.Options) *ir.Func {
	f, err := pass.Compile(m, f, o)
	if err != nil {
		panic("BUG: " + err.Error()) // package frontend has refused recursion
	}
	return f
}

// emit adds to a kernel what the back ends make of f, for each target: first of the code for all
// launches, then of that for narrow ones, which goes in front where it differs.
func emit(f *ir.Func, k *Kernel) {
	for _, target := range ptx.Targets(f) {
		made, err := ptx.Emit(f, ptx.Options{Target: target, Sites: k.Sites})
		if err != nil {
			panic("BUG: " + err.Error()) // package frontend has refused what has no form in PTX
		}
		k.IR, k.Sites, k.Barriers, k.Cooperative, k.Spins = f, made.Sites, made.Barriers, made.Cooperative, made.Spins
		k.Shared, k.Dynamic = made.SharedBytes, made.DynamicBytes
		k.addVariant(device.Variant{Target: target, Narrow: f.Narrow, Coarse: f.Coarse, Aligned: f.Aligned, PTX: launcher.Header + "\n\n" + made.PTX})
	}
}

// addVariant adds v unless one of the variants is the same code. The most demanding stand first.
func (k *Kernel) addVariant(v device.Variant) {
	if slices.ContainsFunc(k.Variants, func(w device.Variant) bool { return w.PTX == v.PTX }) {
		return
	}
	k.Variants = append(k.Variants, v)
	slices.SortStableFunc(k.Variants, func(a, b device.Variant) int {
		return cmp.Or(cmp.Compare(b.Target.Major, a.Target.Major), cmp.Compare(b.Target.Minor, a.Target.Minor), demandingFirst(a, b))
	})
	if v.Narrow {
		k.Integers = integers(k.IR)
	}
}

func demandingFirst(a, b device.Variant) int { return cmp.Compare(demands(b), demands(a)) }

// demands orders the variants of a target by what they count on.
func demands(v device.Variant) (n int) {
	if v.Narrow {
		n++
	}
	if v.Aligned {
		n += 2
	}
	if v.Coarse > 0 {
		n += 4
	}
	return n
}

// integers returns the offsets of the parameters that a narrow variant counts on.
func integers(f *ir.Func) []int {
	var offsets []int
	for _, p := range f.Params {
		if p.Type.Kind == ir.KindI64 && int(p.Imm) < f.ParamBytes {
			offsets = append(offsets, int(p.Imm))
		}
	}
	return offsets
}
