// Package gate is what the protocols of a server for language models share: models by name, API keys, limits, the transport of JSON
// bodies and of server-sent events, and answers with calls of functions. It is no protocol itself: serve/openai and serve/anthropic are.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g))
//	mux.Handle("/v1/messages", anthropic.Handle(g)) // counts to the same limits
//
// An error of a request is a Failure, which a protocol writes in its own form.
package gate
