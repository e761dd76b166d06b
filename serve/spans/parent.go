package spans

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// parent is the span of the client to which a request belongs, from W3C's headers traceparent and tracestate.
type parent struct {
	trace   [16]byte
	id      [8]byte
	sampled bool
	state   string
}

// The parts of traceparent begin at these bytes: version-trace-parent-flags.
const (
	traceAt  = 3
	parentAt = traceAt + 33
	flagsAt  = parentAt + 17
	lengthOf = flagsAt + 2
)

// maxState is the largest tracestate that spans keep. The specification asks for at least 512 bytes.
const maxState = 512

// parentOf returns the parent of a request, and reports whether it has one. Invalid headers count as none.
func parentOf(h http.Header) (p parent, ok bool) {
	if len(h["Traceparent"]) != 1 {
		return p, false
	}
	text := h.Get("Traceparent")
	var version, flags [1]byte
	if len(text) < lengthOf || text[traceAt-1] != '-' || text[parentAt-1] != '-' || text[flagsAt-1] != '-' ||
		!digits(version[:], text[:traceAt-1]) || !digits(p.trace[:], text[traceAt:parentAt-1]) || !digits(p.id[:], text[parentAt:flagsAt-1]) ||
		!digits(flags[:], text[flagsAt:lengthOf]) {
		return parent{}, false
	}
	if rest := text[lengthOf:]; version[0] == 0xff || rest != "" && (version[0] == 0 || rest[0] != '-') { // later versions may have more parts
		return parent{}, false
	}
	if p.trace == [16]byte{} || p.id == [8]byte{} {
		return parent{}, false
	}
	p.sampled = flags[0]&1 != 0
	if state := strings.Join(h["Tracestate"], ","); len(state) <= maxState {
		p.state = strings.ToValidUTF8(state, "")
	}
	return p, true
}

// digits decodes hexadecimal digits, which must be in lower case.
func digits(to []byte, text string) bool {
	if strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// newTrace returns the identifier of a trace, which is not 0.
func newTrace() (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1)
	return id
}

// newID returns the identifier of a span, which is not 0.
func newID() (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// A Sampler chooses the requests that are recorded. The zero Sampler is parentbased_always_on.
type Sampler struct {
	some  bool    // records a share of the traces, and not all
	share float64 // from 0 to 1
	alone bool    // does not do what the client did
}

// ParseSampler returns the sampler with the given name, a value of OTEL_TRACES_SAMPLER. The sampler always_on chooses all traces, always_off chooses
// none, and traceidratio chooses by the identifier of the trace. With the prefix parentbased_, the choice of the client, if there is one, takes
// precedence. The argument is the share of traces, from 0 to 1, that traceidratio chooses; an empty argument means 1.
func ParseSampler(name, argument string) (Sampler, error) {
	rest, based := strings.CutPrefix(name, "parentbased_")
	s := Sampler{alone: !based, share: 1}
	switch rest {
	case "always_on":
	case "always_off":
		s.some, s.share = true, 0
	case "traceidratio":
		s.some = true
		if argument == "" {
			break
		}
		var err error
		if s.share, err = strconv.ParseFloat(argument, 64); err != nil || !(s.share >= 0 && s.share <= 1) {
			return Sampler{}, fmt.Errorf("%w: the share %q of the sampler %s is not from 0 to 1", ErrOptions, argument, name)
		}
	default:
		return Sampler{}, fmt.Errorf("%w: there is no sampler %q", ErrOptions, name)
	}
	return s, nil
}

// chooses reports whether a trace is recorded. The parent is nil for a new trace.
func (s Sampler) chooses(trace [16]byte, p *parent) bool {
	switch {
	case p != nil && !s.alone:
		return p.sampled
	case !s.some:
		return true
	}
	random := binary.BigEndian.Uint64(trace[8:]) >> 11 // the bits that a float64 has; the client's identifiers are random there, too
	return float64(random) < s.share*(1<<53)
}
