// Package chat renders conversations into the text that a language model
// expects, and finds the calls of functions in its answers. The format is a Jinja template that comes with the model, in the
// metadata of a GGUF file or in tokenizer_config.json. Templates get the
// variables and functions that the Python package transformers provides, so that
// both render the same text. The package does not tokenize the text.
//
//	t, err := chat.Open("SmolLM2-135M-Instruct")
//	if err != nil {
//		return err
//	}
//	text, err := t.Render([]chat.Message{
//		{Role: "system", Content: "You are brief."},
//		{Role: "user", Content: "Why is the sky blue?"},
//	}, chat.Options{Generate: true})
//
// If a template does not know tools, Prompt describes them in the system message.
// A Parser reads answers, in which each family of models writes calls in its own
// form.
//
// The rendered text contains special tokens as text. These formats define no
// escape: a message that contains the text of a special token is not changed.
package chat
