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
// A model file contains the weights, the tokenizer and the chat template. Package model/llama computes the model.
//
// # Several texts at once
//
// With Options.Sequences, several goroutines generate texts at once:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8})
//
// A step runs the model once, and computes the next token of each running text. At most Options.Sequences texts run; further texts wait for a place.
// Waiting texts with the smallest Request.Priority begin first. Among texts of the same priority, the users that Request.User names take turns.
//
// The program must read the tokens of a running text. If 128 tokens are unread, and the program reads none of them for 30 seconds, the text ends
// with ErrSlow. If Options.Sequences is 1, the model waits for the program instead.
//
// # Adapters
//
// With Options.Adapters, each request may name an adapter. A step computes texts with different adapters together:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8, Adapters: map[string]string{"legal": "adapters/legal", "poems": "adapters/poems"}})
//	...
//	for token, err := range m.Chat(ctx, messages, llm.Request{Adapter: "poems"}) {
//
// All adapters are in the device's memory, and each takes as much memory as the adapter with the largest rank.
//
// # Vectors of texts
//
// OpenEmbedder loads a language model that computes vectors of texts, as package embeddings does with other models:
//
//	e, err := llm.OpenEmbedder(dev, path, llm.EmbedOptions{})
//	...
//	vectors, err := e.Embed(ctx, "The cat sits outside.", "A man plays the guitar.")
//
// # Memory
//
// The cache stores the keys and values of tokens in pages of 64 tokens. Texts that begin with the same tokens share pages, unless their values of
// Request.Salt differ. A text that has ended keeps its pages until their memory is needed. If no page is left, the model interrupts the running text
// with the largest Priority or, among several such texts, the text that began last. The model continues the interrupted text later.
//
// # Speculative decoding
//
// With Options.DraftTokens, the package guesses the next tokens of texts, checks all guesses in one step, and keeps those that the model chooses too:
//
//	m, err := llm.Open(dev, path, llm.Options{DraftTokens: 7})
//
// A text is the same as without guesses, except for the rounding described below. The guesses come from Options.DraftModel, a smaller model, or else
// from earlier occurrences of the text's last tokens. The package makes no guesses for texts with a Grammar or penalties, and none in steps of more
// than 32 texts. Usage and Stats count the guesses.
//
// # Errors of the device
//
// If a step fails, the model computes its texts again, one after another. Only a text that fails again ends with ErrDevice. If every computation
// fails, for example because another program uses all memory of the device, all texts end with ErrDevice. Model.Health then returns the error until
// the device works again.
//
// # Reproducibility
//
// With Options.Deterministic, a text depends only on its request and the Options, and not on other texts. An error of the device on a GPU is an
// exception: the rest of the text may differ.
//
// Without this option, the order of additions may depend on the number of tokens that are computed at once. Scores then differ in their last bits,
// and if two tokens are about equally probable, the text may differ too.
package llm
