// Package anthropic serves language models with the HTTP protocol of Anthropic's Messages API. POST /v1/messages supports texts, tools and streaming.
// POST /v1/messages/count_tokens counts the tokens of a prompt.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	err = http.ListenAndServe("localhost:8080", anthropic.Handle(g))
//
// Anthropic's clients work with the base URL http://localhost:8080.
//
// The server refuses pictures, documents, Anthropic's own tools, requests that enable thinking, and conversations that end with a message of the
// assistant. It ignores cache_control, metadata, service_tier and unknown fields.
package anthropic
