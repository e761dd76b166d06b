// Package gate implements what all protocols of a language-model server share: models by name, API keys, limits, JSON bodies,
// server-sent events, and answers with calls of functions. Packages such as serve/openai and serve/anthropic implement the protocols.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g))
//	messages := anthropic.Handle(g) // counts towards the same limits
//	mux.Handle("/v1/messages", messages)
//	mux.Handle("/v1/messages/", messages) // the path to count tokens
//
// The models of Options.OnDemand are loaded when a request needs them: see package serve/repository.
//
// If a request fails, the error is a Failure. Each protocol writes Failures in its own form.
package gate
