package k

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func library(t gpu.Thread, x []int) {
	fmt.Println(x[0]) // want "cannot use the function fmt.Println \(GW0115\)\n\tuse gpu.Printf; panic"
	_ = rand.IntN(5)  // want "cannot call rand.IntN \(GW0115\)\n\tfrom the standard library, kernels can use"
	_ = time.Now()    // want "cannot use the function time.Now"
	x[0] = slices.Max(x)
	slices.Sort(x) // want "cannot call slices.Sort: inside it, .*recursion"
}
