package progen_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// FuzzKernel compares the kernels that bytes describe. To make inputs smaller that are new takes a minute each,
// as long as it is not told to do less:
//
//	go test ./internal/verify/progen -run=none -fuzz=FuzzKernel -fuzztime=10m -fuzzminimizetime=1x
//
// What it finds is made smaller by -run=FuzzKernel/NAME -shrink, where NAME is the file that it left in testdata.
func FuzzKernel(f *testing.F) {
	c, err := compare.New("../../..", compare.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	f.Add([]byte("a barrier, a loop"))
	if sweep.Whole() {
		f.Add([]byte{})
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		kernels := ending(choices)
		report, err := c.Kernels(t.Context(), kernels)
		if err != nil && t.Context().Err() == nil {
			t.Fatal(err)
		}
		for i, how := range report.Wrong {
			if how == "" {
				continue
			}
			t.Errorf("%s\n%s", how, kernels[i].Source)
			if *smaller {
				shrinkKernel(t, kernels[i], compare.Options{})
			}
			break
		}
	})
}

// ending returns kernels that begin with the same choices and go on with others: of the time that a
// package takes, a kernel's is the least. Sweeps, and go test -fuzz, have all of them.
func ending(choices []byte) (list []progen.Kernel) {
	for i := range 12 {
		if flag.Lookup("test.fuzz").Value.String() == "" && !sweep.Every(3, i) {
			continue
		}
		list = append(list, progen.FromBytes(append(slices.Clip(choices), byte(21*i)), i))
	}
	return list
}
