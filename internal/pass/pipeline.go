package pass

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A step is a pass at its place in the pipeline.
type step struct {
	name string
	run  func(f *ir.Func, o *Options)
	// required steps establish what the back ends rely on; the others can be disabled.
	required bool
}

// No pass calls another one. The functions then and rounds combine passes.

// then returns a step that runs pass, and the others if pass reports a change.
func then(pass func(f *ir.Func, o *Options) bool, others ...func(f *ir.Func, o *Options)) func(f *ir.Func, o *Options) {
	return rounds(1, pass, others...)
}

// rounds is like then, and repeats all of them while pass reports a change, but not more than n times.
func rounds(n int, pass func(f *ir.Func, o *Options) bool, others ...func(f *ir.Func, o *Options)) func(f *ir.Func, o *Options) {
	return func(f *ir.Func, o *Options) {
		for i := 0; i < n && pass(f, o); i++ {
			for _, p := range others {
				p(f, o)
			}
		}
	}
}

// untilUnchanged is rounds without a limit.
func untilUnchanged(pass func(f *ir.Func, o *Options) bool, others ...func(f *ir.Func, o *Options)) func(f *ir.Func, o *Options) {
	return rounds(math.MaxInt, pass, others...)
}

// unrolling repeats a pass that fully unrolls innermost loops: its copies let the loop around them follow. The values that
// become dead would count in the next round.
func unrolling(pass func(f *ir.Func, o *Options) bool) func(f *ir.Func, o *Options) {
	return rounds(6, pass, mem2reg, trivialPhis, simplify, simplifyCFG, gvn, deadCode)
}

// trivialPhis is removePhis as a pass.
func trivialPhis(f *ir.Func, _ *Options) { removePhis(f) }

// pipeline is everything that happens to a kernel between the frontend and a back end. A
// pass may stand in it more than once.
var pipeline = []step{
	{"inline", inline, true},
	{"simplify-cfg", simplifyCFG, false},
	{"demote-aggregates", demoteAggregates, true},
	{"scalarize", scalarize, true},
	{"simplify", simplify, false}, // constant offsets, before locals are split
	{"sroa", sroa, false},
	{"mem2reg", mem2reg, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"sroa", sroa, false}, // whose addresses were in locals
	{"mem2reg", mem2reg, false},
	{"hoist-allocas", hoistAllocas, true},
	{"infer-address-spaces", inferAddressSpaces, false},
	{"gvn", gvn, false},
	{"simplify", simplify, false},
	{"gvn", gvn, false},
	{"prove", prove, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"simplify-by-range", simplifyByRange, false},
	{"divide-by-power", divideByPower, false},
	{"simplify", simplify, false},
	{"gvn", gvn, false},
	{"contract", contract, false},
	{"if-convert", untilUnchanged(ifConvert, simplifyCFG), false},
	{"simplify", simplify, false},
	{"rotate", then(rotate, mem2reg, simplifyCFG), false},
	{"simplify", simplify, false},
	{"unify-phis", unifyPhis, false},
	{"simplify", simplify, false},
	{"unroll-directed", unrolling(unrollDirected), false},
	{"unroll", unrolling(unroll), false},
	{"unroll-partial", then(unrollPartial, mem2reg, deadCode), false},
	{"sroa", sroa, false}, // whose indices are constant now
	{"mem2reg", mem2reg, false},
	{"infer-address-spaces", inferAddressSpaces, false}, // of pointers that were in locals
	{"simplify", simplify, false},
	{"sroa", sroa, false}, // whose addresses were in locals
	{"mem2reg", mem2reg, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"dce", deadCode, false},
	{"gvn", gvn, false},
	{"unroll-dense", unrolling(unrollDense), false},
	{"load-elimination", loadElimination, false},
	{"if-convert", untilUnchanged(ifConvert, simplifyCFG), false}, // where a block only loaded again what it knew
	{"simplify", simplify, false},
	{"licm", licm, false},
	{"scalar-promotion", scalarPromotion, false},
	{"mem2reg", mem2reg, false},
	{"prove", prove, false},
	{"version-kernel", versionKernel, false},
	{"version-apart", versionApart, false},
	{"load-elimination", loadElimination, false}, // between which there are stores to other slices
	{"version-loops", then(versionLoops, mem2reg, simplifyCFG), false},
	{"unroll-guarded", unrolling(unrollGuarded), false},
	{"licm", licm, false}, // of loads that checks, or stores to other slices, have kept in their loops
	{"scalar-promotion", scalarPromotion, false},
	{"mem2reg", mem2reg, false},
	{"interleave", then(interleave, mem2reg), false},
	{"dce", deadCode, false}, // the tests of checks that are gone use addresses
	{"reduce-strides", then(reduceStrides, simplify, deadCode), false},
	{"unroll-calls", then(unrollCalls, mem2reg, simplifyCFG, prove), false}, // what only the first iteration has to ask, the copies know
	{"subsume-checks", subsumeChecks, false},
	{"simplify", simplify, false},
	{"separate-offsets", separateOffsets, false},
	{"truncate-integers", truncateIntegers, false},
	{"divide-by-constant", divideByConstant, false},
	{"simplify", simplify, false},
	{"simplify-cfg", simplifyCFG, false},
	{"gvn", gvn, false},
	{"licm", licm, false},
	{"scalar-promotion", scalarPromotion, false},
	{"mem2reg", mem2reg, false},
	{"dce", deadCode, false},
	{"loop-deletion", untilUnchanged(loopDeletion), false},
	{"simplify-cfg", simplifyCFG, false},
	{"bypass-slow-division", bypassSlowDivision, false},
	{"speculate-checks", speculateChecks, false},
	{"speculate-addresses", speculateAddresses, false},
	{"hoist-checks", hoistChecks, false},
	{"fuse-checks", fuseChecks, false},
	{"coarsen", coarsen, false},
	{"vectorize-memory", vectorizeMemory, false},
	{"expand-fdiv", then(expandFDiv, simplify, deadCode), false},
	{"launch-tests", launchTests, false},
	{"dce", deadCode, false},
	{"sink-loads", then(sinkLoads, deadCode), false}, // whose addresses are computed elsewhere
	{"sink", sink, false},
	{"drop-unroll", dropUnroll, true},
}

// forks are the passes that depend on options, with the options that they read. Later passes read no others before the
// next fork.
var forks = map[string]func(o *Options) any{
	"prove":            func(o *Options) any { return o.Narrow }, // as all do that ask for ranges
	"contract":         func(o *Options) any { return o.Contract },
	"unroll":           func(o *Options) any { return [...]bool{o.Unroll, o.Compact} }, // which begins here
	"coarsen":          func(o *Options) any { return o.Coarse },
	"vectorize-memory": func(o *Options) any { return [...]bool{o.Wide, o.Aligned} },
}

// order lists what must hold between passes: a run of before precedes every run of after.
var order = []struct{ before, after, reason string }{
	{"inline", "scalarize", "aggregates must no longer pass through calls"},
	{"inline", "demote-aggregates", "arguments and results of calls cannot be in memory"},
	{"demote-aggregates", "scalarize", "large aggregates must not be taken apart"},
	{"scalarize", "mem2reg", "only loads and stores of scalars are promoted"},
	{"dce", "loop-deletion", "a loop has no effects once the stores to unread locals are gone"},
	{"simplify", "sroa", "a local is split at offsets that are constants"},
	{"sroa", "mem2reg", "only scalar locals are promoted"},
	{"mem2reg", "hoist-allocas", "a local in a loop that becomes a value need not be cleared in every iteration"},
	{"mem2reg", "infer-address-spaces", "a pointer in a local has no known space"},
	{"infer-address-spaces", "licm", "without spaces every store may change every load"},
	{"gvn", "prove", "facts about a value hold for equal values only once they are one"},
	{"simplify-by-range", "divide-by-power", "a dividend that is not negative needs no correction of its sign"},
	{"simplify-by-range", "divide-by-constant", "a dividend that is not negative needs no correction of its sign"},
	{"truncate-integers", "divide-by-constant", "a remainder has a known range, the difference in its place has none"},
	{"gvn", "contract", "a product that two sums share is one value, so that both decide alike"},
	{"contract", "rotate", "the loop's edge must not separate a sum from its product"},
	{"if-convert", "rotate", "a condition of two parts is one test, which can move to the bottom"},
	{"gvn", "load-elimination", "an address that is computed twice is one value only then"},
	{"infer-address-spaces", "load-elimination", "without spaces every store may change every load"},
	{"simplify", "unify-phis", "counters are compared by their constants"},
	{"rotate", "licm", "checks and loads leave only a body that runs at least once"},
	{"sroa", "unroll-dense", "a product is added to a register only then"},
	{"unroll-directed", "unroll", "a directive decides"},
	{"rotate", "unroll-directed", "tests at the bottom can be left out of copies"},
	{"interleave", "drop-unroll", "it leaves loops with directives alone"},
	{"unroll", "unroll-partial", "a loop that is fully unrolled need not be unrolled by four"},
	{"version-loops", "unroll-guarded", "a loop without checks can be unrolled without their copies"},
	{"version-loops", "unroll-calls", "a loop without checks can be unrolled without their copies"},
	{"version-loops", "reduce-strides", "an index that is checked is computed anyway"},
	{"interleave", "reduce-strides", "it finds the addresses of iterations by their indices"},
	{"reduce-strides", "unroll-calls", "loads whose addresses advance by a stride are unrolled, too"},
	{"interleave", "unroll-calls", "it finds the blocks before loops, and has joined iterations of those with loads that wait"},
	{"unroll-calls", "separate-offsets", "the indices of the iterations differ by constants, which cost nothing in addresses"},
	{"unroll-calls", "expand-fdiv", "the divisions of four iterations are tested together"},
	{"unroll-guarded", "separate-offsets", "the indices of the iterations differ by constants, which cost nothing in addresses"},
	{"unroll-partial", "separate-offsets", "the indices of four iterations differ by constants, which cost nothing in addresses"},
	{"licm", "scalar-promotion", "an address is computed outside of the loop only then"},
	{"rotate", "version-loops", "a counter that is tested at the bottom has a last value"},
	{"prove", "version-loops", "a loop is copied only for checks that are not proved"},
	{"prove", "separate-offsets", "an index without its constant is not the one that was checked"},
	{"separate-offsets", "truncate-integers", "a constant below an extension is not found"},
	{"truncate-integers", "hoist-checks", "what fits 32 bits after a check need not fit before it"},
	{"version-loops", "interleave", "one test before a loop is better than one in every fourth iteration"},
	{"prove", "version-kernel", "a kernel is copied only for checks that are not proved"},
	{"version-kernel", "version-apart", "its test is added to that of the kernel's copy"},
	{"version-apart", "version-loops", "a kernel with more loops is too large to be copied"},
	{"version-apart", "launch-tests", "the test is for the launcher"},
	{"version-kernel", "version-loops", "one test in the launch's parameters is better than one before each loop"},
	{"version-kernel", "subsume-checks", "checks that are gone need not be compared with others"},
	{"version-kernel", "truncate-integers", "indices are 64-bit sums and products only before it"},
	{"version-loops", "subsume-checks", "a check that moves up would look like a part of the loop's test"},
	{"subsume-checks", "separate-offsets", "an index without its constant is not the one that was checked"},
	{"subsume-checks", "truncate-integers", "indices are 64-bit sums and products only before it"},
	{"interleave", "separate-offsets", "the indices of four iterations differ by constants, which cost nothing in addresses"},
	{"version-loops", "hoist-checks", "a check that moves up would look like a part of the loop's test"},
	{"truncate-integers", "speculate-checks", "what fits 32 bits after a check need not fit before it"},
	{"speculate-checks", "speculate-addresses", "a check before a load keeps the load's address in its block"},
	{"speculate-checks", "fuse-checks", "only adjacent checks become one branch"},
	{"divide-by-constant", "bypass-slow-division", "a division by a constant needs no test"},
	{"simplify-by-range", "bypass-slow-division", "a division that is known to fit needs no test"},
	{"licm", "bypass-slow-division", "a division leaves a loop more easily than its blocks do"},
	{"hoist-checks", "fuse-checks", "only adjacent checks become one branch"},
	{"separate-offsets", "vectorize-memory", "adjacent accesses are recognised by their offsets from one address"},
	{"fuse-checks", "vectorize-memory", "accesses do not move over checks, which are out of the way only then"},
	{"truncate-integers", "coarsen", "the index of a thread is one 32-bit value only then"},
	{"load-elimination", "coarsen", "a load of what the thread has stored would delay the stores"},
	{"fuse-checks", "coarsen", "what a check needs beyond its condition is out of the way only then"},
	{"coarsen", "vectorize-memory", "it reads accesses of numbers, not of arrays"},
	{"coarsen", "expand-fdiv", "the elements of a thread are tested together"},
	{"vectorize-memory", "expand-fdiv", "between joined loads and joined stores there are more quotients to test together"},
	{"version-kernel", "launch-tests", "most of the tests are its"},
	{"coarsen", "launch-tests", "a coarse grid has fewer blocks than the kernel knows of"},
	{"vectorize-memory", "sink-loads", "of adjacent loads, one alone must not move"},
	{"launch-tests", "sink-loads", "the computations of tests would hinder it"},
	{"launch-tests", "sink", "the computations of tests would hinder it"},
	{"fuse-checks", "sink", "what distinguishes faults is needed only after a fused check has failed"},
}
