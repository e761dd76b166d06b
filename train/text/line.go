package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
)

// Errors of Read. The error of a line is wrapped in a LineError.
var (
	// ErrLine is the error of a line that has none of the supported forms.
	ErrLine = errors.New("text: invalid line")
	// ErrLong is the error of a text with more tokens than Options.Length.
	ErrLong = errors.New("text: the text is too long")
	// ErrEmpty is the error of files in which no token is to be learned.
	ErrEmpty = errors.New("text: nothing to learn")
	// ErrOptions is the error of Options that are incomplete for the files, such as messages without a Template.
	ErrOptions = errors.New("text: options")
)

// A LineError is the error of a line of a file.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

// Error describes the error, after the file's name and the line's number.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// A Record is the contents of a line: Messages; Prompt and Completion; Text; or Chosen and Rejected, with or without
// Prompt. The other fields are nil.
type Record struct {
	Messages         []Message
	Prompt           *Content
	Completion, Text *string
	Chosen, Rejected *Content
}

// Content is a text or messages.
type Content struct {
	Text     string
	Messages []Message // nil for a text
}

// UnmarshalJSON reads a string, or an array of messages.
func (c *Content) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.Messages)
	}
	return json.Unmarshal(data, &c.Text)
}

// Message is a turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ParseLine returns the contents of a line. The error wraps ErrLine.
func ParseLine(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrLine, inWords(err))
	}
	kinds, preference := 0, r.Chosen != nil || r.Rejected != nil
	for _, has := range []bool{r.Messages != nil, r.Completion != nil || r.Prompt != nil && !preference, r.Text != nil, preference} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return Record{}, fmt.Errorf("%w: it has %d of messages, prompt with completion, text, and chosen with rejected; want exactly one", ErrLine, kinds)
	case preference:
		return r, r.checkPreference()
	case (r.Prompt == nil) != (r.Completion == nil):
		return Record{}, fmt.Errorf("%w: prompt and completion belong together", ErrLine)
	case r.Prompt != nil && r.Prompt.Messages != nil:
		return Record{}, fmt.Errorf("%w: a completion of messages; want a text as the prompt", ErrLine)
	}
	return r, checkMessages(r.Messages)
}

// inWords returns an error of package json without the names of Go's types.
func inWords(err error) error {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return err
	}
	what, want := "the line", "an object"
	if e.Field != "" {
		what, want = strings.ToLower(e.Field), map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "an array"}[e.Type.Kind()]
	}
	if want == "" {
		want = "an object"
	}
	return fmt.Errorf("%s is of type %s; want %s", what, e.Value, want)
}

// checkPreference returns ErrLine if the answers of a preference do not fit each other or the prompt.
func (r Record) checkPreference() error {
	if r.Chosen == nil || r.Rejected == nil {
		return fmt.Errorf("%w: chosen and rejected belong together", ErrLine)
	}
	chosen, rejected := r.Chosen.Messages, r.Rejected.Messages
	switch {
	case (chosen == nil) != (rejected == nil):
		return fmt.Errorf("%w: one of chosen and rejected is a text, and the other has messages", ErrLine)
	case chosen == nil && (r.Prompt == nil || r.Prompt.Messages != nil):
		return fmt.Errorf("%w: chosen and rejected are texts, which need a text as the prompt", ErrLine)
	case r.Chosen.Text == r.Rejected.Text && slices.Equal(chosen, rejected):
		return fmt.Errorf("%w: chosen and rejected are equal", ErrLine)
	case chosen == nil:
		return nil
	}
	same := r.shared()
	return errors.Join(checkMessages(chosen[same:]), checkMessages(rejected[same:]))
}

// shared returns the number of messages with which both answers of a preference begin.
func (r Record) shared() (n int) {
	for n < min(len(r.Chosen.Messages), len(r.Rejected.Messages)) && r.Chosen.Messages[n] == r.Rejected.Messages[n] {
		n++
	}
	return n
}

// checkMessages returns ErrLine if a message has no role, or none is of an assistant.
func checkMessages(list []Message) error {
	learned := list == nil
	for i, m := range list {
		if m.Role == "" {
			return fmt.Errorf("%w: message %d has no role", ErrLine, i+1)
		}
		learned = learned || m.Role == assistant
	}
	if !learned {
		return fmt.Errorf("%w: no message of the assistant", ErrLine)
	}
	return nil
}

// assistant is the role of messages that a model learns.
const assistant = "assistant"

// conversation returns messages for a template.
func conversation(list []Message) (all []chat.Message) {
	for _, m := range list {
		all = append(all, chat.Message{Role: m.Role, Content: m.Content})
	}
	return all
}
