// Package lora multiplies rows by the matrices of low-rank adapters, of which each row has another one or none (Chen et al., "Punica:
// Multi-Tenant LoRA Serving"): y += B A x, with the matrices A and B of the row's adapter.
//
//	groups := lora.Groups(which, lora.MaxGroups(rows, adapters)) // on the host; which[i] is the adapter of row i, or -1
//	shape := lora.Shape{Rows: rows, Adapters: adapters, Columns: 4096, Rank: 16, Parts: []int{4096, 1024, 1024}}
//	err := lora.Shrink(s, shape, lora.Down[dtype.BF16]{X: x, A: a, Groups: groups, H: h})
//	err = lora.Expand(s, shape, lora.Up[dtype.BF16, dtype.BF16]{H: h, B: b, Groups: groups, Y: y, Columns: lora.Span{0, 6144}})
//
// A and B are those of several linear layers with the same input: the parts, such as queries, keys and values. Up to eight rows of one
// adapter form a group, whose blocks read the matrices once. All adapters have the same rank; smaller ones are padded with zeros, and the
// scale of an adapter is a part of B. Nothing is allocated, and groups may change between launches of a graph.
//
// The kernels for GPUs have cooperating threads and accesses of 16 bytes. The one for CPUs computes both products with a thread for each
// column, and reads transposed matrices.
package lora

//go:generate go tool kernelgen .
