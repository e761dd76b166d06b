package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

// A Record is the contents of a line: Messages, or Prompt and Completion, or Text, or Chosen and Rejected with or without Prompt. The other
// fields are nil.
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

// Message is a turn of a conversation.
type Message struct {
	Role    string // assistant, developer, function, system, tool or user
	Content string
}

// roles are the roles of messages.
var roles = []string{"assistant", "developer", "function", "system", "tool", "user"}

// ParseLine returns the contents of a line. It ignores unknown keys, and keys with the value null. Keys are case-sensitive: "Text" is unknown. The error wraps ErrLine.
func ParseLine(line []byte) (Record, error) {
	r, err := parseRecord(line)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrLine, err)
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

// object is a JSON object.
type object map[string]json.RawMessage

// parseRecord reads the values of the keys that a Record has.
func parseRecord(line []byte) (r Record, err error) {
	if !utf8.Valid(line) {
		return r, errors.New("it is not valid UTF-8")
	}
	var o object
	if err := o.read("the line", line); err != nil {
		return r, err
	}
	if raw, ok := o.value("messages"); ok {
		r.Messages, err = messagesOf("messages", raw)
	}
	var errs [5]error
	r.Completion, errs[0] = o.text("completion")
	r.Text, errs[1] = o.text("text")
	r.Prompt, errs[2] = o.content("prompt")
	r.Chosen, errs[3] = o.content("chosen")
	r.Rejected, errs[4] = o.content("rejected")
	return r, errors.Join(append(errs[:], err)...)
}

// read reads an object. The error calls it by a name.
func (o *object) read(name string, raw []byte) error {
	return inWords(name, "an object", json.Unmarshal(raw, o))
}

// value returns the value of a key, and false if there is none or it is null.
func (o object) value(key string) (json.RawMessage, bool) {
	raw, ok := o[key]
	return raw, ok && string(raw) != "null"
}

// text returns the string that a key has, or nil.
func (o object) text(key string) (*string, error) {
	raw, ok := o.value(key)
	if !ok {
		return nil, nil
	}
	var text string
	return &text, inWords(key, "a string", json.Unmarshal(raw, &text))
}

// content returns the string or the messages that a key has, or nil.
func (o object) content(key string) (c *Content, err error) {
	if raw, ok := o.value(key); ok && raw[0] == '[' {
		c = &Content{}
		c.Messages, err = messagesOf(key, raw)
		return c, err
	}
	text, err := o.text(key)
	if text == nil || err != nil {
		return nil, err
	}
	return &Content{Text: *text}, nil
}

// messagesOf reads the array of messages that a key has.
func messagesOf(key string, raw []byte) (list []Message, err error) {
	var all []json.RawMessage
	if err := inWords(key, "an array", json.Unmarshal(raw, &all)); err != nil {
		return nil, err
	}
	list = make([]Message, len(all))
	for i, raw := range all {
		name := fmt.Sprintf("message %d of %s", i+1, key)
		var o object
		if err := o.read(name, raw); err != nil {
			return nil, err
		}
		if list[i], err = o.message(); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	}
	return list, nil
}

// message returns the message that an object is. The error continues a sentence about the message.
func (o object) message() (Message, error) {
	role, wrong := o.text("role")
	content, err := o.text("content")
	switch err := errors.Join(wrong, err); {
	case err != nil:
		return Message{}, fmt.Errorf("is wrong: %w", err)
	case role == nil:
		return Message{}, errors.New("has no role")
	case !slices.Contains(roles, *role):
		return Message{}, fmt.Errorf("has the role %q; want one of %s", *role, strings.Join(roles, ", "))
	case content == nil:
		return Message{}, errors.New("has no content; want a string")
	}
	return Message{Role: *role, Content: *content}, nil
}

// inWords returns an error of package json without the names of Go's types.
func inWords(name, want string, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is of type %s; want %s", name, e.Value, want)
	}
	return err
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

// checkMessages returns ErrLine if no message is of an assistant.
func checkMessages(list []Message) error {
	if list != nil && !slices.ContainsFunc(list, func(m Message) bool { return m.Role == assistant }) {
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
