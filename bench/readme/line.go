package main

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

// speeds returns the README's table.
func speeds(r *report.Report) string {
	table := "| | Gopherwarp | compared with |\n|---|---|---|\n"
	for _, l := range lines() {
		if row, ok := l.row(r); ok {
			table += row
		}
	}
	return table
}

// line is a row of the table.
type line struct {
	what   string
	name   string // of the case
	plain  bool   // compare the plain kernel, not the faster one
	beside []peer
}

// peer is a contender that is shown in the second column, and its description.
type peer struct{ by, words string }

func lines() []line {
	const tuned = "hand-tuned CUDA C++"
	return []line{
		{"triad of 2^28 float32, one element per thread, index checks on", "triad32", true,
			[]peer{{report.Literal, "the same kernel in CUDA C++"}, {report.Best, "CUDA C++ with 16-byte accesses written by hand"}, {"triton", "Triton"}}},
		{"sum of 2^28 float32", "sum", false, []peer{{"torch", "PyTorch"}, {report.Best, tuned}}},
		{"softmax of 16384 x 16384", "softmax", false, []peer{{"torch", "PyTorch"}, {"triton", "Triton"}, {report.Best, tuned}}},
		{"transposition of 16384 x 16384", "transpose", false, []peer{{report.Copied, "a plain copy of the matrix"}, {"torch", "PyTorch"}}},
		{"Black-Scholes, 2^26 options", "black-scholes", false, []peer{{report.Best, tuned}}},
		{"running sums of 2^28 int32 (`prim`)", "prim-scan", false, []peer{{"CUB", "CUB"}, {"torch", "PyTorch"}}},
		{"sorting 2^26 uint32 (`prim`)", "prim-sort", false, []peer{{"CUB", "CUB"}, {"cupy", "CuPy"}}},
		{"product of float32 matrices, 4096^3", "product-f32", false, []peer{{report.CuBLAS, "cuBLAS"}}},
		{"product of bfloat16 matrices, 8192^3", "product-bf16", false, []peer{{report.CuBLAS, "cuBLAS"}}},
		{"product of 8-bit matrices, 8192^3", "product-fp8", false, []peer{{report.CuBLAS, "cuBLAS"}}},
		{"launch of a kernel", "launch-1", false, []peer{{"C++", "C++"}}},
		{"from the start of a process to a kernel's first result", report.StartUncached, false, []peer{{report.Bare, "C++ that calls only the driver"}}},
	}
}

// row returns the row for a report; false if the report lacks the case.
func (l line) row(r *report.Report) (string, bool) {
	c := r.Case(l.name)
	if c == nil {
		return "", false
	}
	ours := c.Fastest(report.Ours, report.Tuned)
	if l.plain {
		ours = c.By(report.Ours)
	}
	if ours == nil {
		return "", false
	}
	var beside []string
	for _, p := range l.beside {
		if m := c.By(p.by); m != nil {
			beside = append(beside, p.words+" "+number(c.In(m.Seconds)))
		}
	}
	return fmt.Sprintf("| %s | %s %s | %s |\n", l.what, number(c.In(ours.Seconds)), c.Unit(), strings.Join(beside, "; ")), true
}

// number formats a number with three digits or more, with commas.
func number(v float64) string {
	switch {
	case v >= 999.5:
		return fmt.Sprintf("%d,%03d", int(v+0.5)/1000, int(v+0.5)%1000)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
