package nn

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/weights"
)

// A slot is a tensor of a file for a parameter that is trained, or for some of its rows.
type slot struct {
	name  string
	of    *Parameter
	from  int // the first element
	shape []int
}

// weightSlot returns the slot of the weight of a layer, or none if q is nil.
func (q *Parameter) weightSlot(name string) ([]slot, error) {
	if q == nil {
		return nil, nil
	}
	return []slot{{name: join(name, "weight"), of: q, shape: q.shape}}, nil
}

func (a *affine) slots(name string) ([]slot, error) {
	if a == nil {
		return nil, nil
	}
	list, err := a.weight.weightSlot(name)
	if a.bias != nil {
		list = append(list, slot{name: join(name, "bias"), of: a.bias, shape: a.bias.shape})
	}
	return list, err
}

func (l *Linear) slots(name string) ([]slot, error) { return l.trained.slots(name) }

func (e *Embedding) slots(name string) ([]slot, error) { return e.trained.weightSlot(name) }

func (n *RMSNorm) slots(name string) ([]slot, error) { return n.trained.weightSlot(name) }

func (n *LayerNorm) slots(name string) ([]slot, error) { return n.trained.slots(name) }

func (c *Conv2d) slots(string) ([]slot, error) { return nil, nil }

func (l *Stacked) slots(name string) (list []slot, err error) {
	if l.whole == nil && (len(l.parts) == 0 || l.parts[0].trained == nil) {
		return nil, nil
	}
	names, err := l.names(name)
	at := 0
	for i, name := range names {
		if l.whole == nil {
			part, _ := l.parts[i].slots(name)
			list = append(list, part...)
			continue
		}
		n := l.Out[i]
		list = append(list, slot{join(name, "weight"), l.whole.weight, at * l.In, []int{n, l.In}}, slot{join(name, "bias"), l.whole.bias, at, []int{n}})
		at += n
	}
	return list, err
}

// names returns the names of the layers: those in braces, or else the numbers of the layers after a dot.
func (l *Stacked) names(name string) (names []string, err error) {
	if names = expanded(name); len(names) == 1 && names[0] == name {
		names = nil
		for i := range l.Out {
			names = append(names, numbered(name, fmt.Sprint(i)))
		}
	}
	if len(names) != len(l.Out) {
		return nil, fmt.Errorf("%w: %d outputs of %s", ErrShape, len(l.Out), name)
	}
	return names, nil
}

func (q *Parameter) slots(name string) ([]slot, error) {
	if q == nil || q.params == nil {
		return nil, q.load(nil, name)
	}
	return []slot{{name: name, of: q, shape: q.shape}}, nil
}

// load returns an error, because Load does not make Parameters.
func (q *Parameter) load(*loader, string) error {
	return fmt.Errorf("%w: call Params.Parameter", ErrUnloaded)
}

// A fill is a tensor of a file that Load copies to a parameter.
type fill struct {
	slot
	tensor *weights.Tensor
}

// prepare checks the tensor of the file for a slot, which fill copies.
func (l *loader) prepare(s slot) error {
	t, err := l.find(s.name)
	if err != nil {
		return err
	}
	if got := t.Shape(); !slices.Equal(got, s.shape) {
		return fmt.Errorf("%w: %s is %v, want %v", ErrShape, s.name, got, s.shape)
	}
	if _, ok := formatOf(t.Type()); !ok && !isDense(t.Type()) {
		return fmt.Errorf("%w: %s is of type %v", ErrFormat, s.name, t.Type())
	}
	l.fills = append(l.fills, fill{s, t})
	return nil
}

// fill copies tensors of the file to parameters.
func (l *loader) fill() error {
	for _, f := range l.fills {
		if l.interrupt() {
			return l.interrupted
		}
		err := l.file.Guard(func() error {
			if f.of.params.blank {
				return nil
			}
			values, err := l.values(f.name, f.tensor, append(f.shape, 1)[0])
			if err != nil {
				return err
			}
			return f.of.replace(f.from, values)
		})
		if err != nil {
			return err
		}
		l.done += int64(f.tensor.Size())
		l.progress()
	}
	return nil
}
