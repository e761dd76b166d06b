package compile

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
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
		for _, imported := range pkg.Types.Imports() {
			if imported.Path() == "C" { // of which nothing is known
				program.CreatePackage(imported, nil, nil, true)
			}
		}
		if pkg.IllTyped {
			program.CreatePackage(pkg.Types, nil, nil, true)
		} else {
			frontend.Reorder(p.Fset, pkg.Types, pkg.Syntax, pkg.Info)
			program.CreatePackage(pkg.Types, pkg.Syntax, pkg.Info, true)
		}
	}
	program.Build()
	return program
}

// job is a kernel on its way from the frontend to the back ends. Behind the frontend, jobs know nothing of each other.
type job struct {
	options  Options
	function function
	compiled *Kernel
	bodies   []lowered
	host     *ir.Func // the first body as a CPU runs it, where that is another one
	dump     *dump

	found diag.List
	err   error
}

// lowered is a body as the frontend has left it.
type lowered struct {
	body
	ir *ir.Func
}

// lower has the frontend lower a kernel's bodies.
func (b *build) lower(u *unit, k function) *job {
	name := k.instance.Name
	params, bytes := layout(k)
	j := &job{options: b.options, function: k, compiled: &Kernel{
		Kernel: &driver.Kernel{
			Name: name, Package: u.pkg.ImportPath,
			Params: params, ParamBytes: bytes, Block: k.Block, Cluster: k.Cluster, Assumes: k.Assume.Fit,
		},
		File: k.Pos.Filename, Line: k.Pos.Line, stem: k.instance.Stem, native: k.Native, origins: k.origins(b.origins, u),
	}}
	for i, body := range k.bodies {
		k.bodies[i].ssa = nil // a job does not keep the program
		kernel := frontend.Kernel{
			Func: body.ssa, Name: driver.Entry(name), Block: [3]int{k.Block.X, k.Block.Y, k.Block.Z},
			Cluster: k.Cluster.X * k.Cluster.Y * k.Cluster.Z, Unchecked: b.options.Checks == ChecksOff,
		}
		module, found := b.frontend.Build([]frontend.Kernel{kernel})
		j.found.Add(found...)
		if len(found) > 0 {
			continue
		}
		f := module.Func(kernel.Name)
		if f.ParamBytes != bytes {
			panic("BUG: compile: frontend and launcher disagree on the parameter block")
		}
		j.bodies = append(j.bodies, lowered{k.bodies[i], f})
		if i == 0 && b.options.Twins != TwinsNone && slices.ContainsFunc(module.Funcs, frontend.Approximates) {
			j.host = b.lowerHost(kernel)
		}
	}
	return j
}

// lowerHost has the frontend lower a body again, as a CPU runs it. A function that cannot be lowered leaves the kernel
// without a twin.
func (b *build) lowerHost(kernel frontend.Kernel) *ir.Func {
	kernel.Host = true
	module, found := b.frontend.Build([]frontend.Kernel{kernel})
	if len(found) > 0 {
		return nil
	}
	return module.Func(kernel.Name)
}

// compile does the rest, unless there are diagnostics.
func (j *job) compile() {
	d, err := newDump(j.compiled.Name)
	if err != nil {
		j.err = err
		return
	}
	j.dump = d
	var all []code
	for _, body := range j.bodies {
		c, wrong := j.code(body)
		j.found.Add(wrong...)
		all = append(all, c)
	}
	if j.err = d.close(); j.err != nil || len(j.found) > 0 {
		return
	}
	if j.found.Add(share(all)...); len(j.found) > 0 {
		return
	}
	if j.options.Report {
		j.compiled.Report = newReport(j)
	}
	for _, c := range all {
		emit(c.wide, c, j.compiled)
		for _, f := range c.narrow {
			emit(f, c, j.compiled)
		}
	}
	if r := j.compiled.Report; r != nil {
		r.order(j.compiled.Variants)
	}
	if j.wantsTwin() {
		j.compiled.twin = j.hostCode(all[0]).optimise(j.twinOptions())
	}
	j.bodies, j.host = nil, nil
	if j.options.Cache != "" {
		j.compiled.IR = nil
	}
	j.checkShared()
}

// hostCode returns the optimiser of what the twin is written from.
func (j *job) hostCode(c code) optimiser {
	if j.host == nil {
		return c.optimiser
	}
	return newOptimiser(j.host)
}

// code is what became of a kernel's body.
type code struct {
	body
	optimiser
	wide     *ir.Func   // for all launches that the kernel permits
	narrow   []*ir.Func // for those that are narrow
	targets  []driver.Capability
	exact    bool // for the lowest target alone
	resident int  // blocks on a multiprocessor, or 0
}

// code optimises one body.
func (j *job) code(body lowered) (code, diag.List) {
	k := j.function
	options := pass.Options{Contract: j.options.contract(k.Kernel), Wide: true, Compact: true, Verify: j.options.Verify}
	o := newOptimiser(body.ir)
	c := code{body: body.body, optimiser: o, resident: k.Resident}
	if k.Assume.Given {
		options.Narrow, options.Aligned, options.Dump = k.Assume.Narrow, k.Assume.Aligned, j.watch()
		c.wide = o.optimise(options, j.twinOptions())
	} else {
		c.wide = o.optimise(options, narrowest(options), j.twinOptions())
	}
	if v := misplaced(c.wide); v != nil {
		return c, diag.List{diag.New(k.Pos, diag.KernelShared, "kernel %s moves data at %v through an address that is not known to be in shared memory or in a slice parameter", k.instance.Name, v.Pos).
			WithHelp("pass the address of an element of a variable that gpu.Shared or gpu.DynamicShared returned")}
	}
	if v := unawaited(c.wide); v != nil {
		return c, diag.List{diag.New(k.Pos, diag.KernelAccumulator, "kernel %s uses an accumulator at %v that asynchronous products may still be writing", k.instance.Name, v.Pos).
			WithHelp("call gpu.AwaitProducts first; index an accumulator only with constants or counters of loops with at most 128 iterations, so that it stays in registers")}
	}
	if v := analysis.NewTiles(c.wide).Reused; v != nil {
		return c, diag.List{diag.New(k.Pos, diag.KernelAccumulator, "kernel %s computes a tile at %v that a product of an earlier iteration may still be reading", k.instance.Name, v.Pos).
			WithHelp("call gpu.AwaitProducts after gpu.MultiplyTilesAsync, in the same iteration")}
	}
	wrong := c.setTargets()
	if !k.Assume.Given {
		c.narrow = worthwhile(c.wide, o.narrow(options, j.watch()))
	}
	return c, wrong
}

// alike is the difference of two estimates up to which two functions take the same time for all that they tell: it
// separates the kernels of bench/suite and prim that were measured with and without their narrow variants. For a variant
// that runs only where slices are not aligned, because another one is for those that are, it is the larger number.
const (
	alike          = 0.015
	alikeUnaligned = 0.05
)

// worthwhile returns those of the functions, the least demanding first, that differ from what a launch runs
// without them: the one before, or wide. A kernel whose time does not depend on the width of indices is then
// compiled once.
func worthwhile(wide *ir.Func, narrow []*ir.Func) []*ir.Func {
	least := estimate(wide)
	best := narrow[len(narrow)-1]
	return slices.DeleteFunc(narrow, func(f *ir.Func) bool {
		e, limit := estimate(f), alike
		if best.Aligned && !f.Aligned {
			limit = alikeUnaligned
		}
		if f.Coarse == 0 && e.difference(least) < limit {
			return true
		}
		least = e
		return false
	})
}

// estimated is what a thread costs: instructions, and the registers that they need at once.
type estimated struct{ cost, registers float64 }

// difference compares two estimates. More registers mean more loads in flight, or fewer threads at once, which counts for
// less than the instructions, but may count either way.
func (e estimated) difference(other estimated) float64 {
	return math.Abs(math.Log(e.cost/other.cost)) + 0.1*math.Abs(math.Log(e.registers/other.registers))
}

func estimate(f *ir.Func) estimated {
	dom := ir.Dominators(f)
	return estimated{analysis.Cost(dom), float64(max(1, analysis.Pressure(dom)))}
}

// checkShared reports a kernel that wants more shared memory than there is.
func (j *job) checkShared() {
	k, c := j.function, j.compiled
	shared := c.Shared + c.Dynamic
	for _, v := range c.Variants {
		shared = max(shared, v.Shared+v.Dynamic)
	}
	if shared > maxShared {
		j.found.Add(diag.New(k.Pos, diag.KernelShared, "kernel %s declares %d bytes of shared memory; a block has at most %d", k.instance.Name, shared, maxShared).
			WithHelp("use smaller arrays and more blocks"))
	}
}

// optimiser makes what is needed of one body.
type optimiser struct{ *pass.Compiler }

func newOptimiser(f *ir.Func) optimiser {
	c, err := pass.NewCompiler(f)
	if err != nil {
		panic("BUG: " + err.Error()) // package frontend has refused recursion
	}
	return optimiser{c}
}

// optimise runs the passes. It looks at what comes out even where Options.Verify does not ask it to look
// after each pass: that costs little, and wrong code much. later is what it may be called with afterwards.
func (c optimiser) optimise(o pass.Options, later ...pass.Options) *ir.Func {
	f, err := c.Compile(o, later...)
	if err == nil {
		err = ir.Verify(f)
	}
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// narrow returns the code that runs but for huge arrays, the least demanding first. The last is for
// launches that fit in every way; where it counts on more than 32-bit indices, there is also what
// counts on less.
func (c optimiser) narrow(o pass.Options, dump func(string, *ir.Func)) []*ir.Func {
	o = narrowest(o)
	best, single, unaligned := o, o, o
	best.Dump, single.Coarse, unaligned.Aligned = dump, false, false
	all := []*ir.Func{c.optimise(best, single, unaligned)}
	if all[0].Coarse > 0 {
		unaligned.Coarse = false
		all = slices.Insert(all, 0, c.optimise(single, unaligned))
	}
	if all[0].Aligned {
		all = slices.Insert(all, 0, c.optimise(unaligned))
	}
	return all
}

// narrowest returns o for launches that fit in every way.
func narrowest(o pass.Options) pass.Options {
	o.Narrow, o.Coarse, o.Aligned = true, true, true
	return o
}

// misplaced returns an operation of f that works in shared memory and has an address that may lie
// elsewhere, or nil.
func misplaced(f *ir.Func) *ir.Value {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, i := range v.Op.InShared() {
				if v.Args[i].Type.Space != ir.Shared {
					return v
				}
			}
			if i := v.Op.InGlobal(); i > 0 && v.Args[i].Type.Space != ir.Global {
				return v
			}
		}
	}
	return nil
}

// unawaited returns an operation that uses what a product makes of an accumulator, and is neither another product nor
// the wait for it, or nil.
func unawaited(f *ir.Func) *ir.Value {
	flying := map[*ir.Value]bool{} // values in registers that products may be changing
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, v := range b.Values {
				if flying[v] {
					continue
				}
				switch {
				case v.Op == ir.OpWGMMA, v.Op == ir.OpWGMMATiles && !slices.ContainsFunc(v.Args[1:5], func(a *ir.Value) bool { return flying[a] }),
					(v.Op == ir.OpExtract || v.Op == ir.OpPhi) && slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return flying[a] }):
					flying[v], changed = true, true
				case v.Op == ir.OpWGMMAWait:
				case slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return flying[a] }):
					return v
				}
			}
		}
	}
	return nil
}

// maxShared is the shared memory, in bytes, that a block has on the GPUs that have most of it
// (sm_90, sm_100). On others the launch says no.
const maxShared = 227 << 10

// contract reports whether products and sums of the kernel may fuse.
func (o Options) contract(k decl.Kernel) bool {
	if o.Contract != ContractDefault {
		return o.Contract == ContractOn
	}
	return Contract(k.Contract) != ContractOff
}

// emit adds to a kernel what the back ends make of f, for each target: first of the code for all
// launches, then of that for narrow ones, which goes in front where it differs.
func emit(f *ir.Func, c code, k *Kernel) {
	for _, target := range c.targets {
		made, err := ptx.Emit(f, ptx.Options{Target: target, Exact: c.exact, Sites: k.Sites, Resident: c.resident})
		if err != nil {
			panic("BUG: " + err.Error()) // package frontend has refused what has no form in PTX
		}
		k.Sites = made.Sites
		k.Barriers, k.Cooperative = k.Barriers || made.Barriers, k.Cooperative || made.Cooperative
		k.Spins = k.Spins || made.Spins
		v := driver.Variant{Target: target, Exact: made.Exact, Narrow: f.Narrow, Coarse: f.Coarse, Aligned: f.Aligned, Awaits: made.Awaits, Test: made.Test, PTX: &driver.Text{Code: made.PTX}}
		if c.variant {
			v.Body, v.Shared, v.Dynamic = c.Name, made.SharedBytes, made.DynamicBytes
		} else {
			k.Shared, k.Dynamic = made.SharedBytes, made.DynamicBytes
		}
		if k.addVariant(v, f) && k.Report != nil {
			k.Report.Variants = append(k.Report.Variants, variantReport(f, v, k, made.SharedBytes+made.DynamicBytes))
		}
	}
}

// addVariant adds v unless one of the variants is the same code, and reports whether it did. The most demanding
// stand first.
func (k *Kernel) addVariant(v driver.Variant, f *ir.Func) bool {
	same := slices.IndexFunc(k.Variants, func(w driver.Variant) bool { return w.PTX.Code == v.PTX.Code && w.Test == v.Test })
	if same == 0 {
		k.IR = f
	}
	if same >= 0 {
		return false
	}
	k.Variants = append(k.Variants, v)
	slices.SortStableFunc(k.Variants, func(a, b driver.Variant) int {
		return cmp.Or(cmp.Compare(b.Target.Major, a.Target.Major), cmp.Compare(b.Target.Minor, a.Target.Minor), demandingFirst(a, b))
	})
	if k.Variants[0] == v {
		k.IR = f
	}
	if v.Narrow || k.Assumes.Narrow {
		k.Integers = integers(f)
	}
	return true
}

func demandingFirst(a, b driver.Variant) int { return cmp.Compare(demands(b), demands(a)) }

// demands orders the variants of a target by what they count on, those for it alone in front.
func demands(v driver.Variant) (n int) {
	if v.Narrow {
		n++
	}
	if v.Exact {
		n += 8
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
