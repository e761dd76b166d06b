package faults

import (
	_ "embed"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed indices.go
var indicesText string

//go:embed others.go
var othersText string

//go:embed beside.go
var besideText string

//go:embed elements.go
var elementsText string

//go:embed deep/deep.go
var deepText string

// Cases returns the cases of the package.
func Cases() []check.Case {
	cases := append(indexCases(), boundsCases()...)
	cases = append(cases, arithmeticCases()...)
	cases = append(cases, saidCases()...)
	cases = append(cases, elementCases()...)
	cases = append(cases, gridCases()...)
	cases = append(cases, columnCases()...)
	cases = append(cases, searchCases()...)
	cases = append(cases, patternCases()...)
	cases = append(cases, conclusionCases()...)
	cases = append(cases, sumCases()...)
	cases = append(cases, besideCases()...)
	return append(cases, waitCases()...)
}

// fault returns the fault that a kernel has to raise in block 1, thread 3.
func fault(kernel, file, mark, message string) device.Fault {
	text := map[string]string{"indices.go": indicesText, "others.go": othersText, "beside.go": besideText, "elements.go": elementsText, "deep.go": deepText, "waits.go": waitsText, "patterns.go": patternsText, "conclusions.go": conclusionsText, "sums.go": sumsText}[file]
	return device.Fault{Kernel: kernel, File: file, Line: check.Line(text, mark), Message: message, Block: [3]int{1}, Thread: [3]int{3}}
}

// indexCases are about 8 elements of int32, 4 of record and 16 of uint8.
func indexCases() []check.Case {
	var cases []check.Case
	for kind, c := range []struct {
		name    string
		n       int
		message string
	}{
		{"store behind a slice", 8, "index out of range [8] with length 8"},
		{"load behind a slice", 9, "index out of range [9] with length 8"},
		{"sum before a slice", -1, "index out of range [-1]"},
		{"increment far behind a slice", 1 << 40, "index out of range [1099511627776] with length 8"},
		{"store behind an array", 8, "index out of range [8] with length 8"},
		{"load before an array", -5, "index out of range [-5]"},
		{"array behind a pointer", 100, "index out of range [100] with length 8"},
		{"field of an element behind a slice", 4, "index out of range [4] with length 4"},
		{"array in an element", 3, "index out of range [3] with length 3"},
		{"array in an element behind a slice", 5, "index out of range [5] with length 4"},
		{"constant table", 4, "index out of range [4] with length 4"},
		{"index of uint8", 255, "index out of range [255] with length 8"},
		{"index of int8", 200, "index out of range [-56]"},
		{"index of uint64", -1, "index out of range [18446744073709551615] with length 8"},
		{"index of uint32", -1, "index out of range [4294967295] with length 8"},
		{"address of an element", 8, "index out of range [8] with length 8"},
		{"element of one byte", 16, "index out of range [16] with length 16"},
		{"nil slice", 0, "index out of range [0] with length 0"},
		{"loop that goes too far", 0, "index out of range [8] with length 8"},
		{"loop that begins too far", 0, "index out of range [8] with length 8"},
		{"in a function", 8, "index out of range [8] with length 8"},
		{"in a condition", 8, "index out of range [8] with length 8"},
		{"in an assignment of several", 8, "index out of range [8] with length 8"},
		{"index in an index", 10, "index out of range [10] with length 8"},
		{"in a generic function", 11, "index out of range [11] with length 8"},
		{"in a closure", 12, "index out of range [12] with length 8"},
		{"slice of a slice", 3, "index out of range [3] with length 3"},
		{"index that is computed", 3, "index out of range [8] with length 8"},
		{"argument of an atomic operation", 8, "index out of range [8] with length 8"},
		{"several indices", 8, "index out of range [8] with length 8"},
		{"array without elements", 0, "index out of range [0] with length 0"},
	} {
		cases = append(cases, check.Case{Name: "index: " + c.name, Run: func(r *check.Run) {
			x, y := check.Make[int32](r, 8), check.Make[uint8](r, 16)
			r.Launch(OutOfRange(r.Stream, check.Blocks(3, 5), kind, c.n, x, check.Make[record](r, 4), y))
			r.Fault(fault("outOfRange", "indices.go", fmt.Sprint("fault ", kind), c.message))
			again(r)
		}})
	}
	return cases
}

// again shows that the stream works on.
func again(r *check.Run) {
	x := check.Make[int32](r, 4)
	r.Launch(Writes(r.Stream, check.Threads(4), x, 7))
	check.Want(r, x, 0, 7, 14, 21)
}

func boundsCases() []check.Case {
	var cases []check.Case
	for _, c := range []struct {
		name          string
		kind, a, b, c int
		message       string
	}{
		{"low of a slice", 0, 9, 0, 0, "slice bounds out of range [9:8]"},
		{"negative low of a slice", 0, -1, 0, 0, "slice bounds out of range [-1:]"},
		{"high of a slice", 1, 0, 9, 0, "slice bounds out of range [:9] with capacity 8"},
		{"negative high of a slice", 1, 0, -3, 0, "slice bounds out of range [:-3]"},
		{"low above high", 2, 5, 3, 0, "slice bounds out of range [5:3]"},
		{"high with a low", 2, 5, 30, 0, "slice bounds out of range [:30] with capacity 8"},
		{"negative low with a high", 2, -2, 3, 0, "slice bounds out of range [-2:]"},
		{"capacity of three", 3, 1, 2, 9, "slice bounds out of range [::9] with capacity 8"},
		{"high above the capacity of three", 3, 1, 7, 5, "slice bounds out of range [:7:5]"},
		{"low above high of three", 3, 4, 2, 5, "slice bounds out of range [4:2:]"},
		{"low of an array", 4, 9, 0, 0, "slice bounds out of range [9:8]"},
		{"high of an array", 5, 0, 9, 0, "slice bounds out of range [:9] with length 8"},
		{"low above high of an array", 6, 5, 3, 0, "slice bounds out of range [5:3]"},
		{"slice of a slice", 7, 0, 7, 0, "slice bounds out of range [:7] with capacity 6"},
		{"conversion to an array", 8, 0, 3, 0, "cannot convert slice with length 3 to array or pointer to array with length 4"},
		{"conversion to a pointer to an array", 9, 6, 0, 0, "cannot convert slice with length 2 to array or pointer to array with length 3"},
		{"high above the capacity without a low", 10, 0, 4, 2, "slice bounds out of range [:4:2]"},
		{"made slice", 11, 0, 6, 0, "slice bounds out of range [:6] with capacity 5"},
	} {
		cases = append(cases, check.Case{Name: "bounds: " + c.name, Run: func(r *check.Run) {
			x := check.Make[int32](r, 8)
			r.Launch(Bounds(r.Stream, check.Blocks(3, 5), c.kind, c.a, c.b, c.c, x, check.Make[int32](r, 2)))
			r.Fault(fault("bounds", "others.go", fmt.Sprint("bounds ", c.kind), c.message))
			again(r)
		}})
	}
	return cases
}

func arithmeticCases() []check.Case {
	const zero, negative = "integer divide by zero", "negative shift amount"
	var cases []check.Case
	for kind, c := range []struct {
		name    string
		by      int64
		message string
	}{
		{"division of int64", 0, zero}, {"remainder of int64", 0, zero}, {"division of int8", 256, zero},
		{"remainder of uint8", 512, zero}, {"remainder of int16", 1 << 16, zero}, {"division of uint16", 0, zero},
		{"division of int32", 1 << 32, zero}, {"remainder of uint32", 0, zero}, {"division of uint64", 0, zero},
		{"shift to the left", -1, negative}, {"shift by int8", 128, negative}, {"shift of a constant", -1 << 60, negative},
		{"division of a constant", 0, zero}, {"division in a function", 0, zero}, {"overflow in math/bits", 1, "integer overflow"},
		{"division in another package", 0, zero}, {"division in a loop", -1, zero},
	} {
		cases = append(cases, check.Case{Name: "arithmetic: " + c.name, Run: func(r *check.Run) {
			want := fault("arithmetic", "others.go", fmt.Sprint("arithmetic ", kind), c.message)
			if kind == 15 {
				want = fault("arithmetic", "deep.go", "deep", c.message)
			}
			r.Launch(Arithmetic(r.Stream, check.Blocks(3, 5), kind, c.by, check.Upload[int64](r, 100, 200)))
			r.Fault(want)
			again(r)
		}})
	}
	return cases
}

func saidCases() []check.Case {
	const nilPointer = "invalid memory address or nil pointer dereference"
	var cases []check.Case
	for kind, c := range []struct {
		name    string
		message string
	}{
		{"panic with a text", "no such kind"}, {"panic with a number", "5"}, {"panic with a byte", "5"},
		{"panic with a boolean", "true"}, {"panic with a float", "2.5"}, {"panic with a percent sign", "100% of %d"},
		{"assertion", "assertion failed: n is large"}, {"panic in a function", "in a function"}, {"panic with a constant number", "42"},
		{"load from a nil pointer", nilPointer}, {"store to a nil pointer", nilPointer}, {"pointer that may be nil", nilPointer},
		{"panic with an empty text", ""}, {"panic with a double", "0.8333333333333334"}, {"panic with a negative number", "-5"},
	} {
		cases = append(cases, check.Case{Name: "panic: " + c.name, Run: func(r *check.Run) {
			r.Launch(Said(r.Stream, check.Blocks(3, 5), kind, 5, 2.5, check.Make[int64](r, 2)))
			r.Fault(fault("said", "others.go", fmt.Sprint("said ", kind), c.message))
			again(r)
		}})
	}
	return cases
}
