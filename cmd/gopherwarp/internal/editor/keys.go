package editor

import (
	"bytes"
	"strings"
)

// Bytes of keys.
const (
	ctrlC  = 3
	ctrlD  = 4
	ctrlE  = 5 // the end of the line
	ctrlZ  = 26
	escape = 27
)

// ending are the keys that end a line or that package term does not handle.
const ending = "\r\n\x03\x04\x1a"

// Marks before and after pasted text.
var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// plain replaces the characters that stand for line breaks and tabs of pasted text while it is edited.
var plain = strings.NewReplacer("↵", "\n", "⇥", "\t")

// keys is what the user has typed and no line has taken.
type keys struct {
	ready   []byte
	part    []byte // the beginning of a mark
	pasting bool   // after pasteBegin
	last    byte
}

// add adds bytes of the terminal.
func (k *keys) add(data []byte) {
	for _, b := range data {
		if b == escape {
			k.flush()
		}
		mark := pasteBegin
		if k.pasting {
			mark = pasteEnd
		}
		if k.part = append(k.part, b); !bytes.HasPrefix(mark, k.part) {
			k.flush()
		} else if len(k.part) == len(mark) {
			k.ready = append(k.ready, mark...)
			k.pasting, k.part = !k.pasting, nil
		}
	}
}

// flush adds bytes that are not a mark.
func (k *keys) flush() {
	for _, b := range k.part {
		if k.pasting {
			k.paste(b)
		} else {
			k.press(b)
		}
		k.last = b
	}
	k.part = nil
}

// press adds a byte of a key.
func (k *keys) press(b byte) {
	switch {
	case b == '\n' && k.last == '\r': // one line break
	case b == ctrlC:
		k.ready = append(k.ready, ctrlE, ctrlC) // what follows begins below the line
	default:
		k.ready = append(k.ready, b)
	}
}

// paste adds a byte of pasted text. Control characters have no place in a line.
func (k *keys) paste(b byte) {
	switch {
	case b == '\n' && k.last == '\r':
	case b == '\r' || b == '\n':
		k.ready = append(k.ready, "↵"...)
	case b == '\t':
		k.ready = append(k.ready, "⇥"...)
	case b >= ' ' && b != 0x7f:
		k.ready = append(k.ready, b)
	}
}

// next takes at most n bytes up to the end of a line, or else a command: ctrlC or ctrlZ. It returns neither if there is nothing.
func (k *keys) next(n int) (text []byte, command byte) {
	n = min(n, len(k.ready))
	if i := bytes.IndexAny(k.ready[:n], ending); i >= 0 {
		if b := k.ready[i]; b != ctrlC && b != ctrlZ {
			n = i + 1
		} else if n = i; i == 0 {
			k.ready = k.ready[1:]
			return nil, b
		}
	}
	text, k.ready = k.ready[:n], k.ready[n:]
	return text, 0
}
