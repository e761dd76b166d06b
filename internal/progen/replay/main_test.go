package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// TestPacks writes two packs, one behind the other, and plays them on the interpreter.
func TestPacks(t *testing.T) {
	c, err := compare.New("../../..", compare.Options{Contracted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name := filepath.Join(t.TempDir(), "pack")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for pack := range 2 {
		report, err := c.Kernels(t.Context(), []progen.Kernel{progen.New(2, 2*pack), progen.New(2, 2*pack+1)})
		if err != nil {
			t.Fatal(err)
		}
		var list []trial.Packed
		for i, r := range report.Results {
			list = append(list, report.Trials[i].Pack(device.Capability{Major: 9}, r))
		}
		if err := trial.WritePack(f, list); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := read(name)
	if err != nil || len(list) != 4 {
		t.Fatalf("%d trials: %v", len(list), err)
	}
	dev, err := ptxinterp.Open()
	if err != nil {
		t.Fatal(err)
	}
	runner := trial.NewRunner(dev)
	for i := range list {
		if r := runner.Whole(&list[i].Trial); r.Sum() != list[i].Sum {
			t.Errorf("%s differs: %q", list[i].Trial.Kernel.Name, r.Fault)
		}
	}
	list[0].Sum[0]++
	if r := runner.Whole(&list[0].Trial); r.Sum() == list[0].Sum {
		t.Error("another sum is not noticed")
	}
}
