// Package optimizer updates the parameters of a model from the derivatives of a loss: AdamW, stochastic gradient descent with momentum,
// and the factor that clips derivatives by their norm.
//
// All parameters of a model lie in one array, and so do their derivatives and the moments, so that a step is one kernel, or three if
// derivatives are clipped:
//
//	c := optimizer.Clipping[float32]{Limit: 1, Grad: grad, Workspace: scratch, Factor: factor}
//	err := optimizer.Clip(s, c)
//	err = optimizer.AdamW(s, optimizer.Adam{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 1}, optimizer.Operands[float32]{
//		Master: values, First: means, Second: squares, Grad: grad, Factor: factor})
//
// Functions launch kernels and return; they allocate nothing. The order of the additions in the norm depends only on the number of
// elements.
package optimizer

//go:generate go tool kernelgen .
