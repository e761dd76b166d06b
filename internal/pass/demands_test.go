package pass

import (
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// runsWithoutUndemanded runs f as it is, and with random bits wherever the analysis of demands says that bits are not
// needed. Both must do the same.
func runsWithoutUndemanded(t *testing.T, f *ir.Func, r *rand.Rand) {
	t.Helper()
	demands := analysis.NewDemands(f)
	m := newMachine(usual)
	for range claimRuns {
		seed := r.Uint64()
		want, err := m.runRandom(f, seed)
		if err != nil {
			continue
		}
		args := m.randomInput(f, seed)
		bits := rand.New(rand.NewPCG(seed, 16))
		m.watch = func(b *ir.Block, i int, values []datum) {
			if b.Func == f {
				forget(justComputed(b, i), demands, values, bits)
			}
		}
		got, err := m.run(f, args)
		if err != nil || got != want {
			t.Errorf("%s: seed %d: with random bits where none are needed: %+v, %v; want %+v\n%v", f.Name, seed, got, err, want, f)
			return
		}
	}
}

// justComputed returns what was computed just before value i of b.
func justComputed(b *ir.Block, i int) []*ir.Value {
	if phis := b.Phis(); i == len(phis) {
		return phis
	}
	return b.Values[i-1 : i]
}

// forget gives random bits to the parts of integers that are not needed.
func forget(list []*ir.Value, demands []analysis.Demand, values []datum, r *rand.Rand) {
	for _, v := range list {
		switch {
		case !v.Type.IsInt():
		case demands[v.ID] == analysis.Unused:
			values[v.ID].bits = mask(v.Type, r.Uint64())
		case demands[v.ID] == analysis.Lower && v.Type.Kind == ir.KindI64:
			values[v.ID].bits ^= r.Uint64() << 32
		}
	}
}
