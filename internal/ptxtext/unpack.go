package ptxtext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// marker starts the header. The version follows.
const marker = "packed"

// ErrCorrupt means that text is not what Pack returned.
var ErrCorrupt = errors.New("corrupt packed PTX")

// Packed reports whether text is in packed form.
func Packed(text string) bool { return strings.HasPrefix(text, marker) }

// Unpack returns the text that the last of chain was packed from, or the last itself if it is not in packed form. The others are its
// bases: each is the base of the next one. Errors wrap ErrCorrupt.
func Unpack(chain ...string) (string, error) {
	if text := chain[len(chain)-1]; !Packed(text) {
		return text, nil
	}
	r := reader{all: strings.Join(chain, "\n")}
	end := -1
	for _, text := range chain {
		start := end + 1
		end = start + len(text)
		if !r.expand(span{start, end}) {
			return "", fmt.Errorf("%w: a copy does not fit", ErrCorrupt)
		}
	}
	header, lines := r.text(r.base[0]), r.base[1:]
	version, rest, _ := strings.Cut(strings.TrimPrefix(header, marker), " ")
	if version != "2" {
		return "", fmt.Errorf("%w: its version %q is not one that this program knows", ErrCorrupt, version)
	}
	digits, name, ok := strings.Cut(rest, " ")
	size, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || !ok || len(name) > maxCopy {
		return "", fmt.Errorf("%w: its header is %q", ErrCorrupt, header)
	}
	u := unpacker{name: name, size: int(size)}
	u.out = make([]byte, 0, min(u.size, usualExpansion*len(lines)))
	u.newest[labels] = -1
	for i, line := range lines {
		if i > 0 {
			u.out = append(u.out, '\n')
		}
		if i < len(lines)-1 || line.start < line.end { // no line follows the last newline
			u.line(r.text(line))
		}
		if u.bad || len(u.out) > u.size {
			break
		}
	}
	if u.bad || len(u.out) != u.size {
		return "", fmt.Errorf("%w: %d of %d bytes can be read", ErrCorrupt, len(u.out), u.size)
	}
	return unsafe.String(unsafe.SliceData(u.out), len(u.out)), nil
}

// usualExpansion is the size in bytes that lines of PTX have at most, on average. A corrupt header
// does not reserve more memory.
const usualExpansion = 100

// unpacker is the state of Unpack.
type unpacker struct {
	body   string // a line
	at     int    // offset in body
	name   string // of the header
	out    []byte
	size   int // of out at the end
	newest [len(classes)]int
	recent recent
	bad    bool
}

// line unpacks a line.
func (u *unpacker) line(body string) {
	u.body, u.at = body, 0
	start := len(u.out)
	instruction := body == "" || body[0] != none
	if instruction {
		u.out = append(u.out, '\t')
	} else {
		u.at++
	}
	u.codes()
	semicolon := instruction
	if u.at < len(u.body) && u.body[u.at] == none {
		semicolon = false
		u.at++
	}
	switch line := u.out[start:]; {
	case instruction && isDirective(line[1:]):
		u.recent.add(u.out, span{start + 1, len(u.out)})
	case semicolon:
		u.out = append(u.out, ';')
	}
	u.bad = u.bad || u.at < len(body)
}

// codes unpacks codes up to a character that is none.
func (u *unpacker) codes() {
	for u.at < len(u.body) && len(u.out) <= u.size {
		v := value(u.body[u.at])
		if v >= digits {
			return
		}
		u.at++
		if v >= singles {
			v = singles + (v-singles)*digits + u.digit()
		}
		u.phrase(phrases[v])
	}
}

// digit returns the value of the next character.
func (u *unpacker) digit() int {
	if u.at < len(u.body) {
		if v := value(u.body[u.at]); v < digits {
			u.at++
			return v
		}
	}
	u.bad = true
	return 0
}

func (u *unpacker) phrase(p string) {
	for p != "" {
		n := 0
		for n < len(p) && p[n] < firstSymbol {
			n++
		}
		u.out = append(u.out, p[:n]...)
		if n == len(p) {
			return
		}
		u.symbol(p[n])
		p = p[n+1:]
	}
}

func (u *unpacker) symbol(s byte) {
	switch {
	case s < symbolName:
		u.number(int(s-firstSymbol)/kinds, int(s-firstSymbol)%kinds)
	case s == symbolName:
		u.out = append(u.out, u.name...)
	case s == symbolLine:
		at := u.recent.use(u.digit())
		u.out = append(u.out, u.out[at.start:at.end]...)
	default:
		u.out = append(u.out, byte(u.digit()*digits+u.digit()))
	}
}

// number appends a register or label.
func (u *unpacker) number(class, kind int) {
	newest := &u.newest[class]
	n := *newest
	switch kind {
	case kindNext:
		n++
		*newest = n
	case kindLow:
		n = u.digit()
	case kindFar:
		n -= nears + u.digit()
	case kindBack:
		n -= u.digit()*digits + u.digit()
	default:
		n -= kind - kindNear
		if class == labels {
			n += ahead
		}
	}
	if n < 0 {
		u.bad = true
		return
	}
	u.out = strconv.AppendUint(append(u.out, classes[class]...), uint64(n), 10)
}
