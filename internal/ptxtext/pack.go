package ptxtext

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Pack returns text in packed form, without a base. Any text may be packed.
func Pack(text string) string {
	packed, _ := new(Library).Add(text)
	return packed
}

// flat returns text in packed form, with the newest table, before it is shortened.
func flat(text string) string {
	name := entryName(text)
	var b strings.Builder
	fmt.Fprintf(&b, "%s2 %d %s\n", marker, len(text), name)
	e := encoder{out: &b, book: newest(), scanner: newScanner(name)}
	e.text(text)
	return b.String()
}

// Segments yields the sequences of symbols, which phrases are parts of, of the different lines of texts. Packed texts contain most other lines
// as copies. A sequence is valid until the next one.
func Segments(texts []string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		seen := map[string]bool{}
		for _, text := range texts {
			s := newScanner(entryName(text))
			for line := range strings.SplitSeq(text, "\n") {
				content, instruction, bare := trim(line)
				var all []segment
				for piece := range s.segments(content, instruction) {
					all = append(all, segment{slices.Clone(piece.symbols), piece.digits})
				}
				key := fmt.Sprint(all, instruction, bare)
				if seen[key] {
					continue
				}
				seen[key] = true
				for _, piece := range all {
					if !yield(piece.symbols) {
						return
					}
				}
			}
		}
	}
}

// trim returns a line without the tab and the semicolon that packed text leaves out. A bare line is
// one that has the tab, but not the semicolon that would follow from it.
func trim(line string) (content string, instruction, bare bool) {
	content, instruction = strings.CutPrefix(line, "\t")
	if instruction && !isDirective(content) {
		rest, ok := strings.CutSuffix(content, ";")
		return rest, true, !ok
	}
	return content, instruction, false
}

// newest returns the phrases of the newest table.
var newest = sync.OnceValue(func() *Book { return NewBook(phrases[:]) })

// encoder writes the body of packed text.
type encoder struct {
	out     *strings.Builder
	book    *Book
	scanner *scanner
}

func (e *encoder) text(text string) {
	for text != "" {
		line, rest, more := strings.Cut(text, "\n")
		e.line(line, more)
		if more {
			e.out.WriteByte('\n')
		}
		text = rest
	}
}

// line writes a line. Without its tab, a line has content or a newline: two marks would be one, and an empty
// last line none.
func (e *encoder) line(line string, more bool) {
	content, instruction, bare := trim(line)
	if content == "" && (bare || !more) {
		content, instruction, bare = line, false, false
	}
	if !instruction {
		e.out.WriteByte(none)
	}
	for s := range e.scanner.segments(content, instruction) {
		e.segment(s)
	}
	if bare {
		e.out.WriteByte(none)
	}
}

// segment writes the codes of s, and its digits.
func (e *encoder) segment(s segment) {
	for _, p := range e.book.Divide(s.symbols) {
		if p >= singles {
			e.out.WriteByte(digit(singles + (p-singles)/digits))
			p = (p - singles) % digits
		}
		e.out.WriteByte(digit(p))
	}
	for _, d := range s.digits {
		e.out.WriteByte(digit(d))
	}
}
