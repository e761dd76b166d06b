// Package llama runs language models of the Llama family: Llama 2 and 3, SmolLM, TinyLlama, Mistral, Qwen2 and Qwen3, from GGUF files or from
// safetensors files with a config.json.
//
//	file, err := gguf.Open("SmolLM2-135M-Instruct.Q4_1.gguf")
//	m, err := llama.Load(stream, file, llama.LoadOptions{})
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
// A Decoder continues sequences token by token. The tokens stay on the device:
//
//	d, err := m.NewDecoder(cache, 1, chooser)
//	err = d.Begin(ctx, 0, llama.Span{Sequence: 0, Tokens: prompt}) // chooses the first token
//	for range 100 {
//		err = d.Step(0) // appends the last token and chooses the next one; d.Tokens() has it on the device
//	}
//
// Each token attends to itself and to the earlier tokens of its sequence. The Cache has the keys and values of these tokens. To generate
// text, use package llm.
package llama
