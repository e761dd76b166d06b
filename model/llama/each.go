package llama

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/lora"
)

// banks are the matrices of a decoder layer in a Set of adapters, nil without one.
type banks struct{ qkv, o, gateUp, down *lora.Bank }

// AdaptEach returns a Set with room for the given number of adapters, of at most the given rank. Set.Put adds an adapter. Each sequence of a
// Cache uses the adapter of its Origin, in addition to the adapter of Adapt. Call AdaptEach once, before NewCache and NewDecoder. Do not close
// the Set before the model. The error matches lora.ErrOptions.
func (m *Model) AdaptEach(s *device.Stream, adapters, rank int) (*lora.Set, error) {
	set, err := lora.NewSet(s, lora.SetOptions{Adapters: adapters, Rank: rank, DType: m.params.Activations()})
	if err != nil {
		return nil, err
	}
	for i := range m.layers.Layers {
		l := &m.layers.Layers[i]
		var list []lora.Linear
		for _, s := range l.slots() {
			list = append(list, lora.Linear{Name: nameOf(i, s.name), In: s.in, Out: s.out})
		}
		l.banks = banks{qkv: set.Bank(list[:3]...), o: set.Bank(list[3]), gateUp: set.Bank(list[4:6]...), down: set.Bank(list[6])}
	}
	m.adapters = set
	return set, nil
}

// planLen returns the number of elements of the plan of the adapters of n rows.
func (m *Model) planLen(n int) int {
	if m.adapters == nil {
		return 0
	}
	return m.adapters.PlanLen(n)
}

// adaptersOf returns the number of the adapter of each token in places, -1 for none, or nil if no token has one. If what is computed for a
// sequence must not depend on others, it returns nil only for a model without adapters: kernels with adapters round in another way.
func (m *Model) adaptersOf(c *Cache, places []int32) []int32 {
	if m.adapters == nil {
		return nil
	}
	which, used := make([]int32, len(places)/2), c.fixed > 0
	for i := range which {
		which[i] = -1
		if sequence := places[2*i]; sequence >= 0 { // not a surplus row
			which[i] = int32(c.list[sequence].origin.Adapter) - 1
		}
		used = used || which[i] >= 0
	}
	if !used {
		return nil
	}
	return which
}
