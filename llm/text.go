package llm

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// text decodes tokens and finds where a text stops.
type text struct {
	decoder *tokenizer.Decoder
	stop    []string
	held    string // text that may be the beginning of a stop
}

func newText(d *tokenizer.Decoder, stop []string) *text { return &text{decoder: d, stop: stop} }

// add returns the text that a token completes, and the stop that follows it, if one does.
func (t *text) add(id int32) (piece, stop string) {
	t.held += t.decoder.Write(id)
	at := -1
	for _, s := range t.stop {
		if i := strings.Index(t.held, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at, stop = i, s
		}
	}
	if at >= 0 {
		piece, t.held = t.held[:at], ""
		return piece, stop
	}
	n := len(t.held) - t.beginning()
	piece, t.held = t.held[:n], t.held[n:]
	return piece, ""
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
