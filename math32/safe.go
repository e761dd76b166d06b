package math32

// On a GPU these two are the approximate instruction and one step of Newton's method, without the
// branches for numbers near the ends of the range. It is what ptxas makes of 1 / x and of a square root in the
// middle of the range, where it is correctly rounded.

// recip returns 1 / x, for |x| from 0x1p-120 to 0x1p120; on a GPU it is NaN for 0 and infinity.
func recip(x float32) float32 { return 1 / x }

// root returns the square root of x, for x from 0x1p-90 to 0x1p124, and NaN for x up to -0x1p-126; on a GPU it is NaN for
// 0 and infinity.
func root(x float32) float32 { return Sqrt(x) }
