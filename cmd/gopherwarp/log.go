package main

import (
	"bufio"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// logging returns a handler that writes a line about each request to a writer after the answer, in the given format: text or json. With
// any other format, it returns the handler itself.
func logging(next http.Handler, to io.Writer, format string) http.Handler {
	var l *slog.Logger
	switch format {
	case "text":
		l = slog.New(slog.NewTextHandler(to, nil))
	case "json":
		l = notices(to).Logger
	default:
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, whole, o := time.Now(), false, &observed{ResponseWriter: w, status: http.StatusOK}
		ctx := gate.WithLeft(r.Context(), func() {
			if r.Header.Get("Upgrade") == "" { // connections of WebSocket always end so
				o.status, o.left = gate.StatusLeft, true
			}
		})
		defer func() { // also if the handler aborts an answer that has begun, with a panic
			l.LogAttrs(r.Context(), slog.LevelInfo, "request", append(traceOf(r),
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("client", r.RemoteAddr), slog.Int("status", o.status),
				slog.Int64("bytes", o.bytes), slog.Bool("aborted", !whole || o.left), slog.Float64("seconds", time.Since(began).Seconds()))...)
		}()
		next.ServeHTTP(o, r.WithContext(ctx))
		whole = true
	})
}

// notes is a writer that writes each text, such as a line, as the message of an object in JSON. So all lines of a log have one form.
type notes struct{ *slog.Logger }

// notices returns a writer of notes.
func notices(to io.Writer) notes {
	if n, ok := to.(notes); ok {
		return n
	}
	return notes{slog.New(slog.NewJSONHandler(to, nil))}
}

// Write implements io.Writer.
func (n notes) Write(text []byte) (int, error) {
	n.Info(strings.TrimSpace(string(text)))
	return len(text), nil
}

// take makes package log, with which servers of package net/http report errors of connections, write notes until the returned function is called.
func (n notes) take() func() {
	w, flags := log.Writer(), log.Flags()
	log.SetOutput(n)
	log.SetFlags(0)
	return func() {
		log.SetOutput(w)
		log.SetFlags(flags)
	}
}

// traceOf returns the identifiers of the request's span, or nothing if the request is not recorded.
func traceOf(r *http.Request) []slog.Attr {
	trace, span := spans.Of(r.Context()).IDs()
	if trace == "" {
		return nil
	}
	return []slog.Attr{slog.String("trace_id", trace), slog.String("span_id", span)}
}

// observed is an http.ResponseWriter that keeps the status and the size of the answer.
type observed struct {
	http.ResponseWriter
	status int
	bytes  int64
	left   bool // the client has left before the end of the answer
}

func (o *observed) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // not one that another follows
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(data []byte) (int, error) {
	n, err := o.ResponseWriter.Write(data)
	o.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush implements http.Flusher, for packages that do not use http.ResponseController.
func (o *observed) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

// Hijack implements http.Hijacker, as Flush does http.Flusher.
func (o *observed) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	o.status = http.StatusSwitchingProtocols // which the caller sends
	return http.NewResponseController(o.ResponseWriter).Hijack()
}
