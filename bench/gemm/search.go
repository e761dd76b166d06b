package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
)

// search prints the times of cuBLAS and of the form few in every number of parts, the fastest one first.
func (b *bench) search(layers int) error {
	fmt.Fprintln(b.table, "M\tN\tK\tcuBLAS us\tparts us\t")
	for _, nk := range weights {
		shape := gemm.Shape{Layout: gemm.NT, M: slices.Max(b.rows), N: nk[0], K: nk[1]}
		m, err := b.memory(shape, layers)
		if err != nil {
			return err
		}
		for _, shape.M = range b.rows {
			err = errors.Join(err, b.searchOf(shape, m, layers))
		}
		if err = errors.Join(err, m.close(), b.table.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// searchOf prints a row of the table.
func (b *bench) searchOf(s gemm.Shape, m memory, count int) error {
	var all []contender
	for parts := 1; parts <= 8; parts++ {
		all = append(all, contender{fmt.Sprint(parts, " parts"), func(r *device.Stream) (err error) {
			for i := range count {
				err = errors.Join(err, gemm.HalfInParts(r, parts, s, m.operands(s, i).Operands))
			}
			return err
		}})
	}
	ours := len(all)
	theirs, done, err := b.theirs(s, m, count)
	if err != nil {
		return err
	}
	defer done()
	times, err := b.contest(append(all, theirs...), func() error { return b.check(s, m.operands(s, count-1)) })
	if err != nil {
		return err
	}
	us := func(t time.Duration) float64 { return t.Seconds() * 1e6 / float64(count) }
	best := 0.0
	if len(theirs) > 0 {
		best = us(slices.Min(times[ours:]))
	}
	fmt.Fprintf(b.table, "%d\t%d\t%d\t%.2f\t", s.M, s.N, s.K, best)
	for i, t := range times[:ours] {
		fmt.Fprintf(b.table, " %d: %.2f", i+1, us(t))
	}
	fmt.Fprintln(b.table, "\t")
	return nil
}
