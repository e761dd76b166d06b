// Package math32 implements the functions of package math for float32, for kernels and for ordinary
// Go code. Functions whose names do not begin with Fast return the same bits on the CPU, in the
// interpreter and on every GPU, except that some drivers of Vulkan treat subnormal numbers as 0.
// They use only operations that IEEE 754 requires to be correctly rounded.
//
//	//gpu:kernel
//	func logistic(t gpu.Thread, x []float32) {
//		if i := t.GlobalX(); i < len(x) {
//			x[i] = 1 / (1 + math32.Exp(-x[i]))
//		}
//	}
//
// The special cases are those of package math. The documentation states errors in ULP, units in the
// last place of the true value.
//
// The Fast functions are faster on a GPU, but have larger errors, and their results differ between
// GPUs.
//
// # Bounds
//
// The table lists for each function of one argument the documented bound of the error in ULP, the
// largest error, and the input with the largest error, as a number and as its bits. The table
// covers all float32 values; the command math32/ulp reproduces it. The last two columns are numbers
// of instructions on an H200, over all branches: of the function, and of its counterpart in CUDA
// (nvcc 13.5, without fast math).
//
//	          bound   worst  at                             instructions, nvcc
//	Exp        0.9  0.8913  -5.848642       0xc0bb2813     22     9
//	Exp2       0.9  0.8784  -126.4965       0xc2fcfe35     20     4
//	Expm1      1.5  1.4215  17.011887       0x41881858     25    24
//	Log       0.95  0.9194  1.5664918       0x3fc882ce     26    31
//	Log2       1.1  1.0825  1.3948053       0x3fb288fb     32    33
//	Log10     0.95  0.9284  0.64716136      0x3f25ac5e     29    32
//	Log1p      1.1  1.0200  0.41468033      0x3ed450fb     32    31
//	Sqrt       0.5  0.5000  4.701977e-38    0x017fffff     35    35
//	Rsqrt      0.5  0.5000  3.418066e-38    0x013a18e3     15     4
//	Sin        1.6  1.5360  65094.05        0x477e460d     70   120
//	Cos        1.6  1.5398  2.0377874e+11   0x523dc8a3     71   121
//	Tan        3.1  3.0434  29771.3         0x46e8969a     71   117
//	Asin       1.8  1.7808  0.7397294       0x3f3d5ee8     23    25
//	Acos       1.1  1.0699  0.56817263      0x3f1173c3     26    26
//	Atan       1.4  1.3812  1.0087918       0x3f812017     21    19
//	Sinh       1.7  1.6198  1.4302648       0x3fb712eb     41    25
//	Cosh       1.4  1.3453  5.200064        0x40a666ed     27    16
//	Tanh       1.5  1.4058  0.60647106      0x3f1b41b0     35    17
//	Asinh      1.8  1.7484  0.51314694      0x3f035d99     82    48
//	Acosh      2.1  2.0527  1.0300529       0x3f83d8c6     68    50
//	Atanh      1.4  1.3290  0.5019832       0x3f0081f9     49    44
//	Cbrt      0.51  0.5000  3.8640643e-38   0x01526132     37    16
//	Erf        1.1  1.0778  0.92170066      0x3f6bf493     37    32
//	Erfc       4.2  4.1485  4.7032056       0x409680a9     55    48
//
// For functions of two or three arguments, the error is at most 2 ULP for Atan2 and 1 ULP for
// Hypot. Mod is exact, and FMA rounds once. The largest error of Pow found by tests on random
// inputs is 2.1 ULP.
package math32
