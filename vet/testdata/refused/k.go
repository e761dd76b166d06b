package refused

import (
	"fmt"
	"math/rand"
	"sort"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func kernel(t gpu.Thread, x []float32, n int) {
	seen := map[int]bool{}  // want `a kernel cannot use a map`
	x = append(x, 1)        // want `a kernel cannot use append`
	fmt.Println(n)          // want `fmt.Println: use gpu.Printf` `a kernel cannot use an interface value`
	y := make([]float32, n) // want `a kernel cannot use make with a size that is not constant`
	if n > 0 {
		s := gpu.Shared[*float32](t) // want `gpu.Shared of a type with pointers`
		*s = &x[0]
	}
	_, _ = seen, y
}

//gpu:kernel
func sorted(t gpu.Thread, x []int) {
	sort.Ints(x) // want `a kernel cannot use the function sort.Ints`
}

//gpu:kernel
func pointed(t gpu.Thread, p *int) {} // want `parameter p of kernel pointed contains a pointer`

//gpu:kernel
func Exported(t gpu.Thread) {} // want `kernel Exported is exported`

//gpu:kernl // want `unknown directive //gpu:kernl`
func typo(t gpu.Thread) {}

// gpu:kernel // want `"// gpu:kernel" is not a directive`
func spaced(t gpu.Thread) {}

//gpu:block 2048 // want `//gpu:block takes one to three sizes`
//gpu:kernel
func many(t gpu.Thread) {}

//gpu:kernel
func random(t gpu.Thread, x []float32) {
	x[0] = rand.Float32() // want `a kernel cannot call rand.Float32: from the standard library`
}

//gpu:kernel
func generic[T any](t gpu.Thread, x []T) {} // want `kernel generic has type parameters but no instances`
