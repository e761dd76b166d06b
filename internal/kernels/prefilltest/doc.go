// Package prefilltest tests functions like prefill.Attend with sequences of odd lengths.
//
//	p := prefilltest.New[dtype.BF16](prefill.Shape{Heads: 4, KeyHeads: 2, Dim: 64, Causal: true})
//	p.Test(t, s, func(shape prefill.Shape, x prefill.Operands[dtype.BF16]) error { return prefill.Attend(s, shape, x) })
package prefilltest
