// Package page serves two web pages: one for chats with the language models of a server, and one about the GPUs and all models. The pages are part of
// the binary, and load nothing from other servers. They use the paths /v1/models, /v1/chat/completions, /health and /metrics of serve/openai on the
// same server.
//
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g)) // g is a *gate.Gate
//	mux.Handle("GET /{$}", page.Handler())
//	mux.Handle("GET /page/", page.Handler())
//	err := http.ListenAndServe("localhost:8080", mux)
//
// The pages themselves need no API key. If the server's models need a key, the page for chats asks for the key, and keeps it until the tab is closed.
package page
