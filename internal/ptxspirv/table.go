package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// translate translates the instruction.
func (t *translator) translate() {
	if t.slow && meetsInWarp(t.in) {
		t.meet()
		return
	}
	switch t.in.Op {
	case "mov":
		t.move()
	case "ld":
		t.load()
	case "st":
		t.store()
	case "atom", "red":
		t.atomic()
	case "bar":
		if t.has("warp") {
			t.warpBarrier()
			return
		}
		t.barriers()
	case "barrier":
		t.clusterBarrier()
	case "mapa":
		t.mapAddress()
	case "shfl":
		t.shuffle()
	case "vote":
		t.vote()
	case "activemask":
		t.activeMask()
	case "redux":
		t.reduce()
	case "match":
		t.match()
	case "cp":
		t.copyAsync()
	case "fence", "membar":
		t.fence(spirv.SemanticsAcquireRelease)
	case "cvta":
		t.convertAddress()
	case "setp":
		t.compare()
	case "selp":
		t.selection()
	case "cvt":
		t.convert()
	case "nanosleep", "griddepcontrol":
	default:
		if !t.computes() {
			t.fail("%s", t.in)
		}
	}
}

// computes translates arithmetic. It reports false if the instruction is none.
func (t *translator) computes() bool {
	switch t.in.Op {
	case "add":
		t.arithmetic(spirv.OpIAdd, spirv.OpFAdd)
	case "sub":
		t.arithmetic(spirv.OpISub, spirv.OpFSub)
	case "mul":
		t.multiply()
	case "mad", "fma":
		t.multiplyAdd()
	case "div":
		t.quotient(false)
	case "rem":
		t.quotient(true)
	case "min":
		t.extremum(spirv.GLSLUMin, spirv.GLSLSMin, spirv.OpFOrdLessThan)
	case "max":
		t.extremum(spirv.GLSLUMax, spirv.GLSLSMax, spirv.OpFOrdGreaterThan)
	case "neg":
		t.negate()
	case "abs":
		t.absolute()
	case "copysign":
		t.copySign()
	case "and":
		t.bitwise(spirv.OpBitwiseAnd, spirv.OpLogicalAnd)
	case "or":
		t.bitwise(spirv.OpBitwiseOr, spirv.OpLogicalOr)
	case "xor":
		t.bitwise(spirv.OpBitwiseXor, spirv.OpLogicalNotEqual)
	case "not":
		t.not()
	case "shl", "shr":
		t.shift(t.in.Op == "shl")
	default:
		return t.functions()
	}
	return true
}

// functions translates functions of one number.
func (t *translator) functions() bool {
	switch t.in.Op {
	case "popc":
		t.countBits()
	case "clz":
		t.leadingZeros()
	case "brev":
		t.reverseBits()
	case "bfe":
		t.extract()
	case "bfi":
		t.insert()
	case "rcp":
		t.function(t.reciprocal)
	case "sqrt":
		t.function(t.extended(spirv.GLSLSqrt))
	case "rsqrt":
		t.function(t.extended(spirv.GLSLInverseSqrt))
	case "ex2":
		t.function(t.extended(spirv.GLSLExp2))
	case "lg2":
		t.function(t.extended(spirv.GLSLLog2))
	case "sin":
		t.function(t.extended(spirv.GLSLSin))
	case "cos":
		t.function(t.extended(spirv.GLSLCos))
	case "tanh":
		t.function(t.extended(spirv.GLSLTanh))
	default:
		return false
	}
	return true
}
