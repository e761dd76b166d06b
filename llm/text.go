package llm

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// text decodes tokens and finds where a text stops.
type text struct {
	decoder *tokenizer.Decoder
	stop    []string
	exempt  func(piece string) bool // of Request.Exempt; or nil
	held    string                  // text that may be the beginning of a stop
	spared  bool                    // held begins where no stop applies
}

func newText(d *tokenizer.Decoder, r Request) *text {
	t := &text{decoder: d, stop: r.Stop}
	if r.Exempt != nil && len(r.Stop) > 0 {
		t.exempt = r.Exempt()
		t.spared = t.exempt("")
	}
	return t
}

// add returns the text that a token completes, and the stop that follows it, if one does.
func (t *text) add(id int32) (piece, stop string) {
	t.held += t.decoder.Write(id)
	for {
		at, stop := t.find()
		if at < 0 {
			return piece + t.release(len(t.held)-t.beginning()), ""
		}
		piece += t.release(at)
		if !t.spared {
			t.held = ""
			return piece, stop
		}
		piece += t.release(1)
	}
}

// find returns where the first stop is in the held text, or -1.
func (t *text) find() (at int, stop string) {
	at = -1
	for _, s := range t.stop {
		if i := strings.Index(t.held, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at, stop = i, s
		}
	}
	return at, stop
}

// release returns the first n bytes of the held text, which contain no stop.
func (t *text) release(n int) string {
	piece := t.held[:n]
	t.held = t.held[n:]
	if t.exempt != nil && n > 0 {
		t.spared = t.exempt(piece)
	}
	return piece
}

// beginning returns the length of the longest end of the held text with which a stop begins.
func (t *text) beginning() int {
	longest := 0
	for _, s := range t.stop {
		for n := min(len(s)-1, len(t.held)); n > longest; n-- {
			if strings.HasSuffix(t.held, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// rest returns what was held back.
func (t *text) rest() string {
	rest := t.held + t.decoder.Flush()
	t.held = ""
	return rest
}
