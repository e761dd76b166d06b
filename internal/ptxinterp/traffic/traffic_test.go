package traffic

import (
	"strings"
	"testing"
)

// spread returns addresses that are stride bytes apart.
func spread(stride uint64) *[lanes]uint64 {
	var a [lanes]uint64
	for l := range a {
		a[l] = 1<<32 + uint64(l)*stride
	}
	return &a
}

const all = 0xffffffff

func TestGlobal(t *testing.T) {
	for _, c := range []struct {
		name           string
		addresses      *[lanes]uint64
		mask           uint32
		size           uint64
		touched, least int
	}{
		{"neighbours", spread(4), all, 4, 4, 4},
		{"neighbours of 8 bytes", spread(8), all, 8, 8, 8},
		{"vectors", spread(16), all, 16, 16, 16},
		{"bytes", spread(1), all, 1, 1, 1},
		{"every second", spread(8), all, 4, 8, 4},
		{"a column", spread(4096), all, 4, 32, 4},
		{"the same", spread(0), all, 4, 1, 1},
		{"shifted by a word", func() *[lanes]uint64 {
			a := spread(4)
			for l := range a {
				a[l] += 4
			}
			return a
		}(), all, 4, 5, 4},
		{"one thread", spread(4), 1 << 9, 4, 1, 1},
		{"nobody", spread(4), 0, 4, 0, 0},
	} {
		var got Counts
		got.OnGlobal(c.addresses, c.mask, c.size)
		want := Counts{Global: 1, Sectors: c.touched, SectorsLeast: c.least}
		if c.mask == 0 {
			want.Global = 0
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		name        string
		stride      uint64
		mask        uint32
		size        uint64
		took, least int
	}{
		{"neighbours", 4, all, 4, 1, 1},
		{"bytes", 1, all, 1, 1, 1},
		{"halves of words", 2, all, 2, 1, 1},
		{"the same", 0, all, 4, 1, 1},
		{"every second", 8, all, 4, 2, 1},
		{"every third", 12, all, 4, 1, 1},
		{"a column of 32", 128, all, 4, 32, 1},
		{"a column of 33", 132, all, 4, 1, 1},
		{"half a column", 128, 0xffff, 4, 16, 1},
		{"neighbours of 8 bytes", 8, all, 8, 2, 2},
		{"half the threads, 8 bytes", 8, 0xffff, 8, 1, 1},
		{"every second of 8 bytes", 16, all, 8, 4, 2},
		{"vectors", 16, all, 16, 4, 4},
		{"every second vector", 32, all, 16, 8, 4},
	} {
		var got Counts
		got.OnShared(spread(c.stride), c.mask, c.size)
		if want := (Counts{Shared: 1, Passes: c.took, PassesLeast: c.least}); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.Add(Line{"transpose", "kernel.go", 12}, Counts{Global: 2, Sectors: 64, SectorsLeast: 8})
	table.Add(Line{"transpose", "kernel.go", 9}, Counts{Shared: 1, Passes: 1, PassesLeast: 1})
	table.Add(Line{"transpose", "kernel.go", 9}, Counts{Global: 3, Sectors: 12, SectorsLeast: 12, Shared: 3, Passes: 17, PassesLeast: 3})
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `
memory traffic of warps: sectors of 32 bytes in global memory, passes over the banks of shared memory
     kernel          line  global  sectors  least  ratio  shared  passes  least  ratio
  transpose   kernel.go:9       3       12     12   1.00       4      18      4   4.50
  transpose  kernel.go:12       2       64      8   8.00       -       -      -      -
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got%s", got)
	}
}
