package k

import "github.com/gopherwarp/gopherwarp/gpu"

var counter int

var table = [4]float32{1, 2, 3, 4}

var Exported = []float32{1, half()}

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

func half() float32 { return 0.5 }

func set(i int) { table[i] = 0 }

//gpu:kernel
func globals(t gpu.Thread, x []float32) {
	counter++                      // want "package-level variable counter: it is written in globals"
	x[0] = table[0]                // want "package-level variable table: it is written in set"
	x[1] = Exported[1]             // want "package-level variable Exported: its initial value is not constant"
	x[2] = float32(*pointer)       // want "package-level variable pointer: it contains pointers"
	x[3] = float32(list[0])        // want "variable list: it is not a list of constants"
	x[4] = float32(copied[0])      // want "package-level variable copied: its initial value is not constant"
	x[5] = float32(copiedInner[0]) // want "package-level variable copiedInner: its initial value is not constant"
	x[6] = float32(large[len(x)])  // want "package-level variable large: it has 34359738368 bytes, and a table at most 16777216"
	x[7] = float32(set1[len(x)])   // want "package-level variable set1: it has 34359738368 bytes"
}
