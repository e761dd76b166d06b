package math32

// On a GPU, recip and root compile to the approximate instruction and one step of Newton's method,
// without the branches for numbers near the ends of the range. ptxas generates the same code for 1
// / x and for square roots in the middle of the range, where it is correctly rounded.

// recip returns 1 / x for |x| from 0x1p-120 to 0x1p120. On a GPU, the result for 0 and infinity is
// NaN.
func recip(x float32) float32 { return 1 / x }

// root returns the square root of x for x from 0x1p-90 to 0x1p124, and NaN for x <= -0x1p-126. On a
// GPU, the result for 0 and infinity is NaN.
func root(x float32) float32 { return Sqrt(x) }
