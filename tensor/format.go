package tensor

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Sizes of printed tensors, which are NumPy's.
const (
	mostPrinted = 1000 // elements that are printed in full
	edge        = 3    // elements at either end of a dimension that are printed otherwise
	lineWidth   = 75
	digits      = 8 // after the point
)

// Format implements fmt.Formatter. With %v, and thus with Println, it waits for t and prints the element type, the
// shape, the device, and the elements as NumPy prints them: only those at the edges if there are more than 1000.
// With other verbs, it prints the result of String.
func (t *Tensor) Format(f fmt.State, verb rune) {
	if verb != 'v' || t.err != nil {
		io.WriteString(f, t.String())
		return
	}
	text, err := t.text()
	if err != nil {
		fmt.Fprintf(f, "%s: %v", t.String(), err)
		return
	}
	fmt.Fprintf(f, "%s on %s\n%s", t.String(), t.scope.stream.Device().Info().Name, text)
}

// text returns the elements as text.
func (t *Tensor) text() (string, error) {
	s, err := scopeOf("Format", []*Tensor{t})
	if err != nil {
		return "", err
	}
	if s.err != nil {
		return "", s.err
	}
	p := printer{shape: t.shape, cut: make([]bool, len(t.shape))}
	s.NoGrad(func() {
		s.Tidy(func() *Tensor {
			var x *Tensor
			if x, err = p.edges(t); err == nil {
				p.list, err = x.texts()
			}
			return nil
		})
	})
	if err != nil {
		return "", err
	}
	p.align()
	var b strings.Builder
	p.print(&b, 0, 0, len(p.list))
	return b.String(), nil
}

// printer prints elements.
type printer struct {
	shape []int    // of what is printed
	cut   []bool   // dimensions of which only the edges are printed
	list  []string // elements
}

// edges returns the part of t that is printed.
func (p *printer) edges(t *Tensor) (*Tensor, error) {
	if t.Len() <= mostPrinted {
		return t, nil
	}
	for d, n := range t.shape {
		if n > 2*edge {
			t, p.cut[d] = Concat(d, t.Slice(d, 0, edge), t.Slice(d, n-edge, n)), true
		}
	}
	p.shape = t.shape
	return t, t.err
}

// texts returns the elements, each as text.
func (t *Tensor) texts() ([]string, error) {
	switch t.dtype {
	case dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16:
		list, err := Values[float64](t.scope.ctx, t.To(dtype.Float64))
		return floatTexts(list, t.dtype), err
	case dtype.Bool:
		return valueTexts[bool](t)
	case dtype.Int8:
		return valueTexts[int8](t)
	case dtype.Int16:
		return valueTexts[int16](t)
	case dtype.Int32:
		return valueTexts[int32](t)
	case dtype.Int64:
		return valueTexts[int64](t)
	case dtype.Uint8:
		return valueTexts[uint8](t)
	case dtype.Uint16:
		return valueTexts[uint16](t)
	case dtype.Uint32:
		return valueTexts[uint32](t)
	}
	return valueTexts[uint64](t)
}

func valueTexts[T Element](t *Tensor) ([]string, error) {
	values, err := Values[T](t.scope.ctx, t)
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = fmt.Sprint(v)
	}
	return list, err
}

// floatTexts returns floats as text: all with an exponent, or none.
func floatTexts(values []float64, of dtype.Type) []string {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if a := math.Abs(v); a > 0 && !math.IsInf(a, 0) && a == a {
			low, high = min(low, a), max(high, a)
		}
	}
	list := make([]string, len(values))
	if high < 1e8 && (high == 0 || low >= 1e-4 && high/low <= 1000) {
		for i, v := range values {
			list[i] = floatText(v, 'f', digitsOf(v, 'f', of))
		}
		return list
	}
	most := 0
	for _, v := range values {
		most = max(most, digitsOf(v, 'e', of))
	}
	for i, v := range values {
		list[i] = floatText(v, 'e', most)
	}
	return list
}

// digitsOf returns the number of digits after the point that tell v from other numbers of its type, but at most 8.
func digitsOf(v float64, format byte, of dtype.Type) int {
	if math.IsInf(v, 0) || v != v {
		return 0
	}
	for n := range digits {
		if back, _ := strconv.ParseFloat(strconv.FormatFloat(v, format, n, 64), 64); nearest(back, of) == v {
			return n
		}
	}
	return digits
}

// floatText returns v with n digits after the point, which fixed numbers always have.
func floatText(v float64, format byte, n int) string {
	switch {
	case v != v:
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'f', -1, 64)), "+")
	}
	s := strconv.FormatFloat(v, format, n, 64)
	if n == 0 && format == 'f' {
		s += "."
	}
	return s
}

// nearest returns v rounded to a type.
func nearest(v float64, of dtype.Type) float64 {
	switch of {
	case dtype.Float32:
		return float64(float32(v))
	case dtype.BFloat16:
		return dtype.BF16From64(v).Float64()
	case dtype.Float16:
		return dtype.F16From64(v).Float64()
	}
	return v
}

// align pads elements to the same width, with their points below each other.
func (p *printer) align() {
	before, after, width := 0, 0, 0
	for _, s := range p.list {
		if at := strings.IndexByte(s, '.'); at >= 0 {
			before, after = max(before, at), max(after, len(s)-at)
		}
		width = max(width, len(s))
	}
	if width = max(width, before+after); len(p.list) == 1 {
		return
	}
	for i, s := range p.list {
		if at := strings.IndexByte(s, '.'); at >= 0 {
			s += strings.Repeat(" ", after-len(s)+at)
		}
		p.list[i] = strings.Repeat(" ", width-len(s)) + s
	}
}

// print prints elements from from to to-1, which are those of an index in the dimensions before dim.
func (p *printer) print(b *strings.Builder, dim, from, to int) {
	if dim == len(p.shape) {
		b.WriteString(p.list[from])
		return
	}
	b.WriteByte('[')
	n, column := p.shape[dim], dim+1
	for i := range n {
		if i > 0 {
			column = p.separate(b, dim, column)
		}
		if p.cut[dim] && i == edge {
			b.WriteString("...")
			column = p.separate(b, dim, column+len("..."))
		}
		size := (to - from) / n
		p.print(b, dim+1, from+i*size, from+(i+1)*size)
		if size > 0 {
			column += len(p.list[from])
		}
	}
	b.WriteByte(']')
}

// separate ends an element, and returns the column of the next.
func (p *printer) separate(b *strings.Builder, dim, column int) int {
	last := dim == len(p.shape)-1
	if last && column+1+len(p.list[0]) < lineWidth {
		b.WriteByte(' ')
		return column + 1
	}
	lines := len(p.shape) - 1 - dim // that are empty between matrices
	b.WriteString(strings.Repeat("\n", max(lines, 1)) + strings.Repeat(" ", dim+1))
	return dim + 1
}
