package decode

import (
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/bytelevel"
)

// each returns the stage that applies f to each token.
func each(f func(token string) string) stage {
	return func(next Sink) Sink {
		return &indexed{next: next, f: func(token string, _ bool) string { return f(token) }}
	}
}

// indexed applies a function to each token, which learns whether the token is
// the first.
type indexed struct {
	next  Sink
	f     func(token string, first bool) string
	later bool
}

// Write implements Sink.
func (s *indexed) Write(token string) {
	s.next.Write(s.f(token, !s.later))
	s.later = true
}

// End implements Sink.
func (s *indexed) End() { s.next.End() }

// byteLevel returns the bytes that the characters of a token stand for. A token
// with other characters is kept.
func byteLevel(token string) string {
	if s, ok := bytelevel.Decode(token); ok {
		return s
	}
	return token
}

// byteFallback returns the byte that a token like <0x0A> stands for. Other
// tokens are kept.
func byteFallback(token string) string {
	if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
		if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
			return string([]byte{byte(b)})
		}
	}
	return token
}

// wordPiece returns the stage that removes the prefix of tokens that continue a
// word and puts a space before the others.
func wordPiece(prefix string, cleanup bool) stage {
	return func(next Sink) Sink {
		return &indexed{next: next, f: func(token string, first bool) string {
			if !first {
				rest, ok := strings.CutPrefix(token, prefix)
				if !ok {
					rest = " " + token
				}
				token = rest
			}
			if cleanup {
				token = clean(token)
			}
			return token
		}}
	}
}

// artifacts lists what tokenization of English separates, and how it was
// written, in the order of replacement.
var artifacts = [...][2]string{
	{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"},
	{" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
}

// clean replaces the artifacts in a token.
func clean(token string) string {
	if !strings.Contains(token, " ") {
		return token
	}
	for _, a := range artifacts {
		token = strings.ReplaceAll(token, a[0], a[1])
	}
	return token
}

// suffix replaces the mark at the end of words by a space, except in the last
// token. Therefore it writes a token when the next one comes.
type suffix struct {
	next    Sink
	suffix  string
	held    string
	holding bool
}

// Write implements Sink.
func (s *suffix) Write(token string) {
	if s.holding {
		s.next.Write(strings.ReplaceAll(s.held, s.suffix, " "))
	}
	s.held, s.holding = token, true
}

// End implements Sink.
func (s *suffix) End() {
	if s.holding {
		s.next.Write(strings.ReplaceAll(s.held, s.suffix, ""))
	}
	s.next.End()
}

// stripStream removes a character at the start and at the end of the whole
// text, which arrives in parts.
type stripStream struct {
	next        Sink
	content     string
	start, stop int    // how many to remove at most
	held        string // at most stop times content, which may be the end
}

// Write implements Sink.
func (s *stripStream) Write(token string) {
	for s.start > 0 && token != "" {
		rest, ok := strings.CutPrefix(token, s.content)
		if !ok {
			s.start = 0
			break
		}
		token = rest
		s.start--
	}
	if token == "" {
		return
	}
	token = s.held + token
	end := len(token)
	for i := 0; i < s.stop && strings.HasSuffix(token[:end], s.content); i++ {
		end -= len(s.content)
	}
	s.held = token[end:]
	s.next.Write(token[:end])
}

// End implements Sink.
func (s *stripStream) End() { s.next.End() }
