package main

import (
	"github.com/gopherwarp/gopherwarp/math32"
	"github.com/gopherwarp/gopherwarp/tensor"
)

//go:generate go tool kernelgen .

// softsign is the function x/(1+|x|), from which the compiler makes a kernel and that of its derivative.
type softsign struct{}

// Of returns the function of x.
func (softsign) Of(x float32) float32 { return x / (1 + math32.Abs(x)) }

// Slope returns its derivative.
func (softsign) Slope(x, y float32) float32 { d := 1 + math32.Abs(x); return 1 / (d * d) }

//gpu:instance Softsign = tensor.MapKernel[tensor.BF16, softsign]
//gpu:instance SoftsignBack = tensor.MapBackKernel[tensor.BF16, softsign]

var _ tensor.Function = softsign{}
