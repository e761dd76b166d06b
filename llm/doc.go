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
// With Options.Sequences, several goroutines generate texts at once:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8})
//
// Options.Sequences is the number of places. A text needs a place while it is generated; further texts wait for a place. A step runs the model
// once. It computes one token of each text that has a place, and parts of the prompts of new texts. A text keeps its place until it ends, its ctx
// is done, or the program leaves its loop. Waiting texts with the smallest Request.Priority get places first; among texts of the same priority, the
// users that Request.User names take turns. Options.WaitingTexts and WaitingTokens limit the waiting texts; further texts end with ErrBusy at once.
// If 128 tokens of a text are unread, and the program reads none of them for 30 seconds, the text ends with ErrSlow. If Options.Sequences is 1, the
// model waits for the program instead. If Request.N is greater than 1, the model generates this number of texts of one prompt.
//
// # Adapters
//
// With Options.Adapters, each request may name an adapter. A step computes texts with different adapters together:
//
//	m, err := llm.Open(dev, path, llm.Options{Sequences: 8, Adapters: map[string]string{"legal": "adapters/legal", "poems": "adapters/poems"}})
//	...
//	for token, err := range m.Chat(ctx, messages, llm.Request{Adapter: "poems"}) {
//
// The matrices of all adapters are in the device's memory, padded to the largest rank. Texts with different adapters share no memory.
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
// The keys and values of tokens are in pages of 64 tokens. Texts that begin with the same tokens share pages, whether the texts belong to
// one Request or to different users. A text that has ended keeps its pages until their memory is needed. The least recently used pages are
// overwritten first. Texts with different values of Request.Salt never share pages. If no page is left, the model interrupts the text with
// the largest Priority or, among several such texts, the text that began last. The interrupted text continues later, from its pages that
// have not been overwritten.
//
// # Speculative decoding
//
// With Options.DraftTokens, the package guesses the next tokens of texts, checks all guesses in one step, and keeps those that the model chooses too:
//
//	m, err := llm.Open(dev, path, llm.Options{DraftTokens: 7})
//
// A text is the same as without guesses, except for the rounding described below. This also holds for tokens that are chosen at random. Guesses
// come from Options.DraftModel, a smaller model, or else from earlier occurrences of the text's last tokens, which suits texts that repeat parts of
// their prompts. The package makes no guesses for texts with a Grammar or penalties, and none in steps of more than 32 texts. On a GPU, it also
// makes none in steps that compute prompts. Usage and Stats count the guesses.
//
// With Options.Deterministic, guesses do not change texts at all. A step then has at most as many texts and guesses together as Options.Sequences,
// rounded up to a power of two.
//
// # Errors of the device
//
// If a step fails, the model computes its texts again, one after another. Only a text that fails again ends with ErrDevice; the others continue. On
// a GPU, the rest of a text that continues may differ from the text without the failure, even with Options.Deterministic. If every computation
// fails, for example because another program uses all memory of the device, all texts end with ErrDevice, and so do new texts. The model then tests
// the device ten times a second. Until the device works again, Model.Health returns the error.
//
// # Reproducibility
//
// With Options.Deterministic, a text depends only on its request and the Options, and not on other texts.
//
// Without this option, the order of additions may depend on the number of tokens that are computed at once. Scores then differ in their
// last bits, and if two tokens are about equally probable, the text may differ too. On a CPU, the order is fixed if all of these conditions
// hold:
//
//   - The weights are dense: float32, float16 or bfloat16.
//   - There are at most 16 texts.
//   - The cache has no tokens of the text's prompt.
//   - The text is not interrupted.
package llm
