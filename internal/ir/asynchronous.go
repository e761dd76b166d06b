package ir

import "fmt"

// mbarrier checks an operation on a barrier in memory that takes a number.
func mbarrier(v *Value) string {
	if problem := nothing(v); problem != "" {
		return problem
	}
	return barrierNumber(v)
}

func mbarrierSend(v *Value) string {
	if problem := nothing(v); problem != "" {
		return problem
	}
	a := v.Args
	ok := a[0].Type.IsPtr() && a[1].Type.IsPtr() && a[2].Type.Kind == KindI64 && a[3].Type.Kind == KindI32
	return want(ok, "sends %v to %v of block %v, for a barrier of type %v", a[2].Type, a[1].Type, a[3].Type, a[0].Type)
}

func mbarrierTest(v *Value) string {
	if v.Type.Kind != KindI1 {
		return fmt.Sprintf("makes %v", v.Type)
	}
	return barrierNumber(v)
}

func barrierNumber(v *Value) string {
	ok := v.Args[0].Type.IsPtr() && v.Args[1].Type.Kind == KindI32
	return want(ok, "takes %v and %v", v.Args[0].Type, v.Args[1].Type)
}

func tileFetch(v *Value) string { return tileCopy(v, 3) }

func tileStore(v *Value) string { return tileCopy(v, 2) }

// tileCopy checks a copy that takes addresses, and then coordinates.
func tileCopy(v *Value, addresses int) string {
	for i, a := range v.Args {
		if i < addresses != a.Type.IsPtr() || i >= addresses && a.Type.Kind != KindI32 {
			return fmt.Sprintf("has argument %d of type %v", i, a.Type)
		}
	}
	return nothing(v)
}

func bulkStore(v *Value) string {
	if !v.Args[0].Type.IsPtr() || !v.Args[1].Type.IsPtr() || v.Args[2].Type.Kind != KindI32 {
		return fmt.Sprintf("cannot copy %v bytes between %v and %v", v.Args[2].Type, v.Args[0].Type, v.Args[1].Type)
	}
	return nothing(v)
}

func bulkFetch(v *Value) string {
	if !v.Args[3].Type.IsPtr() {
		return fmt.Sprintf("has a barrier of type %v", v.Args[3].Type)
	}
	return bulkStore(v)
}

func tileWait(v *Value) string {
	if v.Imm < 0 || v.Imm > 15 {
		return fmt.Sprintf("cannot leave %d groups", v.Imm)
	}
	return nothing(v)
}

// Product describes the operands of an OpWGMMA or OpWGMMATiles.
type Product struct {
	Format Format
	// LeftDown and RightDown report whether the sum runs down the columns of an operand's
	// panels rather than along their rows, which requires elements of two bytes.
	LeftDown, RightDown bool
}

// The bits of an Imm that hold the booleans of a Product.
const (
	leftDown  = 1 << 4
	rightDown = 1 << 5
)

// Imm returns p as the immediate of an operation.
func (p Product) Imm() int64 {
	imm := int64(p.Format)
	if p.LeftDown {
		imm |= leftDown
	}
	if p.RightDown {
		imm |= rightDown
	}
	return imm
}

// Product returns the description of the operands of an OpWGMMA or OpWGMMATiles.
func (v *Value) Product() Product {
	return Product{Format(v.Imm & (leftDown - 1)), v.Imm&leftDown != 0, v.Imm&rightDown != 0}
}

// maxAccumulator is the number of a thread's elements of the largest accumulator: of 64x256.
const maxAccumulator = 128

// wgmma rejects products on which a driver's compiler might crash.
func wgmma(v *Value) string {
	if len(v.Args) < 2 || !v.Args[0].Type.IsPtr() || !v.Args[1].Type.IsPtr() {
		return "wants two addresses"
	}
	if problem := product(v); problem != "" {
		return problem
	}
	if len(v.Args) == 2 {
		return accumulatorType(v)
	}
	return accumulator(v, v.Args[2:])
}

func wgmmaTiles(v *Value) string {
	if len(v.Args) < 5 || !v.Args[0].Type.IsPtr() {
		return "wants an address and four tiles"
	}
	for i, a := range v.Args[1:5] {
		if a.Type.Kind != KindI32 {
			return fmt.Sprintf("has tile %d of type %v", i, a.Type)
		}
	}
	if p := v.Product(); p.Format.Size() != 2 || p.LeftDown {
		return fmt.Sprintf("knows no product %d of tiles", v.Imm)
	}
	if problem := product(v); problem != "" {
		return problem
	}
	return accumulator(v, v.Args[5:])
}

// product checks the Product of an operation.
func product(v *Value) string {
	p := v.Product()
	if p.Format < 0 || p.Format >= numFormats || p.Imm() != v.Imm {
		return fmt.Sprintf("knows no product %d", v.Imm)
	}
	if (p.LeftDown || p.RightDown) && p.Format.Size() != 2 {
		return "sums down the columns of elements that have not two bytes"
	}
	return ""
}

// accumulatorType checks that the operation's result is an accumulator.
func accumulatorType(v *Value) string {
	t := v.Type
	ok := t.Kind == KindArray && t.Elem.Kind == KindF32 && t.Len >= 4 && t.Len <= maxAccumulator && t.Len%4 == 0
	return want(ok, "makes %v, which is no accumulator", t)
}

func accumulator(v *Value, args []*Value) string {
	if problem := accumulatorType(v); problem != "" {
		return problem
	}
	if n := len(args); int64(n) != v.Type.Len {
		return fmt.Sprintf("makes %v of an accumulator of %d elements", v.Type, n)
	}
	for i, a := range args {
		if a.Type.Kind != KindF32 {
			return fmt.Sprintf("has element %d of type %v", i, a.Type)
		}
	}
	return ""
}

func wgmmaWait(v *Value) string {
	if v.Imm < 0 || v.Imm > 7 {
		return fmt.Sprintf("cannot leave %d groups", v.Imm)
	}
	return accumulator(v, v.Args)
}

// setMaxNReg checks the count: PTX ISA, setmaxnreg.
func setMaxNReg(v *Value) string {
	n := max(v.Imm, -v.Imm)
	if n < 24 || n > 256 || n%8 != 0 {
		return fmt.Sprintf("cannot have %d registers", n)
	}
	return nothing(v)
}
