package math32

// On a GPU, the functions of this file compile to one or two instructions. The PTX ISA documents
// their errors, and their results differ slightly between GPUs. On the CPU, they are the accurate
// functions.

// FastExp returns an approximation of e**x. The relative error is at most 2**-22 + |x| * 2**-23. On
// a GPU, a result less than 2**-126 is 0.
func FastExp(x float32) float32 { return Exp(x) }

// FastExp2 returns an approximation of 2**x. The relative error is at most 2**-22. On a GPU, a result
// less than 2**-126 is 0.
func FastExp2(x float32) float32 { return Exp2(x) }

// FastLog returns an approximation of the natural logarithm of x. The absolute error is at most
// 2**-21 for x from 0.5 to 2; for other x, the relative error is at most 2**-21.
func FastLog(x float32) float32 { return Log(x) }

// FastLog2 returns an approximation of the binary logarithm of x. The absolute error is at most
// 2**-22 for x from 0.5 to 2; for other x, the relative error is at most 2**-22.
func FastLog2(x float32) float32 { return Log2(x) }

// FastPow returns an approximation of x**y for positive x, computed as 2**(y*FastLog2(x)). The relative error is at most
// 2**-22 + |y*log2(x)| * 2**-21. For x from 0.5 to 2, the bound is larger by |y| * 2**-22. On a GPU, a result less than
// 2**-126 is 0.
func FastPow(x, y float32) float32 { return Pow(x, y) }

// FastSin returns an approximation of the sine of the radian argument x. The absolute error is at
// most 2**-20.5 for x from -pi to pi, and larger for other x.
func FastSin(x float32) float32 { return Sin(x) }

// FastCos returns an approximation of the cosine of the radian argument x. The absolute error is at
// most 2**-20.5 for x from -pi to pi, and larger for other x.
func FastCos(x float32) float32 { return Cos(x) }

// FastTanh returns an approximation of the hyperbolic tangent of x. The relative error is at most
// 2**-10. In a kernel, FastTanh requires compute capability 7.5.
func FastTanh(x float32) float32 { return Tanh(x) }

// FastDiv returns an approximation of x / y. The error is at most 2 ULP for |y| from 2**-126 to
// 2**126. For larger |y|, the result is 0, or NaN if x is infinite.
func FastDiv(x, y float32) float32 { return x / y }

// FastRcp returns an approximation of 1 / x. The error is at most 1 ULP. On a GPU, a subnormal x counts as 0, and a
// subnormal result is 0.
func FastRcp(x float32) float32 { return 1 / x }

// FastSqrt returns an approximation of the square root of x. The relative error is at most 2**-22.
func FastSqrt(x float32) float32 { return Sqrt(x) }

// FastRsqrt returns an approximation of the reciprocal square root of x. The relative error is at
// most 2**-22.
func FastRsqrt(x float32) float32 { return Rsqrt(x) }
