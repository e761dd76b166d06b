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
// A step computes one token of each text, and beside it a part of the prompts of new texts, in the order of their arrival. A text keeps
// its place until it ends, its context is done or its loop breaks. If the cache is full, the text that began last is interrupted and
// continues later. A text that is not read while 128 tokens are generated ends with ErrSlow; a model of one sequence waits instead. An
// error of the device ends all texts, and Model.Health returns it from then on.
//
// # Reproducibility
//
// On a CPU, a text with dense weights (float32, float16, bfloat16) depends on the request alone, and not on the texts beside it, as long
// as there are at most 16 of them, the cache knows nothing of its prompt, and it is not interrupted. In the other cases, with quantized
// weights, and on GPUs, sums are formed in another order depending on the number of tokens that are computed at once: scores differ in
// their last bits, and when two tokens are about as probable, so may the text.
package llm
