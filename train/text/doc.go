// Package text reads files of texts to train a language model with, and packs their tokens.
//
//	data, err := text.Read([]string{"train.jsonl"}, text.Options{Tokenizer: tok, Template: template, Length: 512})
//	...
//	for _, pack := range data.Packs(epoch, seed) { // at most 512 tokens each
//		x, err := model.Read(s, llama.Packed{Tokens: pack.Tokens, Lengths: pack.Lengths})
//		loss := model.Loss(x, pack.Labels)
//	}
//
// Each line of a file is a JSON object of one of three kinds:
//
//	{"messages": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}]}
//	{"prompt": "XIV = ", "completion": "14"}
//	{"text": "XIV is 14."}
//
// A model learns the messages of assistants with the tokens that end them, completions, and whole texts; the other tokens only precede
// these. Other keys of a line have no effect.
package text
