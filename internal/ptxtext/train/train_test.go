package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// root is the folder of the repository.
const root = "../../.."

// TestRatio compares the sizes of the repository's PTX, or of a sixth of its packages in go test, in both forms.
func TestRatio(t *testing.T) {
	plain, packed, packages := 0, 0, 0
	err := walk(root, func(texts []string) {
		if packages++; !sweep.Every(6, packages) {
			return
		}
		for i, chain := range pack(texts) {
			if got, err := ptxtext.Unpack(chain...); got != texts[i] || err != nil {
				t.Errorf("%.80q... becomes %.80q, %v", texts[i], got, err)
			}
			plain, packed = plain+len(texts[i]), packed+len(chain[len(chain)-1])
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ratio := float64(plain) / float64(packed)
	t.Logf("%d bytes are packed to %d, %.2f times less", plain, packed, ratio)
	if ratio < 15 {
		t.Errorf("PTX is packed to %.2f times less, want at least 15: train a table for a new version", ratio)
	}
}

func TestTable(t *testing.T) {
	train := func() []string {
		tr := newTrainer()
		tr.add([]string{".version 7.0\n\tmul.rn.f32 %f3, %f2, %f1;\n\tld.global.f32 %f4, [%rd1];\n"}, 10)
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
	benchmark(b, func(texts []string, chains [][]string) error {
		for _, chain := range chains {
			if _, err := ptxtext.Unpack(chain...); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkPack(b *testing.B) {
	benchmark(b, func(texts []string, _ [][]string) error {
		pack(texts)
		return nil
	})
}

// pack packs texts together, and returns each after its bases.
func pack(texts []string) (chains [][]string) {
	var library ptxtext.Library
	for _, text := range texts {
		packed, base := library.Add(text)
		chain := []string{packed}
		if base >= 0 {
			chain = slices.Concat(chains[base], chain)
		}
		chains = append(chains, chain)
	}
	return chains
}

// benchmark calls f with the PTX of package prim, in both forms.
func benchmark(b *testing.B, f func(texts []string, chains [][]string) error) {
	var all []string
	size := 0
	err := walk(root+"/prim", func(texts []string) {
		all = texts
		for _, text := range texts {
			size += len(text)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	chains := pack(all)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := f(all, chains); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(all)), "texts")
}
