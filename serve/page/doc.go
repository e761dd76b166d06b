// Package page serves a web page for chats with the models of a server. The page also shows the state of the server. Its HTML, CSS and
// JavaScript are part of the binary, and load nothing from other servers. They use the paths /v1/models, /v1/chat/completions and /metrics
// of serve/openai on the same server.
//
//	mux := http.NewServeMux()
//	mux.Handle("/", openai.Handle(g)) // g is a *gate.Gate
//	mux.Handle("GET /{$}", page.Handler())
//	mux.Handle("GET /page/", page.Handler())
//	err := http.ListenAndServe("localhost:8080", mux)
//
// The page itself needs no API key. If the server needs an API key, the page asks for the key, and keeps it until the tab is closed.
package page
