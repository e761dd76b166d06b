// Package conv computes two-dimensional convolutions and pooling of images whose channels are neighbours in memory (NHWC), as networks for
// images do when their parameters are constant: Y = activation(convolution(X) + bias + residual).
//
//	shape := conv.Shape{Batch: 8, Height: 56, Width: 56, Channels: 64, Filters: 64, Kernel: 3, Stride: 1, Before: 1, After: 1}
//	work, err := device.Make[dtype.F16](s, conv.Workspace[dtype.F16](s.Device(), shape))
//	...
//	err = conv.Forward(s, shape, conv.Operands[dtype.F16]{X: x, Weights: w, Bias: bias, Y: y, Activation: conv.ReLU, Workspace: work.All()})
//
// The elements are float32, dtype.F16 or dtype.BF16; arithmetic is in float32. A convolution is a matrix product: rows are the places of
// Y, columns the filters, and sums run over the elements of X under a filter (Chellapilla, Puri and Simard, "High Performance
// Convolutional Neural Networks for Document Processing"). If filters have one place, X is the left matrix. Otherwise a kernel
// copies the elements of each place to a row of the workspace. Depthwise convolutions have a kernel of their own.
//
// Hopper's tensor cores multiply 16-bit elements in a kernel that adds the bias and the residual and applies the activation. For filters that
// move by one place, it reads X with a border of zeros from the workspace: the products of one place of the filters are then those of
// a matrix whose rows begin at another place of X, so that bulk copies find all operands.
package conv

//go:generate go tool kernelgen .
