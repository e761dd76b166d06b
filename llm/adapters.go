package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
)

// ErrAdapter is the error of a Request.Adapter that is not in Options.Adapters.
var ErrAdapter = errors.New("llm: no such adapter")

// adapt makes the model use the adapter in a folder, or none if there is no folder.
func (n *network) adapt(folder string) (err error) {
	if folder == "" {
		return nil
	}
	if n.adapter, err = lora.Open(n.stream, n.model.Linears(), folder); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if err := n.model.Adapt(n.adapter); err != nil {
		return err
	}
	return n.adapter.Fix(context.Background())
}

// adaptEach loads the adapters in the folders of Options.Adapters, in the order of their names. The host's memory holds one at a time.
func (n *network) adaptEach(folders map[string]string) error {
	n.adapters = slices.Sorted(maps.Keys(folders))
	if len(n.adapters) == 0 {
		return nil
	}
	rank := 0
	for _, name := range n.adapters {
		o, err := lora.ReadOptions(folders[name])
		if err != nil {
			return fmt.Errorf("adapter %s: %s: %w", name, folders[name], err)
		}
		rank = max(rank, o.Rank)
	}
	var err error
	if n.set, err = n.model.AdaptEach(n.stream, len(n.adapters), rank); err != nil {
		return err
	}
	for i, name := range n.adapters {
		o, list, err := lora.Read(n.model.Linears(), folders[name])
		if err == nil {
			err = n.set.Put(i, o, list)
		}
		if err != nil {
			return fmt.Errorf("adapter %s: %s: %w", name, folders[name], err)
		}
	}
	return nil
}

// Adapters returns the sorted names of Options.Adapters. The caller must not change the slice.
func (m *Model) Adapters() []string { return m.network.adapters }

// origin returns what texts that share pages with those of a request have in common. The error is ErrAdapter.
func (m *Model) origin(r Request) (llama.Origin, error) {
	if r.Adapter == "" {
		return llama.Origin{Salt: r.Salt}, nil
	}
	i, found := slices.BinarySearch(m.network.adapters, r.Adapter)
	if !found {
		return llama.Origin{}, fmt.Errorf("%w: %q", ErrAdapter, r.Adapter)
	}
	return llama.Origin{Adapter: i + 1, Salt: r.Salt}, nil
}

// adaptersOf returns the names of the adapters of texts, each once, in order.
func (n *network) adaptersOf(list []*sequence) (names []string) {
	for i, name := range n.adapters {
		if slices.ContainsFunc(list, func(q *sequence) bool { return q.origin.Adapter == i+1 }) {
			names = append(names, name)
		}
	}
	return names
}
