package machine

import (
	"encoding/binary"
	"math"
	"os"
	"testing"
)

// bench is a memory with a kernel loaded from testdata or given as text.
type bench struct {
	t   testing.TB
	mem *Memory
	k   *Kernel
}

func load(t testing.TB, name string) *bench {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, string(text), name)
}

// compile loads a kernel into a memory with all checks, which benchmarks do without.
func compile(t testing.TB, text, name string) *bench {
	t.Helper()
	mem := NewCheckedMemory(Checks{Races: true, Unwritten: true})
	if _, ok := t.(*testing.B); ok {
		mem = NewMemory()
	}
	m, err := Load(text, mem)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, mem, k}
}

// words allocates memory with the given contents.
func (b *bench) words(v ...uint32) uint64 {
	b.t.Helper()
	at, err := b.mem.Allocate(4 * len(v))
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := b.mem.Bytes(at, 4*len(v))
	if err != nil {
		b.t.Fatal(err)
	}
	for i, w := range v {
		binary.LittleEndian.PutUint32(p[4*i:], w)
	}
	b.mem.Written(at, 4*len(v))
	return at
}

func (b *bench) floats(v ...float32) uint64 {
	words := make([]uint32, len(v))
	for i, f := range v {
		words[i] = math.Float32bits(f)
	}
	return b.words(words...)
}

// at returns n words at an address.
func (b *bench) at(address uint64, n int) []uint32 {
	b.t.Helper()
	p, err := b.mem.Bytes(address, 4*n)
	if err != nil {
		b.t.Fatal(err)
	}
	v := make([]uint32, n)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(p[4*i:])
	}
	return v
}

// params packs 32-bit and 64-bit parameters.
func params(v ...any) []byte {
	var p []byte
	for _, a := range v {
		switch a := a.(type) {
		case uint64:
			for len(p)%8 != 0 {
				p = append(p, 0)
			}
			p = binary.LittleEndian.AppendUint64(p, a)
		case int:
			p = binary.LittleEndian.AppendUint32(p, uint32(a))
		}
	}
	return p
}

func (b *bench) run(l Launch) (Stats, error) {
	if l.Grid == [3]int{} {
		l.Grid = [3]int{1, 1, 1}
	}
	return b.k.Run(l)
}

func (b *bench) mustRun(l Launch) Stats {
	b.t.Helper()
	s, err := b.run(l)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range s.Findings {
		b.t.Errorf("found %v", f)
	}
	return s
}

func iota32(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}

func TestVecadd(t *testing.T) {
	b := load(t, "vecadd")
	const n = 1000
	x, y, z := b.floats(iota32(n)...), b.floats(iota32(n)...), b.floats(make([]float32, n)...)
	s := b.mustRun(Launch{Grid: [3]int{8, 1, 1}, Block: [3]int{128, 1, 1}, Params: params(x, y, z, n)})
	for i, w := range b.at(z, n) {
		if got := math.Float32frombits(w); got != float32(2*i) {
			t.Fatalf("c[%d] = %v, want %v", i, got, 2*i)
		}
	}
	if want := uint64(1024*7 + 1000*15 + 24); s.Instructions != want {
		t.Errorf("%d instructions, want %d", s.Instructions, want)
	}
}

func TestReduce(t *testing.T) {
	for seed := range uint64(5) {
		b := load(t, "reduce")
		in, out := b.floats(iota32(512)...), b.words(0, 0)
		b.mustRun(Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{256, 1, 1}, Params: params(in, out), Seed: seed})
		for i, w := range b.at(out, 2) {
			if got, want := math.Float32frombits(w), float32(255*128+256*256*i); got != want {
				t.Errorf("seed %d: sum %d = %v, want %v", seed, i, got, want)
			}
		}
	}
}

func BenchmarkVecadd(b *testing.B) {
	m := load(b, "vecadd")
	const n = 1 << 16
	x, y, z := m.floats(iota32(n)...), m.floats(iota32(n)...), m.floats(make([]float32, n)...)
	var total uint64
	for b.Loop() {
		total += m.mustRun(Launch{Grid: [3]int{n / 256, 1, 1}, Block: [3]int{256, 1, 1}, Params: params(x, y, z, n)}).Instructions
	}
	b.ReportMetric(float64(total)/1e6/b.Elapsed().Seconds(), "Minstr/s")
}

func BenchmarkReduce(b *testing.B) {
	m := load(b, "reduce")
	const n = 1 << 16
	in, out := m.floats(iota32(n)...), m.words(make([]uint32, n/256)...)
	var total uint64
	for b.Loop() {
		total += m.mustRun(Launch{Grid: [3]int{n / 256, 1, 1}, Block: [3]int{256, 1, 1}, Params: params(in, out)}).Instructions
	}
	b.ReportMetric(float64(total)/1e6/b.Elapsed().Seconds(), "Minstr/s")
}
