// Package llamacpp serves language models with the protocol of llama-server, the server of llama.cpp:
//
//   - POST /completion continues a prompt.
//   - /apply-template converts a conversation to a prompt.
//   - /props and /slots return the state of the server.
//   - /lora-adapters lists adapters.
//   - /models/load and /models/unload load and unload models.
//   - The paths of OpenAI's API work without /v1, too.
//
// The Handler is made as follows:
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	h := llamacpp.Handle(g, openai.Handle(g), llamacpp.Options{Paths: map[string]string{"smollm2": "smollm2.gguf"}, Slots: 8})
//	return http.ListenAndServe("localhost:8080", h)
//
// The field lora of /completion chooses an adapter by its id in /lora-adapters. The server refuses grammars in GBNF, infilling, pictures, saved
// slots, adapters with a scale other than 0 and 1, and probabilities after sampling (post_sampling_probs).
package llamacpp
