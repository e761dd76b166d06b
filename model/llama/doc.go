// Package llama computes language models of the Llama family: Llama 2 and 3, SmolLM, TinyLlama and Mistral, from GGUF files.
//
//	file, err := gguf.Open("SmolLM2-135M-Instruct.Q4_1.gguf")
//	m, err := llama.Load(stream, file, nil)
//	defer m.Close()
//	cache, err := m.NewCache(stream, llama.CacheOptions{Sequences: 1, Tokens: 2048})
//	defer cache.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		x, err := m.Forward(s, cache, llama.Span{Sequence: 0, Tokens: prompt})
//		if err != nil {
//			return err
//		}
//		logits, err := tensor.Values[float32](ctx, m.Logits(x.Slice(0, len(prompt)-1, len(prompt))))
//		...
//	})
//
// Each token attends to the tokens before it in its sequence, whose keys and values are in the Cache. Package llm generates text.
package llama
