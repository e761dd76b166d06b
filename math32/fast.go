package math32

// The functions here are one or two instructions on a GPU, with an error that the ISA of PTX states and that
// differs a little between machines. On the CPU they are the accurate functions.

// FastExp returns about e**x: the relative error is at most 2**-22 + |x| * 2**-23.
func FastExp(x float32) float32 { return Exp(x) }

// FastExp2 returns about 2**x: the relative error is at most 2**-22.
func FastExp2(x float32) float32 { return Exp2(x) }

// FastLog returns about the natural logarithm of x: the absolute error is at most 2**-21 for x from 0.5 to 2, else
// the relative error is at most 2**-21.
func FastLog(x float32) float32 { return Log(x) }

// FastLog2 returns about the binary logarithm of x: the absolute error is at most 2**-22 for x from 0.5 to 2, else
// the relative error is at most 2**-22.
func FastLog2(x float32) float32 { return Log2(x) }

// FastPow returns about x**y for positive x: 2 to the power of y*FastLog2(x). The relative error is at most
// 2**-22 + |y*log2(x)| * 2**-21, and |y| * 2**-22 more for x from 0.5 to 2.
func FastPow(x, y float32) float32 { return Pow(x, y) }

// FastSin returns about the sine of x: the absolute error is at most 2**-20.5 for x from -pi to pi, and grows beyond.
func FastSin(x float32) float32 { return Sin(x) }

// FastCos returns about the cosine of x: the absolute error is at most 2**-20.5 for x from -pi to pi, and grows beyond.
func FastCos(x float32) float32 { return Cos(x) }

// FastTanh returns about the hyperbolic tangent of x: the relative error is at most 2**-10. A kernel that
// calls it needs a GPU of compute capability 7.5.
func FastTanh(x float32) float32 { return Tanh(x) }

// FastDiv returns about x / y, within 2 units for |y| from 2**-126 to 2**126; beyond that it is 0, or NaN where x is
// infinite.
func FastDiv(x, y float32) float32 { return x / y }

// FastRcp returns about 1 / x, within 1 unit.
func FastRcp(x float32) float32 { return 1 / x }

// FastSqrt returns about the square root of x: the relative error is at most 2**-22.
func FastSqrt(x float32) float32 { return Sqrt(x) }

// FastRsqrt returns about 1 over the square root of x: the relative error is at most 2**-22.
func FastRsqrt(x float32) float32 { return Rsqrt(x) }
