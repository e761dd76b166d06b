package llm

import (
	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Prompt returns the text that Chat continues: the conversation in the format of the model's template, and the start of an answer. The
// error is ErrChat, or an error of chat.Template.Prompt.
func (m *Model) Prompt(messages []chat.Message, o chat.Options) (string, error) {
	if m.template == nil {
		return "", ErrChat
	}
	return m.template.Prompt(messages, o)
}

// decoder returns a decoder for the answer to a request. It leaves out special tokens, except those that mark calls if there are tools.
func (m *Model) decoder(r Request) *tokenizer.Decoder {
	o := tokenizer.DecodeOptions{SkipSpecial: true}
	if len(r.Template.Tools) > 0 {
		for _, marker := range chat.Markers() {
			if id, ok := m.tokenizer.TokenID(marker); ok {
				o.Keep = append(o.Keep, id)
			}
		}
	}
	return m.tokenizer.NewDecoder(o)
}
