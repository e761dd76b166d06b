package console

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Stream writes text that arrives in pieces and breaks lines between words, so that the terminal need not break them within. A
// character that is two columns wide, such as those of Chinese, is a word of its own. Output that is not a terminal is not broken.
type Stream struct {
	w      io.Writer
	width  int // 0 for no terminal
	column int
	spaces string // that follow the last word
	word   string // that has not been written yet
	begun  bool   // the line has text
}

// NewStream returns a Stream on w.
func NewStream(w io.Writer) *Stream { return &Stream{w: w, width: size(w)} }

// Write writes the words that text completes.
func (s *Stream) Write(text string) error {
	if s.width == 0 {
		if text != "" {
			s.begun = !strings.HasSuffix(text, "\n")
		}
		_, err := io.WriteString(s.w, text)
		return err
	}
	var b strings.Builder
	for text != "" {
		_, size := utf8.DecodeRuneInString(text)
		s.add(&b, text[:size])
		text = text[size:]
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}

// Flush writes the word that is not complete, and ends the line if one has begun.
func (s *Stream) Flush() error {
	var b strings.Builder
	s.endWord(&b)
	if s.begun {
		b.WriteByte('\n')
	}
	s.column, s.spaces, s.begun = 0, "", false
	_, err := io.WriteString(s.w, b.String())
	return err
}

// add adds a character.
func (s *Stream) add(b *strings.Builder, char string) {
	switch {
	case char == "\n":
		s.endWord(b)
		b.WriteByte('\n')
		s.column, s.spaces, s.begun = 0, "", false
	case char == " " || char == "\t":
		s.endWord(b)
		s.spaces += strings.Replace(char, "\t", "    ", 1)
	default:
		width := ansi.StringWidth(char) // 0 if it belongs to the character before
		if width > 1 || width == 1 && ansi.StringWidth(s.word) > utf8.RuneCountInString(s.word) {
			s.endWord(b)
		}
		s.word += char
	}
}

// endWord writes the word and the spaces before it, on the next line if there is no room.
func (s *Stream) endWord(b *strings.Builder) {
	if s.word == "" {
		return
	}
	width := ansi.StringWidth(s.word)
	if s.column > 0 && s.column+len(s.spaces)+width > s.width {
		b.WriteByte('\n')
		s.column, s.spaces = 0, ""
	}
	b.WriteString(s.spaces)
	b.WriteString(s.word)
	s.column += len(s.spaces) + width
	s.word, s.spaces, s.begun = "", "", true
}
