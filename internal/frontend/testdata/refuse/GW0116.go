package k

import "github.com/gopherwarp/gopherwarp/gpu"

type celsius float32

func (c celsius) String() string { return "warm" }

//gpu:kernel
func prints(t gpu.Thread, x []float32, format, n int) {
	gpu.Printf(t, "%d\n", x[0])                                                                // want "the format has %d for an argument of type float32"
	gpu.Printf(t, "%d %d\n", 1)                                                                // want "the format has %d without an argument"
	gpu.Printf(t, "\n", format, 2)                                                             // want "the format has no verb for 2 of the arguments"
	gpu.Printf(t, "%v\n", x)                                                                   // want "an argument has type \[\]float32"
	gpu.Printf(t, "%v\n", celsius(1))                                                          // want "an argument has the method String"
	gpu.Printf(t, "%*d\n", 3, format)                                                          // want "the format has %\*d, which kernels do not support"
	gpu.Printf(t, "%[1]d\n", format)                                                           // want "the format has %\[1\]d, which kernels do not support"
	gpu.Printf(t, "100%")                                                                      // want "which kernels do not support"
	args := []any{1}                                                                           // want "interface"
	gpu.Printf(t, "%d\n", args...)                                                             // want "gpu.Printf: the arguments are in a slice"
	gpu.Printf(t, "%d %d %d %d %d %d %d %d %d %d %d %d\n", n, n, n, n, n, n, n, n, n, n, n, n) // want "12 arguments; at most 11 are allowed"
}

//gpu:kernel
func builtins(t gpu.Thread, x []float32, n int) {
	println(x)                                       // want "println: an argument has type \[\]float32; only numbers, booleans and constant strings can be printed \(GW0116\)"
	print(&x[0])                                     // want "print: an argument has type \*float32"
	println(n, n, n, n, n, n, n, n, n, n, n, n, "x") // want "println: 12 arguments; at most 11 are allowed"
}
