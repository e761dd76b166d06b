package ir

import "fmt"

// mbarrier checks an operation on a barrier in memory that takes a number.
func mbarrier(v *Value) string {
	if problem := nothing(v); problem != "" {
		return problem
	}
	return barrierNumber(v)
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
		return fmt.Sprintf("tells %v", v.Args[3].Type)
	}
	return bulkStore(v)
}

func tileWait(v *Value) string {
	if v.Imm < 0 || v.Imm > 15 {
		return fmt.Sprintf("cannot leave %d groups", v.Imm)
	}
	return nothing(v)
}

// Product says how OpWGMMA reads its operands.
type Product struct {
	Format Format
	// LeftDown and RightDown say that the sum runs down the columns of an operand's panels,
	// and not along their rows; it does so for elements of two bytes only.
	LeftDown, RightDown bool
}

// Where an Imm has the two truths of a Product.
const (
	leftDown  = 1 << 4
	rightDown = 1 << 5
)

// Imm returns p as the immediate of an OpWGMMA.
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

// Product returns how an OpWGMMA reads its operands.
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
	p := v.Product()
	if p.Format < 0 || p.Format >= numFormats || p.Imm() != v.Imm {
		return fmt.Sprintf("knows no product %d", v.Imm)
	}
	if (p.LeftDown || p.RightDown) && p.Format.Size() != 2 {
		return "sums down the columns of elements that have not two bytes"
	}
	return accumulator(v, v.Args[2:])
}

func accumulator(v *Value, args []*Value) string {
	n := len(args)
	if n < 4 || n > maxAccumulator || n%4 != 0 || !v.Type.Equal(ArrayOf(int64(n), F32)) {
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
