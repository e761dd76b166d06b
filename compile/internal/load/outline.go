package load

import "bytes"

// outliner takes out of a file what says nothing of what it declares. It looks at braces alone: those of a function and of a
// composite literal are emptied, those of a type are not, nor are those of an array that counts its elements. Every
// declaration stays on its line.
type outliner struct {
	text []byte
	out  []byte
	at   int // in text
	done int // up to there text is in out, or left out

	word    []byte // that stands right in front
	started bool   // the package clause has begun: comments before it tell of the file
	counted bool   // the next literal's elements count
}

// outline returns the text of a file without function bodies, elements, and most comments: about a third of it. A file
// that says itself where its lines come from is left as it is, and so is what is no text of Go.
func outline(text []byte) []byte {
	if bytes.Contains(text, []byte("//line ")) || bytes.Contains(text, []byte("/*line ")) {
		return text
	}
	o := &outliner{text: text, out: make([]byte, 0, len(text)/2)}
	for o.at < len(text) {
		if !o.token() {
			return text
		}
	}
	return append(o.out, text[o.done:]...)
}

// token passes a token. It reports false if braces do not match.
func (o *outliner) token() bool {
	start := o.at
	switch c := o.text[start]; {
	case isWord(c):
		for o.at < len(o.text) && isWord(o.text[o.at]) {
			o.at++
		}
		o.word = o.text[start:o.at]
		o.started = o.started || string(o.word) == "package"
		return true
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		o.at++
		return true
	case o.skip():
		if o.started && o.text[start] == '/' && o.text[start+1] == '/' {
			o.cut(start, o.at)
		}
		return true // a text is no word, but no brace follows one either
	case c == '{':
		return o.brace()
	case bytes.HasPrefix(o.text[o.at:], []byte("[...]")):
		o.counted = true
	}
	o.word = nil
	o.at++
	return true
}

// brace passes an opening brace, perhaps with all up to the one that closes it.
func (o *outliner) brace() bool {
	o.at++
	if w := string(o.word); w == "struct" || w == "interface" {
		o.word = nil
		return true
	}
	o.word = nil
	if o.counted {
		o.counted = false
		return true
	}
	start := o.at
	for depth := 1; o.at < len(o.text); {
		if o.skip() {
			continue
		}
		switch o.text[o.at] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			o.cut(start, o.at)
			return true
		}
		o.at++
	}
	return false
}

// cut leaves out a part of the text, but for its ends of lines.
func (o *outliner) cut(from, to int) {
	o.out = append(o.out, o.text[o.done:from]...)
	for range bytes.Count(o.text[from:to], []byte("\n")) {
		o.out = append(o.out, '\n')
	}
	o.done = to
}

// skip passes a comment or a literal in quotes, and reports whether there is one. A comment of one line ends before the line's end.
func (o *outliner) skip() bool {
	rest := o.text[o.at:]
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
			if rest[i] == c {
				o.at += i + 1
				return true
			}
			if rest[i] == '\\' {
				i++
			}
		}
		o.at++ // without an end: the parser reports it
		return true
	case c == '`':
		return o.past(1, "`")
	case bytes.HasPrefix(rest, []byte("/*")):
		return o.past(2, "*/")
	case bytes.HasPrefix(rest, []byte("//")):
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			o.at += i
		} else {
			o.at = len(o.text)
		}
		return true
	}
	return false
}

// past passes what has an opening of n bytes and the given end.
func (o *outliner) past(n int, end string) bool {
	if i := bytes.Index(o.text[o.at+n:], []byte(end)); i >= 0 {
		o.at += n + i + len(end)
	} else {
		o.at = len(o.text)
	}
	return true
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
