// Package anthropic serves language models with the HTTP protocol of Anthropic's Messages API: texts, tools and streams of events, in
// POST /v1/messages, and POST /v1/messages/count_tokens.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	err = http.ListenAndServe("localhost:8080", anthropic.Handle(g))
//
// Anthropic's clients work with the base URL http://localhost:8080. The key is that of the header X-Api-Key or of Authorization.
//
// Pictures, documents and Anthropic's own tools are refused, and so is a conversation that ends with a message of the assistant; thinking
// cannot be enabled.
// Fields that the package does not know are ignored, and so are those that change only speed or cost: cache_control, metadata, service_tier.
package anthropic
