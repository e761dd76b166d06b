package trial

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// layout is how a value lies in memory: as Go has it on a 64-bit machine.
type layout struct {
	size, align int
	leaves      []leaf
}

// leaf is a number or a boolean in a value.
type leaf struct {
	offset int
	kind   dtype.Type
}

var scalars = map[string]dtype.Type{
	"bool": dtype.Bool, "int": dtype.Int64, "uint": dtype.Uint64,
	"int8": dtype.Int8, "int16": dtype.Int16, "int32": dtype.Int32, "int64": dtype.Int64,
	"uint8": dtype.Uint8, "uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64,
	"float32": dtype.Float32, "float64": dtype.Float64, "dtype.F16": dtype.Float16, "dtype.BF16": dtype.BFloat16,
	"dtype.F8E4M3": dtype.Float8E4M3, "dtype.F8E5M2": dtype.Float8E5M2,
}

// parseLayout reads a progen.Arg's Layout: a scalar type, "[3]" and an element's layout, or
// the layouts of fields in braces.
func parseLayout(text string) layout {
	l, rest := scan(text)
	if rest != "" {
		panic("BUG: trial: layout " + text)
	}
	return l
}

func scan(text string) (layout, string) {
	switch text[0] {
	case '[':
		var n int
		if _, err := fmt.Sscanf(text, "[%d]", &n); err != nil {
			panic("BUG: trial: layout " + text)
		}
		elem, rest := scan(text[strings.IndexByte(text, ']')+1:])
		l := layout{align: elem.align}
		for range n {
			l.add(elem)
		}
		return l, rest
	case '{':
		l := layout{align: 1}
		for text = text[1:]; text[0] != '}'; text = strings.TrimPrefix(text, " ") {
			var field layout
			field, text = scan(text)
			l.add(field)
		}
		l.size = roundUp(l.size, l.align)
		return l, text[1:]
	}
	end := strings.IndexAny(text+" ", " }")
	kind, ok := scalars[text[:end]]
	if !ok {
		panic("BUG: trial: layout " + text)
	}
	return layout{kind.Size(), kind.Size(), []leaf{{0, kind}}}, text[end:]
}

// add puts a field after the others.
func (l *layout) add(field layout) {
	l.align = max(l.align, field.align)
	at := roundUp(l.size, field.align)
	for _, f := range field.leaves {
		l.leaves = append(l.leaves, leaf{at + f.offset, f.kind})
	}
	l.size = at + field.size
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
