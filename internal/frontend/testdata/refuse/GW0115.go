package k

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func library(t gpu.Thread, x []int) {
	fmt.Println(x[0]) // want "cannot use the function fmt.Println \(GW0115\)\n\tuse gpu.Printf; panic"
	_ = rand.IntN(5)  // want "cannot call rand.IntN \(GW0115\)\n\tfrom the standard library, kernels can use"
	_ = time.Now()    // want "cannot use the function time.Now"
	time.Sleep(1)     // want "cannot use the function time.Sleep \(GW0115\)\n\tmeasure time on the host, with events; gpu.Sleep lets a thread wait"
	sort.Ints(x)      // want "cannot use the function sort.Ints \(GW0115\)\n\tsort with a kernel of many threads, or on the host; kernels can use sort.Search"
	x[0] = slices.Max(x)
	slices.Sort(x) // want "cannot call slices.Sort: inside it, .*recursion"
}
