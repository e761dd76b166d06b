package ptxtext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A patch follows packed text. Its first line is patchHeader, and each other line changes the lines of the text before it, from the
// first one on: " =12" keeps the next 12 lines, " -3" leaves out the next 3, and a line without a space at its start is
// inserted. Lines after the last ones that a patch mentions are left out. The result is packed text, which another patch may follow.
const (
	patchHeader = " patch"
	keeps       = " ="
	omits       = " -"
)

// Patch returns what must follow base, which is packed text, so that Unpack returns what it returns for packed.
func Patch(base, packed string) string {
	p := patcher{from: strings.Split(apply(base), "\n"), to: strings.Split(packed, "\n")}
	p.out.WriteString("\n" + patchHeader)
	for len(p.to) > 0 {
		same := 0
		for same < min(len(p.from), len(p.to)) && p.from[same] == p.to[same] {
			same++
		}
		p.skip(keeps, same, same)
		if len(p.to) > 0 {
			omitted, inserted := p.next()
			p.skip(omits, omitted, 0)
			for _, line := range p.to[:inserted] {
				p.out.WriteString("\n" + line)
			}
			p.to = p.to[inserted:]
		}
	}
	return p.out.String()
}

// patcher is the state of Patch: the lines that are left.
type patcher struct {
	from, to []string
	out      strings.Builder
}

// skip writes an instruction for lines, unless there are none, and goes on after them.
func (p *patcher) skip(what string, from, to int) {
	if from > 0 {
		fmt.Fprintf(&p.out, "\n%s%d", what, from)
	}
	p.from, p.to = p.from[from:], p.to[to:]
}

const (
	reach = 200 // how many lines, of both texts together, next leaves out at most
	again = 2   // lines that must be equal
)

// next returns after how many lines of each text, as few as possible, the texts have equal lines again.
func (p *patcher) next() (from, to int) {
	for distance := 1; distance < reach; distance++ {
		for from := range distance + 1 {
			to := distance - from
			if from+again <= len(p.from) && to+again <= len(p.to) && slices.Equal(p.from[from:from+again], p.to[to:to+again]) {
				return from, to
			}
		}
	}
	return len(p.from), len(p.to)
}

// apply returns text with its patches applied, or "" if a patch does not fit.
func apply(text string) string {
	parts := strings.Split(text, "\n"+patchHeader+"\n")
	if len(parts) == 1 {
		return text
	}
	lines := strings.Split(parts[0], "\n")
	for _, patch := range parts[1:] {
		var changed []string
		for line := range strings.SplitSeq(patch, "\n") {
			number, keep := strings.CutPrefix(line, keeps)
			omit := false
			if !keep {
				number, omit = strings.CutPrefix(line, omits)
			}
			if !keep && !omit {
				changed = append(changed, line)
				continue
			}
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 || n > len(lines) {
				return ""
			}
			if keep {
				changed = append(changed, lines[:n]...)
			}
			lines = lines[n:]
		}
		lines = changed
	}
	return strings.Join(lines, "\n")
}
