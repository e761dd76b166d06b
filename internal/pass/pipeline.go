package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// A step is a pass at its place in the pipeline.
type step struct {
	name string
	run  func(f *ir.Func, o *Options)
	// required steps establish what the back ends rely on; the others can be disabled.
	required bool
}

// pipeline is everything that happens to a kernel between the frontend and a back end. A
// pass may stand in it more than once.
var pipeline = []step{
	{"inline", inline, true},
	{"simplify-cfg", simplifyCFG, false},
	{"split-values", splitValues, true},
	{"simplify", simplify, false}, // constant offsets, before locals are split
	{"split-allocas", splitAllocas, false},
	{"mem2reg", mem2reg, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"split-allocas", splitAllocas, false}, // whose addresses were in locals
	{"mem2reg", mem2reg, false},
	{"hoist-allocas", hoistAllocas, true},
	{"spaces", spaces, false},
	{"gvn", gvn, false},
	{"simplify", simplify, false},
	{"gvn", gvn, false},
	{"checks", eliminateChecks, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"narrow", narrow, false},
	{"divide", divideByConstant, false},
	{"simplify", simplify, false},
	{"gvn", gvn, false},
	{"contract", contract, false},
	{"if-convert", ifConvert, false},
	{"simplify", simplify, false},
	{"rotate", rotate, false},
	{"simplify", simplify, false},
	{"unify-phis", unifyPhis, false},
	{"simplify", simplify, false},
	{"unroll", unroll, false},
	{"split-allocas", splitAllocas, false}, // whose indices are constant now
	{"mem2reg", mem2reg, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"dce", deadCode, false},
	{"gvn", gvn, false},
	{"licm", licm, false},
	{"checks", eliminateChecks, false},
	{"version", version, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"gvn", gvn, false},
	{"licm", licm, false},
	{"dce", deadCode, false},
	{"simplify-cfg", simplifyCFG, false},
}

// order lists what must hold between passes: every before stands in front of the first
// after that follows, and at least one before exists.
var order = []struct{ before, after, reason string }{
	{"inline", "split-values", "values of aggregate type must not pass through calls any more"},
	{"split-values", "mem2reg", "only loads and stores of scalars are promoted"},
	{"split-allocas", "mem2reg", "only scalar locals are promoted"},
	{"mem2reg", "spaces", "a pointer in a local has no known space until the local is gone"},
}
