// Package bodies tests kernels that have several bodies, which is chosen for which GPU, and what is
// said where none fits. Its bodies store which they are: a user's would do the same.
//
//gpu:ondemand
package bodies

//go:generate go tool kernelgen .
