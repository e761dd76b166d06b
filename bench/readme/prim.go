package main

import (
	"fmt"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

// primitives returns the table that compares package prim with CUB.
func primitives(r *report.Report) string {
	table := "| | elements | ms | CUB, ms | speed divided by CUB's |\n|---|---|---|---|---|\n"
	for _, p := range [...]struct{ name, what string }{
		{"prim-sum", "sum of float32"},
		{"prim-scan", "inclusive scan of int32"},
		{"prim-scan-f32", "inclusive scan of float32"},
		{"prim-scan-i64", "inclusive scan of int64"},
		{"prim-sort", "sort of uint32"},
		{"prim-sort-f32", "sort of float32"},
		{"prim-sort-u64", "sort of uint64"},
		{"prim-sort-pairs", "sort of uint32 with uint32 values"},
		{"prim-count", "count of each of the 256 values of a byte"},
		{"prim-select", "selection of half of the elements by flags"},
	} {
		c := r.Case(p.name)
		if c == nil || c.By(report.Ours) == nil || c.By("CUB") == nil {
			continue
		}
		ours, theirs := c.By(report.Ours).Seconds, c.By("CUB").Seconds
		table += fmt.Sprintf("| %s | 1<<%d | %.3f | %.3f | %.2f |\n", p.what, bits.Len(uint(c.Size))-1, ours*1e3, theirs*1e3, theirs/ours)
	}
	return table
}
