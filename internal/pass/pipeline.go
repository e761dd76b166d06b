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
	{"spill-values", spillValues, true},
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
	{"chain", chain, false},
	{"split-allocas", splitAllocas, false}, // whose indices are constant now
	{"mem2reg", mem2reg, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"dce", deadCode, false},
	{"gvn", gvn, false},
	{"unroll-dense", unrollDense, false},
	{"loads", loads, false},
	{"licm", licm, false},
	{"checks", eliminateChecks, false},
	{"version", version, false},
	{"batch", batch, false},
	{"bound-checks", boundChecks, false},
	{"cover-checks", coverChecks, false},
	{"simplify", simplify, false},
	{"addresses", addresses, false},
	{"shorten", shorten, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"gvn", gvn, false},
	{"licm", licm, false},
	{"dce", deadCode, false},
	{"dead-loops", deadLoops, false},
	{"simplify-cfg", simplifyCFG, false},
	{"short-divide", shortDivide, false},
	{"lift-checks", liftChecks, false},
	{"lift-addresses", liftAddresses, false},
	{"early-checks", earlyChecks, false},
	{"fuse-checks", fuseChecks, false},
	{"coarsen", coarsen, false},
	{"wide", wide, false},
	{"quotients", quotients, false},
	{"sink", sink, false},
}

// forks are the passes that do not do the same for all options, and what of them they read. Passes behind one read what
// it reads.
var forks = map[string]func(o *Options) any{
	"checks":   func(o *Options) any { return o.Narrow }, // as all do that ask for ranges
	"contract": func(o *Options) any { return o.Contract },
	"unroll":   func(o *Options) any { return [...]bool{o.Unroll, o.Compact} }, // which begins here
	"coarsen":  func(o *Options) any { return o.Coarse },
	"wide":     func(o *Options) any { return [...]bool{o.Wide, o.Aligned} },
}

// order lists what must hold between passes: every run of after has a run of before in front
// of it.
var order = []struct{ before, after, reason string }{
	{"inline", "split-values", "aggregates must not pass through calls any more"},
	{"inline", "spill-values", "what a call takes and returns has no place in memory"},
	{"spill-values", "split-values", "large aggregates must not be taken apart"},
	{"split-values", "mem2reg", "only loads and stores of scalars are promoted"},
	{"dce", "dead-loops", "a loop is idle once the stores to unread locals are gone"},
	{"simplify", "split-allocas", "a local is split at offsets that are constants"},
	{"split-allocas", "mem2reg", "only scalar locals are promoted"},
	{"mem2reg", "hoist-allocas", "a local in a loop that becomes a value need not be cleared in every round"},
	{"mem2reg", "spaces", "a pointer in a local has no known space"},
	{"spaces", "licm", "without spaces every store may change every load"},
	{"gvn", "checks", "facts about a value hold for its equals only once they are one"},
	{"narrow", "divide", "a dividend that is not negative needs no correction of its sign"},
	{"gvn", "contract", "a product that two sums share is one value, so that each decides alike"},
	{"contract", "rotate", "a sum and its product must not be torn apart by the loop's edge"},
	{"if-convert", "rotate", "a condition of two parts is one test, which can move to the bottom"},
	{"gvn", "loads", "an address that is computed twice is one value only then"},
	{"spaces", "loads", "without spaces every store may change every load"},
	{"simplify", "unify-phis", "counters are compared by their constants"},
	{"rotate", "licm", "only a body that runs at least once lets checks and loads out"},
	{"split-allocas", "unroll-dense", "a product is added to a register only then"},
	{"unroll", "chain", "a loop that disappears needs no shorter way around"},
	{"chain", "addresses", "the indices of four rounds differ by constants, which addresses have for free"},
	{"rotate", "version", "a counter that is tested at the bottom has a last value"},
	{"checks", "version", "a loop is copied only for checks that are not proved"},
	{"checks", "addresses", "an index without its constant is not the one that was checked"},
	{"addresses", "shorten", "an offset that stands behind an extension is not found"},
	{"shorten", "early-checks", "what fits behind a check need not fit in front of it"},
	{"version", "batch", "the test in front of a loop is better than one in every fourth round"},
	{"checks", "bound-checks", "a kernel is copied only for checks that are not proved"},
	{"bound-checks", "cover-checks", "what no check is left of need not be compared with others"},
	{"bound-checks", "shorten", "indices are sums and products of 64 bits only in front of it"},
	{"version", "cover-checks", "what moves up would look like a part of the loop's test"},
	{"cover-checks", "addresses", "an index without its constant is not the one that was checked"},
	{"cover-checks", "shorten", "indices are sums and products of 64 bits only in front of it"},
	{"batch", "addresses", "the indices of four rounds differ by constants, which addresses have for free"},
	{"version", "early-checks", "what moves up would look like a part of the loop's test"},
	{"shorten", "lift-checks", "what fits behind a check need not fit in front of it"},
	{"lift-checks", "lift-addresses", "a check in front of a load keeps its address"},
	{"lift-checks", "fuse-checks", "only checks side by side become one branch"},
	{"divide", "short-divide", "a division by a constant needs no test"},
	{"narrow", "short-divide", "a division that is known to fit needs no test"},
	{"licm", "short-divide", "a division leaves a loop more easily than its blocks do"},
	{"early-checks", "fuse-checks", "only checks side by side become one branch"},
	{"addresses", "wide", "neighbours are known by their offsets from one address"},
	{"fuse-checks", "wide", "accesses do not move over checks, which are out of their way only then"},
	{"shorten", "coarsen", "the index of a thread is one 32-bit value only then"},
	{"loads", "coarsen", "what a thread stores and loads again would hold the stores up"},
	{"fuse-checks", "coarsen", "what a check needs beyond its condition is out of the way only then"},
	{"coarsen", "wide", "it reads accesses of numbers, not of arrays"},
	{"coarsen", "quotients", "the elements of a thread are tested together"},
	{"wide", "quotients", "behind loads and before stores that stand together there is more to take together"},
	{"fuse-checks", "sink", "what tells faults apart is wanted only after one"},
}
