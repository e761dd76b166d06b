package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	var units, numbers []float64
	var singleUnits []float32
	for i := range 120 {
		singleUnits = append(singleUnits, float32(i)/120)
		units = append(units, float64(i)/120)
		numbers = append(numbers, float64(i)+float64(i)/128)
	}
	cases := []check.Case{
		check.Fields("conversion between integers", Resizes, resize, edges[int64]()...),
		check.Fields("conversion to floats", ConvertToFloats, toFloats, edges[int64]()...),
		check.Fields("conversion from floats", ConvertFromFloats, fromFloats, numbers...),
		{Name: "conversion of floats that do not fit", Run: misfitting},
		check.Fields("bits", Counts, count, pairs[uint64]()...),
		check.Fields("float", Float32s, compute[float32], realPairs[float32]()...).Of("float32"),
		check.Fields("float", Float64s, compute[float64], realPairs[float64]()...).Of("float64"),
		check.Fields("rounded twice", RoundTwice, contract, realPairs[float32]()...),
		check.Map("rounded once", Fused, func(p pair[float64]) float64 { return math.FMA(p.A, p.B, p.A) }, realPairs[float64]()...),
		{Name: "rounded once or twice", Run: onceOrTwice},
		check.Fields("known when it is compiled", Foresees, foreseeAll, 3, 7, 10, 251, 1000, 1<<40+7, 1<<62, math.MaxInt64, -5, math.MinInt64+5).Subnormal("TinyQuotient"),
		check.Fields("at the limit", Limits, limitsOf, numbersAtLimits()...),
		check.Fields("division of 64 bits", Divisions, dividedBy, hardDivisions()...),
		check.Fields("in the lanes of vectors", ComputesInLanes, inLanesOf, wides()...),
		check.Fields("conversion from floats in the lanes of vectors", ConvertsInLanes, integersInLanesOf, numbers...),
		check.Fields("exact sums of products", Summing, sums, smallPairs()...),
		check.Fields("math", Exacts, exactly, realPairs[float64]()...),
		check.Fields("powers of two", Scales, scaled, powers()...),
		{Name: "math.Exp", Run: exponentialsOf},
		check.Fields("math32", InSingles, inSingle, realPairs[float32]()...).Subnormal("Expm1"), // which halves its result first
		check.Map("tested together/roots", RootsTogether, rootsOfBoth, realPairs[float32]()...),
		check.Map("tested together/quotients", QuotientsTogether, quotientsOfBoth, realPairs[float32]()...),
		check.Within(check.Loose{Name: "math32, fast", Tolerance: 0x1p-19}, Approximates, approximate, singleUnits...),
		{Name: "math32, fast/Tanh", Run: tanhNear},
		{Name: "sign of a parameter's opposite", Run: parameterSigns},
		check.Fields("sign of a chosen zero", ZerosChosen, zerosOf, 0, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5),
		check.Near("math to the last bits", Evaluates, evaluate, units...),
	}
	return append(cases, integers()...)
}

// smallPairs are integers whose products are exact.
func smallPairs() (list []pair[float32]) {
	for a := range 7 {
		for b := range 7 {
			list = append(list, pair[float32]{float32(3*a - 9), float32(5*b - 14)})
		}
	}
	return list
}

func integers() []check.Case {
	return []check.Case{
		check.Fields("integer", Int8s, calculate[int8], pairs[int8]()...).Of("int8"),
		check.Fields("integer", Int16s, calculate[int16], pairs[int16]()...).Of("int16"),
		check.Fields("integer", Int32s, calculate[int32], pairs[int32]()...).Of("int32"),
		check.Fields("integer", Int64s, calculate[int64], pairs[int64]()...).Of("int64"),
		check.Fields("integer", Ints, calculate[int], pairs[int]()...).Of("int"),
		check.Fields("integer", Uint8s, calculate[uint8], pairs[uint8]()...).Of("uint8"),
		check.Fields("integer", Uint16s, calculate[uint16], pairs[uint16]()...).Of("uint16"),
		check.Fields("integer", Uint32s, calculate[uint32], pairs[uint32]()...).Of("uint32"),
		check.Fields("integer", Uint64s, calculate[uint64], pairs[uint64]()...).Of("uint64"),
		check.Fields("integer", Uints, calculate[uint], pairs[uint]()...).Of("uint"),
		neighbourCase("int8", NeighbouringInt8s),
		neighbourCase("int16", NeighbouringInt16s),
		neighbourCase("uint8", NeighbouringUint8s),
		neighbourCase("uint16", NeighbouringUint16s),
		check.Fields("shift", ShiftInt8s, shift[int8], shiftInputs[int8]()...).Of("int8"),
		check.Fields("shift", ShiftInt16s, shift[int16], shiftInputs[int16]()...).Of("int16"),
		check.Fields("shift", ShiftInt32s, shift[int32], shiftInputs[int32]()...).Of("int32"),
		check.Fields("shift", ShiftInt64s, shift[int64], shiftInputs[int64]()...).Of("int64"),
		check.Fields("shift", ShiftUint8s, shift[uint8], shiftInputs[uint8]()...).Of("uint8"),
		check.Fields("shift", ShiftUint16s, shift[uint16], shiftInputs[uint16]()...).Of("uint16"),
		check.Fields("shift", ShiftUint32s, shift[uint32], shiftInputs[uint32]()...).Of("uint32"),
		check.Fields("shift", ShiftUint64s, shift[uint64], shiftInputs[uint64]()...).Of("uint64"),
	}
}

// onceOrTwice takes either rounding of a product and a sum, as Go's specification allows.
func onceOrTwice(r *check.Run) {
	in := realPairs[float64]()
	out := check.Make[float64](r, len(in))
	r.Launch(MayFuse(r.Stream, device.Cover(len(in), 64), check.Upload(r, in...), out))
	for i, got := range check.Get(r, out) {
		once, product := math.FMA(in[i].A, in[i].B, in[i].A), in[i].A*in[i].B
		if twice := product + in[i].A; got != once && got != twice && (got == got || once == once && twice == twice) {
			r.Wrong("%v is %v, want %v or %v", in[i], got, once, twice)
		}
	}
}
