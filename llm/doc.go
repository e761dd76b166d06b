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
package llm
