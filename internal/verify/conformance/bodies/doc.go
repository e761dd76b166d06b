// Package bodies tests kernels that have several bodies: which GPU runs which body, and the error
// if none fits. Each body stores its own number, whereas bodies of a real kernel compute the same
// results.
//
//gpu:ondemand
package bodies

//go:generate go tool kernelgen .
