// Package llm generates text with a language model.
//
//	m, err := llm.Open(dev, "SmolLM2-135M-Instruct.Q4_1.gguf", llm.Options{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	for token, err := range m.Chat(ctx, []chat.Message{{Role: "user", Content: "Why is the sky blue?"}}, llm.Request{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Print(token.Text)
//	}
//
// A model file has everything: the weights, the tokenizer and the format of a chat. Package model/llama computes the model.
//
// With Options.Sequences, several goroutines generate texts at once:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8})
//
// A step computes one token of each text, and beside it a part of the prompts of new texts. A text keeps its place until it ends, its
// context is done or its loop breaks. Texts wait in the order of Request.Priority; of one priority, the users that Request.User names get
// places in turn. Options.WaitingTexts and WaitingTokens limit the texts that wait; further ones end with ErrBusy at once. If 128
// tokens of a text wait to be read, and none has been read for 30 seconds, the text ends with ErrSlow; a model of one sequence waits instead.
// Request.N is the number of texts of one prompt.
//
// # Adapters
//
// With Options.Adapters, each request chooses an adapter by its name, or none, and a step computes texts with different adapters together:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8, Adapters: map[string]string{"legal": "adapters/legal", "poems": "adapters/poems"}})
//	...
//	for token, err := range m.Chat(ctx, messages, llm.Request{Adapter: "poems"}) {
//
// The matrices of all adapters are in the device's memory, padded to the largest rank. Texts with different adapters share no memory.
//
// # Memory
//
// The keys and values of tokens are in pages of 64 tokens. Texts that begin with the same tokens share pages: those of other users,
// those of Request.N texts, and those of texts that have ended, until their memory is needed. The pages that were used least recently are
// overwritten first. Request.Salt separates texts that must not share. If no page is left, the text with the largest Priority that began
// last is interrupted and continues later, from those of its pages that are still there.
//
// # Errors of the device
//
// If a step fails, its texts are computed again, one after another, so that only a text that makes steps fail ends with ErrDevice. If the
// device does not compute anything, for example because another program has all its memory, all texts end with ErrDevice, and so does
// each new one. Model.Health returns the error until the device computes again, which the model tests ten times a second.
//
// # Reproducibility
//
// With Options.Deterministic, a text depends on the request and the Options alone, and not on other texts.
//
// Without it, this is so on a CPU for a text with dense weights (float32, float16, bfloat16), as long as there are at most 16 texts,
// the cache has no tokens of the text's prompt, and the text is not interrupted. In the other cases, with quantized weights, and on GPUs, sums
// are formed in another order depending on the number of tokens that are computed at once, so scores differ in their last bits. If two tokens
// are about equally probable, the text may differ too.
package llm
