// Package chat renders conversations into the text that a language model expects, and finds the calls of functions in the model's answers. The format
// of the text is a Jinja template that comes with the model, in the metadata of a GGUF file or in tokenizer_config.json. The text is the same as that
// of the Python package transformers.
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
// If a template does not support tools, Prompt describes the tools in the system message. A Parser finds calls of functions in an answer, in the
// forms of the usual families of models.
//
// The rendered text contains special tokens as text. If a message contains the text of a special token, this text appears in the result unchanged.
package chat
