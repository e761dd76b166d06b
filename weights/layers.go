package weights

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Layer is a group of tensors that are loaded together.
type Layer struct {
	// Name is the common prefix of the tensors' names up to the layer's number, such as "blk.0" or "model.layers.0". It is empty for the
	// tensors outside all layers.
	Name    string
	Tensors []*Tensor
	// Before, Size and Total are the numbers of bytes of all preceding layers, of this layer, and of all layers.
	Before, Size, Total int64
}

// Layers returns the tensors layer by layer: first the tensors outside all layers, then the layers by name and number. A program that loads one layer
// in each iteration needs memory for only one layer.
func (f *File) Layers() iter.Seq[Layer] {
	return func(yield func(Layer) bool) {
		before, total := int64(0), f.Size()
		for _, l := range f.layers() {
			l.Before, l.Total = before, total
			for _, t := range l.Tensors {
				l.Size += int64(t.size)
			}
			if !yield(l) {
				return
			}
			before += l.Size
		}
	}
}

// layers returns the layers in order.
func (f *File) layers() []Layer {
	var list []Layer
	at := map[string]int{}
	for _, t := range f.Tensors {
		name := layerOf(t.spec.Name)
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name] = i
			list = append(list, Layer{Name: name})
		}
		list[i].Tensors = append(list[i].Tensors, t)
	}
	slices.SortStableFunc(list, func(a, b Layer) int { return compareLayers(a.Name, b.Name) })
	return list
}

// layerOf returns the part of a tensor's name up to its first component that is a number, or "".
func layerOf(name string) string {
	end := 0
	for part := range strings.SplitSeq(name, ".") {
		end += len(part)
		if _, err := strconv.ParseUint(part, 10, 31); err == nil && end < len(name) {
			return name[:end]
		}
		end++
	}
	return ""
}

// compareLayers compares the names of layers, whose last components are numbers.
func compareLayers(a, b string) int {
	prefixA, numberA := splitLayer(a)
	prefixB, numberB := splitLayer(b)
	return cmp.Or(cmp.Compare(prefixA, prefixB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

// splitLayer returns the name of a layer without its number, and the number, which is 0 for the empty name.
func splitLayer(name string) (string, uint64) {
	at := strings.LastIndexByte(name, '.') + 1
	n, err := strconv.ParseUint(name[at:], 10, 31)
	if err != nil {
		return name, 0
	}
	return name[:at], n
}
