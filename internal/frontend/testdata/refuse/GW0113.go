package k

import (
	"math"
	"os"

	"github.com/gopherwarp/gopherwarp/gpu"
)

var counter int

var table = [4]float32{1, 2, 3, 4}

var Exported = []float32{1, float32(os.Getpid())}

var list []int

var pointer = &counter

var changed = [2]int{1, 2}

var _ = change()

var copied = changed

func change() int { changed[0] = 9; return 0 }

var inner = [2]int{1, 2}

var _ = func() int { inner[0] = 9; return 0 }()

var copiedInner = inner

var large [1 << 32]int

var set1 = [1 << 32]int{7: 1}

var endless = spin()

var deep = ackermann(4, 1)

var negative = elementOf(-1)

var zero = quotient(1, 0)

var counts = count("a map")

var shapes = areas(square{2})

var huge = make2(1 << 21)

var empty = sieve(0)

var angry = [2]float64{math.Sqrt(2), mustPositive(-1)}

var before = lastUpTo(-1)

var usesWritten = table[0] + sumOf(changed)

var usesOther = half(counts[0])

func half(x int) int { return x / 2 }

func lastUpTo(n int) int { s := []int{1, 2}[:n]; return s[len(s)-1] }

func spin() (n [4]int) {
	for {
		n[0]++
	}
}

func ackermann(m, n int) int {
	switch {
	case m == 0:
		return n + 1
	case n == 0:
		return ackermann(m-1, 1)
	}
	return ackermann(m-1, ackermann(m, n-1))
}

func elementOf(i int) int { return []int{1, 2}[i] }

func quotient(a, b int) int { return a / b }

func count(s string) [4]int {
	m := map[rune]int{}
	for _, r := range s {
		m[r]++
	}
	return [4]int{m['a']}
}

type square struct{ side float32 }

type shape interface{ area() float32 }

func (s square) area() float32 { return s.side * s.side }

func areas(s shape) [1]float32 { return [1]float32{s.area()} }

func make2(n int) []int8 { return make([]int8, n) }

func sieve(n int) []int { return make([]int, n) }

func mustPositive(x float64) float64 {
	if x < 0 {
		panic("negative")
	}
	return x
}

func sumOf(x [2]int) float32 { return float32(x[0] + x[1]) }

func set(i int) { table[i] = 0 }

//gpu:kernel
func globals(t gpu.Thread, x []float32) {
	counter++                      // want "package-level variable counter: it is written in globals"
	x[0] = table[0]                // want "package-level variable table: it is written in set"
	x[1] = Exported[1]             // want "package-level variable Exported: its initial value is not constant, and the compiler cannot compute it: it calls os.Getpid, which has no Go source .GW0113.go:14"
	x[2] = float32(*pointer)       // want "package-level variable pointer: it contains pointers"
	x[3] = float32(list[0])        // want "variable list: it is not a list of constants"
	x[4] = float32(copied[0])      // want "package-level variable copied: .* it uses the package-level variable changed: it is written in change"
	x[5] = float32(copiedInner[0]) // want "package-level variable copiedInner: .* it uses the package-level variable inner: it is written in init"
	x[6] = float32(large[len(x)])  // want "package-level variable large: it has 34359738368 bytes, and a table at most 16777216"
	x[7] = float32(set1[len(x)])   // want "package-level variable set1: it has 34359738368 bytes"
}

//gpu:kernel
func computed(t gpu.Thread, x []float32) {
	x[0] = float32(endless[0]) // want "endless: .* it takes more than 4194304 steps .GW0113.go:6"
	x[1] = float32(deep)       // want "deep: .* it has more than 1000 nested calls"
	x[2] = float32(negative)   // want "negative: .* index out of range: .-1. with length 2"
	x[3] = float32(zero)       // want "zero: .* it divides by zero"
	x[4] = float32(counts[0])  // want "counts: .* it uses what the compiler cannot evaluate: make map"
	x[5] = shapes[0]           // want "shapes: .* it uses"
	x[6] = float32(huge[0])    // want "huge: .* it allocates more than 1048576 elements"
	x[7] = float32(empty[0])   // want "empty: .* it is an empty slice"
	x[8] = float32(angry[1])   // want "angry: .* it panics"
	x[9] = usesWritten         // want "usesWritten: .* it uses the package-level variable table: it is written in set"
	x[11] = float32(before)    // want "before: .* slice bounds out of range"
	x[10] = float32(usesOther) // want "usesOther: .* it uses the package-level variable counts: its initial value is not constant"
}
