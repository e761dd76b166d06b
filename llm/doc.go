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
// Open loads the weights, the tokenizer and the chat template of a model. Package model/llama implements the models.
//
// # Several texts at once
//
// With Options.Sequences, several goroutines may generate texts at the same time:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8})
//
// In each step, the model computes the next token of every running text. At most Options.Sequences texts run, and further texts wait. Texts with the
// smallest Request.Priority begin first. Among texts of the same priority, users (Request.User) take turns.
//
// If 128 tokens of a text are unread, and the program reads none of them for 30 seconds, the text ends with ErrSlow. If Options.Sequences is 1, the
// model waits for the program instead.
//
// # Adapters
//
// With Options.Adapters, each request may name an adapter. Texts with different adapters may run at the same time:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8, Adapters: map[string]string{"legal": "adapters/legal", "poems": "adapters/poems"}})
//	...
//	for token, err := range m.Chat(ctx, messages, llm.Request{Adapter: "poems"}) {
//
// All adapters stay in the device's memory. Each takes as much memory as the adapter with the largest rank.
//
// # Vectors of texts
//
// An Embedder computes vectors of texts with a language model. Package embeddings does the same with encoders of the BERT family.
//
//	e, err := llm.OpenEmbedder(dev, path, llm.EmbedOptions{})
//	...
//	vectors, err := e.Embed(ctx, "The cat sits outside.", "A man plays the guitar.")
//
// # Memory
//
// The cache stores the keys and values of tokens in pages of 64 tokens. Texts that begin with the same tokens share pages, unless their values of
// Request.Salt differ. The pages of a text that has ended stay in the cache until their memory is needed. If no page is left, the model interrupts a
// running text and continues it later. It chooses the text with the largest Request.Priority; of several such texts, the one that arrived last.
//
// # Speculative decoding
//
// With Options.DraftTokens, the package guesses the next tokens of a text, lets the model check all guesses in one step, and keeps the right ones:
//
//	m, err := llm.Open(dev, path, llm.Options{DraftTokens: 7})
//
// Guesses do not change the text, except for rounding (see Reproducibility). If Options.DraftModel is set, this smaller model makes them. Otherwise,
// the package guesses that the text continues as it did after an earlier occurrence of its last tokens. There are no guesses for texts with a Grammar
// or penalties, and none in steps of more than 32 texts. Usage and Stats count the guesses.
//
// # Errors of the device
//
// If a step fails, the model computes the texts of this step again, one after another. Only a text that fails again ends with ErrDevice. If every
// computation fails, for example because another program uses all memory of the device, all texts end with ErrDevice. Model.Health returns this error
// until the device works again.
//
// # Reproducibility
//
// With Options.Deterministic, a text depends only on its request and the Options, and not on other texts. There is one exception: after an error of a
// GPU, the rest of the text may differ.
//
// Without this option, the order of additions may depend on the number of tokens that a step computes. The scores of tokens (logits) may then differ
// in their last bits. If two tokens are about equally probable, the text may differ too.
package llm
