// Package llamacpp serves language models with the requests of llama-server, the server of llama.cpp, that OpenAI's API does not have:
// continuations with POST /completion, conversations as prompts with /apply-template, the state of the server with /props and /slots, and
// /lora-adapters. It also answers the paths of OpenAI's API without /v1. Clients, editors and pages for llama-server use these.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	h := llamacpp.Handle(g, openai.Handle(g), llamacpp.Options{Path: "smollm2.gguf", Slots: 8})
//	return http.ListenAndServe("localhost:8080", h)
//
// Adapters have numbers in the order of their names, and the field lora of /completion chooses one. What the server does not do is refused:
// grammars in GBNF, infilling, pictures, saved slots, scales of adapters other than 0 and 1, and probabilities after sampling
// (post_sampling_probs).
package llamacpp
