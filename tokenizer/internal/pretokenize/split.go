package pretokenize

import (
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
)

// Behavior says what happens to the matches of a pattern that splits.
type Behavior int

// The behaviors, by their names in tokenizer files.
const (
	Removed            Behavior = iota // matches are dropped
	Isolated                           // each match is a piece
	MergedWithPrevious                 // a match ends the piece before it
	MergedWithNext                     // a match starts the piece after it
	Contiguous                         // adjacent matches are one piece
)

// parseBehavior returns the behavior with a name, of either spelling.
func parseBehavior(name string) (Behavior, error) {
	switch name {
	case "Removed", "removed":
		return Removed, nil
	case "Isolated", "isolated", "":
		return Isolated, nil
	case "MergedWithPrevious", "merged_with_previous":
		return MergedWithPrevious, nil
	case "MergedWithNext", "merged_with_next":
		return MergedWithNext, nil
	case "Contiguous", "contiguous":
		return Contiguous, nil
	}
	return 0, fmt.Errorf("%w: unknown behavior %q", ErrFormat, name)
}

// Split splits at the matches of a pattern.
type Split struct {
	Pattern  pattern.Pattern
	Behavior Behavior
	Invert   bool // what does not match counts as a match, and the reverse
}

// part is a range of a text that matches the pattern, or that does not.
type part struct {
	aligned.Span
	match bool
}

// Split implements PreTokenizer.
func (p Split) Split(t aligned.Text) iter.Seq[aligned.Text] {
	if p.Behavior == Isolated {
		return p.isolate(t)
	}
	return func(yield func(aligned.Text) bool) {
		parts := p.parts(t.S)
		if p.Behavior == Removed {
			parts = slices.DeleteFunc(parts, func(q part) bool { return q.match })
		}
		for _, s := range merge(parts, p.Behavior) {
			if !yield(t.Slice(s.Start, s.End)) {
				return
			}
		}
	}
}

// isolate returns the matches and what is between them.
func (p Split) isolate(t aligned.Text) iter.Seq[aligned.Text] {
	return func(yield func(aligned.Text) bool) {
		last := 0
		for m := range p.Pattern.Find(t.S) {
			if last < m.Start && !yield(t.Slice(last, m.Start)) || !yield(t.Slice(m.Start, m.End)) {
				return
			}
			last = m.End
		}
		if last < len(t.S) {
			yield(t.Slice(last, len(t.S)))
		}
	}
}

// parts returns the matches and what is between them.
func (p Split) parts(s string) []part {
	var parts []part
	last := 0
	for m := range p.Pattern.Find(s) {
		if last < m.Start {
			parts = append(parts, part{aligned.Span{Start: last, End: m.Start}, p.Invert})
		}
		parts = append(parts, part{m, !p.Invert})
		last = m.End
	}
	if last < len(s) {
		parts = append(parts, part{aligned.Span{Start: last, End: len(s)}, p.Invert})
	}
	return parts
}

// merge joins parts as the behavior says.
func merge(parts []part, b Behavior) []aligned.Span {
	var out []aligned.Span
	for i, p := range parts {
		join := false // with the part before
		if i > 0 {
			before := parts[i-1].match
			switch b {
			case Contiguous:
				join = p.match == before
			case MergedWithPrevious:
				join = p.match && !before
			case MergedWithNext:
				join = before && !p.match
			}
		}
		if join {
			out[len(out)-1].End = p.End
		} else {
			out = append(out, p.Span)
		}
	}
	return out
}

func parseSplit(o object) (PreTokenizer, error) {
	p, err := pattern.Parse(o.Pattern)
	if err != nil {
		return nil, err
	}
	b, err := parseBehavior(o.Behavior)
	if err != nil {
		return nil, err
	}
	return Split{Pattern: p, Behavior: b, Invert: o.Invert}, nil
}

func parsePunctuation(o object) (PreTokenizer, error) {
	b, err := parseBehavior(o.Behavior)
	if err != nil {
		return nil, err
	}
	return Split{Pattern: pattern.Runes(isPunctuation), Behavior: b}, nil
}

func parseDelimiter(o object) (PreTokenizer, error) {
	if utf8.RuneCountInString(o.Delimiter) != 1 {
		return nil, fmt.Errorf("%w: the delimiter %q is not one character", ErrFormat, o.Delimiter)
	}
	return Split{Pattern: pattern.Literal(o.Delimiter), Behavior: Removed}, nil
}
