package nn

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// summary is what Summary writes of a layer.
type summary struct {
	shape      string
	parameters int
	bytes      int64
}

// Summary returns a table of the layers of a model, which is a struct of layers (see Load) or a pointer to such a struct. A row has the field
// of the layer, its type, the sizes of its input and output, the number of its parameters, and their memory on the device. The memory of
// trained layers includes the derivatives. The last row has the totals.
func Summary(model any) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "layer\ttype\tshape\tparameters\tbytes\n")
	var total summary
	w := walker{visit: func(p place) {
		s := p.layer().summary()
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\n", p.path, p.value.Type().Name(), s.shape, s.parameters, s.bytes)
		total.parameters += s.parameters
		total.bytes += s.bytes
	}}
	_ = w.walk(model) // without the layers in unexported fields
	fmt.Fprintf(table, "total\t\t\t%d\t%d\n", total.parameters, total.bytes)
	table.Flush()
	return text.String()
}

func (l Linear) summary() summary {
	s := summary{shape: fmt.Sprintf("%d to %d", l.In, l.Out), parameters: l.In * l.Out}
	if l.Bias {
		s.parameters += l.Out
	}
	if l.trained != nil {
		s.bytes = l.trained.bytes()
		return s
	}
	if l.weight != nil {
		s.bytes = l.weight.bytes()
	}
	s.bytes += sizeOf(l.bias) + sizeOf(l.half)
	return s
}

func (l Stacked) summary() summary {
	all := summary{shape: fmt.Sprintf("%d to %s", l.In, strings.Trim(fmt.Sprint(l.Out), "[]"))}
	for i, n := range l.Out {
		part := Linear{In: l.In, Out: n, Bias: l.Bias}
		if i < len(l.parts) {
			part = l.parts[i]
		}
		s := part.summary()
		all.parameters += s.parameters
		all.bytes += s.bytes
	}
	if l.whole != nil {
		all.bytes = l.whole.bytes()
	}
	return all
}

func (e Embedding) summary() summary {
	s := summary{shape: fmt.Sprintf("%d of %d", e.Count, e.Width), parameters: e.Count * e.Width}
	if e.trained != nil {
		s.bytes = e.trained.bytes()
	} else if e.table != nil {
		s.bytes = e.table.bytes()
	}
	return s
}

func (n RMSNorm) summary() summary {
	s := summary{shape: fmt.Sprint(n.Width), parameters: n.Width, bytes: tensorBytes(n.values) + sizeOf(n.gain)}
	if n.trained != nil {
		s.bytes = n.trained.bytes()
	}
	return s
}

func (n LayerNorm) summary() summary {
	s := summary{shape: fmt.Sprint(n.Width), parameters: 2 * n.Width, bytes: tensorBytes(n.weight) + tensorBytes(n.bias)}
	if n.trained != nil {
		s.bytes = n.trained.bytes()
	}
	return s
}

func (c Conv2d) summary() summary {
	in := c.In
	if c.Depthwise {
		in = 1
	}
	return summary{
		shape:      fmt.Sprintf("%d to %d, %d x %d", c.In, c.Out, c.Kernel, c.Kernel),
		parameters: in*c.Out*c.Kernel*c.Kernel + c.Out, bytes: tensorBytes(c.filters) + tensorBytes(c.bias),
	}
}

func (q *Parameter) summary() summary {
	return summary{shape: strings.Trim(fmt.Sprint(q.shape), "[]"), parameters: elementsOf(q.shape), bytes: q.bytes()}
}

// bytes returns the memory of the parameters.
func (a *affine) bytes() int64 {
	n := a.weight.bytes()
	if a.bias != nil {
		n += a.bias.bytes()
	}
	return n
}

// bytes returns the memory of the parameter in float32, of its value in activations if these are of another type, and of its derivative.
func (q *Parameter) bytes() int64 {
	return 8 * int64(elementsOf(q.shape)) // 4 + 4, or 4 + 2 + 2
}

func sizeOf[T any](x device.Slice[T]) int64 { return int64(device.View[byte](x).Len()) }

// tensorBytes returns the memory of the elements of t, or 0 if t is nil.
func tensorBytes(t *tensor.Tensor) int64 {
	if t == nil {
		return 0
	}
	return int64(t.Len() * t.DType().Size())
}
