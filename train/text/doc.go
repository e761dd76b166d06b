// Package text reads texts for the training of a language model, and packs their tokens.
//
//	data, err := text.Read([]string{"train.jsonl"}, text.Options{Tokenizer: tok, Template: template, Length: 512})
//	...
//	for _, pack := range data.Packs(epoch, seed) { // at most 512 tokens each
//		x, err := model.Read(s, llama.Packed{Tokens: pack.Tokens, Lengths: pack.Lengths})
//		loss := model.Loss(x, pack.Labels)
//	}
//
// Each line of a file is a JSON object of one of these kinds:
//
//	{"messages": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}]}
//	{"prompt": "XIV =", "completion": " 14"}
//	{"text": "XIV is 14."}
//
// A model learns to predict texts, completions, and the messages of assistants, including the tokens that end these messages. It does not
// learn to predict prompts and other messages. Other keys of a line have no effect. No token has characters of both the prompt and the
// completion.
//
// With Options.Preferences, each line is a preference instead: a better answer, under the key "chosen", and a worse one, under the key
// "rejected". The answers are texts that follow a prompt, or conversations. If both conversations begin with the same messages, these are the
// prompt:
//
//	{"prompt": "XIV =", "chosen": " 14", "rejected": " 16"}
//	{"chosen": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}], "rejected": [...]}
package text
