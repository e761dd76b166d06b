package ptxtext

import (
	"slices"
	"strings"
)

// In shortened text, a line may start with copies: each is a space and two numbers. The first number is twice the number of lines that the copy
// stands for, plus 1 if they are lines of the same text: those that start as many lines before as the second number says. Otherwise they are lines of the base, and the
// second number says, as unsigned does, how many lines they are after the end of the latest copy of the base. What follows the last copy is a line.
// The first line, the header, is never a copy.

// maxLines bounds what copies of corrupt text expand to.
const maxLines = 1 << 20

// reader expands shortened texts.
type reader struct {
	all   string // the texts
	base  []span // the lines of the text before
	at    int    // in base: the end of the latest copy
	spare []span // memory for lines
}

// text returns a line.
func (r *reader) text(line span) string { return r.all[line.start:line.end] }

// expand sets r.base to the lines of the text in a span of r.all, and reports whether its copies are of lines that exist. Lines are spans
// rather than strings because the garbage collector need not look at them.
func (r *reader) expand(text span) bool {
	lines := slices.Grow(r.spare[:0], len(r.base)+strings.Count(r.all[text.start:text.end], "\n")+1)
	r.at = 0
	for at := text.start; at <= text.end; {
		end := text.end
		if n := strings.IndexByte(r.all[at:end], '\n'); n >= 0 {
			end = at + n
		}
		rest := r.all[at:end]
		for strings.HasPrefix(rest, " ") {
			var ok bool
			if lines, rest, ok = r.copy(lines, rest[1:]); !ok {
				return false
			}
		}
		if rest != "" || at == end {
			lines = append(lines, span{end - len(rest), end})
		}
		at = end + 1
	}
	r.base, r.spare = lines, r.base
	return true
}

// copy appends the lines of the copy that text starts with, after its space, and returns what follows it.
func (r *reader) copy(lines []span, text string) (longer []span, rest string, ok bool) {
	n, text := readNumber(text)
	where, text := readNumber(text)
	own := n%2 == 1
	n /= 2
	start := r.at + signed(where)
	if own {
		start = len(lines) - where
	}
	switch {
	case n <= 0, where < 0, start < 0, len(lines)+n > maxLines:
		return nil, "", false
	case own && n <= where:
		lines = append(lines, lines[start:start+n]...)
	case own && where > 0:
		for i := range n { // which may copy what it has copied
			lines = append(lines, lines[start+i])
		}
	case !own && start+n <= len(r.base):
		lines = append(lines, r.base[start:start+n]...)
		r.at = start + n
	default:
		return nil, "", false
	}
	return lines, text, true
}

// Numbers consist of digits that are less than half of all, and of one such digit plus half for each further one.
const half = digits / 2

func appendNumber(b []byte, n int) []byte {
	for n >= half {
		b = append(b, digit(half+n%half))
		n /= half
	}
	return append(b, digit(n))
}

// readNumber returns the number at the start of text, or a negative one if there is none, and what follows it.
func readNumber(text string) (n int, rest string) {
	unit := 1
	for i := 0; i < len(text) && unit < maxLines*half; i++ {
		v := value(text[i])
		if v >= digits {
			break
		}
		n += v % half * unit
		if v < half {
			return n, text[i+1:]
		}
		unit *= half
	}
	return -1, ""
}

// signed and unsigned map the integers to those that are not negative, and back.
func signed(n int) int {
	if n%2 == 0 {
		return n / 2
	}
	return -(n + 1) / 2
}

func unsigned(n int) int {
	if n >= 0 {
		return 2 * n
	}
	return -2*n - 1
}

// shortener is the state of shorten.
type shortener struct {
	base, own       []string
	inBase, earlier map[string][]int // the places of lines; earlier has those before i
	i, at           int              // offsets in own and base
	out             []byte
}

// duplicate is a sequence of lines of the text that are also elsewhere.
type duplicate struct {
	own   bool // in the text itself
	start int
	lines int
	code  []byte // the copy
	saved int    // bytes, if the copy replaces the lines
}

// tries is how many places of a line shorten considers, of the text and of its base.
const tries = 40

// shorten returns lines as shortened text. base has the lines of its base, and may be empty.
func shorten(base, lines []string) string {
	s := shortener{base: base, own: lines, inBase: map[string][]int{}, earlier: map[string][]int{}}
	for i, line := range base {
		s.inBase[line] = append(s.inBase[line], i)
	}
	s.out = append(s.out, lines[0]...)
	s.pass(1)
	copied := false // the end of out is a copy, which a line may follow
	for s.i < len(lines) {
		d := s.best()
		line := lines[s.i]
		if !copied || d.saved <= 0 && line == "" {
			s.out = append(s.out, '\n')
		}
		copied = d.saved > 0
		if copied {
			s.out = append(s.out, d.code...)
			s.pass(d.lines)
		} else {
			s.out = append(s.out, line...)
			s.pass(1)
		}
		if copied && !d.own {
			s.at = d.start + d.lines
		}
	}
	return string(s.out)
}

// pass goes on after n lines.
func (s *shortener) pass(n int) {
	for range n {
		line := s.own[s.i]
		s.earlier[line] = append(s.earlier[line], s.i)
		s.i++
	}
}

// best returns the duplicate of the next lines that saves most.
func (s *shortener) best() (best duplicate) {
	line := s.own[s.i]
	near, _ := slices.BinarySearch(s.inBase[line], s.at)
	places := s.inBase[line][max(0, near-tries/2):]
	for _, start := range places[:min(len(places), tries)] {
		s.try(&best, duplicate{start: start})
	}
	places = s.earlier[line]
	for _, start := range places[max(0, len(places)-tries):] {
		s.try(&best, duplicate{own: true, start: start})
	}
	return best
}

// try replaces best by d, whose extent is yet unknown, if d saves more.
func (s *shortener) try(best *duplicate, d duplicate) {
	from, where, own := s.base, unsigned(d.start-s.at), 0
	if d.own {
		from, where, own = s.own, s.i-d.start, 1
	}
	for d.start+d.lines < len(from) && s.i+d.lines < len(s.own) && from[d.start+d.lines] == s.own[s.i+d.lines] {
		d.saved += len(from[d.start+d.lines]) + 1
		d.lines++
	}
	d.code = appendNumber(appendNumber([]byte{' '}, 2*d.lines+own), where)
	d.saved -= len(d.code)
	if d.saved > best.saved {
		*best = d
	}
}
