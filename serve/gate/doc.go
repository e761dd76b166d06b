// Package gate implements what all protocols of a language-model server share: models by name, API keys, limits, JSON bodies, server-sent events, and
// answers with function calls. Packages such as serve/openai and serve/anthropic implement the protocols.
//
//	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g))
//	messages := anthropic.Handle(g) // under the same limits
//	mux.Handle("/v1/messages", messages)
//	mux.Handle("/v1/messages/", messages) // for /v1/messages/count_tokens
//
// A protocol consists of Handlers. Gate.Guard checks API keys before it calls a Handler, and Gate.Limit limits the number and the
// duration of requests. A Handler reads the body with Gate.Read, gets the model from Gate.Find, computes the answer with
// Question.Answer or Continuer.Continue, and writes the answer with WriteJSON or Gate.NewEvents.
//
// # Failures
//
// If a request fails, the error is a Failure. Each protocol writes Failures in its own form. If a protocol passes a request on to another
// protocol's handler, but writes Failures in its own form, it calls WithFailures.
//
// # Loaded models
//
// Gate.Find loads a model of Options.OnDemand when a request needs the model (see package serve/repository). The model stays loaded until the request
// ends. The Handler of a connection with many requests, such as a WebSocket, calls Hold for each request.
//
// # Turns
//
// A large request takes much memory until its texts are tokenized. So requests with bodies of more than 64 KiB take turns: at most four of them have
// a turn at the same time. A turn begins in Gate.Decode, and ends when the texts are tokenized or the request ends.
package gate
