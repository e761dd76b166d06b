// Package openai serves language models with the HTTP protocol of OpenAI: chat/completions, completions, responses and models. Answers
// can be streamed as server-sent events, and may have calls of functions. Responses are not stored.
//
//	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"smollm2": m}}) // m is an *llm.Model
//	if err != nil {
//		return err
//	}
//	err = http.ListenAndServe("localhost:8080", h)
//
// Clients for OpenAI's API work with the base URL http://localhost:8080/v1.
//
// HandleEmbedders also serves models that compute vectors of texts, at /v1/embeddings. Texts of concurrent requests are computed together,
// and metrics have the names of Text Embeddings Inference.
//
// POST /tokenize and /detokenize, which vLLM has, too, convert between texts and tokens.
//
// GET /health has status 503 when a model cannot generate texts, and GET /metrics has Prometheus metrics under vLLM's names. Neither
// needs an API key.
//
// A field that the package does not support is an error if its value asks for something: the server never ignores a request for
// the probabilities of tokens. Fields that it does not know are ignored, as by other servers of this protocol.
package openai
