package main

import (
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/serve/listen"
)

// profiles returns the handler of Go's profiles of this process. It has no /debug/pprof/cmdline, because arguments may contain API keys.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not every ResponseWriter has one; it would end a long profile
		mux.ServeHTTP(w, r)
	})
}

// profile serves profiles at the address of -pprof, if there is one, until end is called.
func (c *serveCommand) profile(ctx context.Context, t terminal) (end func() error, err error) {
	if c.Profiles == "" {
		return func() error { return nil }, nil
	}
	l, err := net.Listen("tcp", c.Profiles)
	if err != nil {
		return nil, err
	}
	console.Print(t.err, "profiles of the server are at http://"+l.Addr().String()+"/debug/pprof/", 0)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // while the last answers end, profiles are still there
	ended := make(chan error, 1)
	go func() { ended <- listen.Serve(ctx, l, listen.Local(profiles()), listen.Options{Connections: 16}) }()
	return func() error {
		cancel()
		return <-ended
	}, nil
}
