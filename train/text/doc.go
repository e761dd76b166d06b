// Package text reads files of texts to train a language model with, and packs their tokens.
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
// A model learns whole texts, completions, and the messages of assistants with the tokens that end these messages. It does not learn the other
// tokens. Other keys of a line have no effect. No token has characters of both the prompt and the completion.
//
// With Options.Preferences, each line is a preference instead: a better answer, under the key chosen, and a worse one, under the key rejected. The
// answers are texts that follow a prompt, or conversations. Without the key prompt, the prompt of conversations is the messages with which both
// begin:
//
//	{"prompt": "XIV =", "chosen": " 14", "rejected": " 16"}
//	{"chosen": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}], "rejected": [...]}
package text
