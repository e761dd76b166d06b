// Package chat renders conversations with a language model's chat template, and finds function calls in the model's answers. The template is a Jinja
// template in the metadata of a GGUF file, or in the file tokenizer_config.json. The rendered text is the same as that of the Python package
// transformers.
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
// If a template does not support tools, Template.Prompt describes the tools in the system message. A Parser finds function calls in an answer, in
// the formats of common families of models.
//
// The rendered text contains special tokens as text, such as <|im_end|>. Messages are not escaped: a tokenizer cannot distinguish a special token of
// the template from the same text in a message.
package chat
