package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

// root is the folder of the repository.
const root = "../../.."

// TestRatio compares the sizes of the repository's PTX in both forms.
func TestRatio(t *testing.T) {
	plain, packed := 0, 0
	err := walk(root, func(texts []string) {
		for _, text := range texts {
			p := ptxtext.Pack(text)
			if got, err := ptxtext.Unpack(p); got != text || err != nil {
				t.Errorf("%.80q... becomes %.80q, %v", text, got, err)
			}
			plain, packed = plain+len(text), packed+len(p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ratio := float64(plain) / float64(packed)
	t.Logf("%d bytes are packed to %d, %.2f times less", plain, packed, ratio)
	if ratio < 3.5 {
		t.Errorf("PTX is packed to %.2f times less, want at least 3.5: train a table for a new version", ratio)
	}
}

func TestTable(t *testing.T) {
	train := func() []string {
		tr := newTrainer()
		tr.add(strings.Repeat(".version 7.0\n\tmul.rn.f32 %f3, %f2, %f1;\n\tld.global.f32 %f4, [%rd1];\n", 50), 10)
		tr.merge()
		return tr.table()
	}
	table := train()
	if !slices.Equal(table, train()) {
		t.Error("two tables of the same text differ")
	}
	for _, s := range ptxtext.Symbols() {
		if !slices.Contains(table, string([]byte{s})) {
			t.Errorf("the table lacks symbol %#x", s)
		}
	}
	if !slices.ContainsFunc(table, func(p string) bool { return strings.HasPrefix(p, "ld.global.f32") }) {
		t.Errorf("the table has no phrase for a frequent instruction: %q", table[:20])
	}
	if len(table) > ptxtext.MaxPhrases {
		t.Errorf("the table has %d phrases", len(table))
	}
}

func BenchmarkUnpack(b *testing.B) {
	benchmark(b, func(plain, packed string) error {
		_, err := ptxtext.Unpack(packed)
		return err
	})
}

func BenchmarkPack(b *testing.B) {
	benchmark(b, func(plain, packed string) error {
		ptxtext.Pack(plain)
		return nil
	})
}

// benchmark calls f with each PTX text of package prim, in both forms.
func benchmark(b *testing.B, f func(plain, packed string) error) {
	type text struct{ plain, packed string }
	var all []text
	size := 0
	err := walk(root+"/prim", func(texts []string) {
		for _, plain := range texts {
			all = append(all, text{plain, ptxtext.Pack(plain)})
			size += len(plain)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range all {
			if err := f(t.plain, t.packed); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(all)), "texts")
}
