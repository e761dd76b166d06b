package rpc

import (
	"context"
	"net/http"
	"strings"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// service is the beginning of the paths of calls.
const service = "/inference.GRPCInferenceService/"

// grpc is the type of the contents of calls.
const grpc = "application/grpc"

// Handle returns a handler for the calls of clients to the models of h. All other requests go to next.
func Handle(h *kserve.Handler, next http.Handler) http.Handler {
	mux := http.NewServeMux()
	for name, c := range calls(h) {
		next := func(w http.ResponseWriter, r *http.Request) error {
			if s := spans.Of(r.Context()); s != nil {
				s.Name(service[1:] + name)
				s.Set(spans.Attr("rpc.system.name", "grpc"), spans.Attr("rpc.method", service[1:]+name))
			}
			c.ServeHTTP(w, r)
			return nil
		}
		if name == "ModelInfer" || name == "RepositoryModelLoad" || name == "RepositoryModelUnload" {
			next = h.Limit(next)
		}
		mux.Handle("POST "+service+name, h.Guard(next, refuse))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, codeUnimplemented, "there is no call "+r.URL.Path)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), grpc) {
			mux.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers a call that the gate does not admit.
func refuse(w http.ResponseWriter, f gate.Failure) { fail(w, codeOf(f.Status), f.Message) }

// codeOf returns gRPC's code for a status of HTTP.
func codeOf(status int) code {
	switch status {
	case http.StatusUnauthorized:
		return codeUnauthenticated
	case http.StatusNotFound:
		return codeNotFound
	case http.StatusTooManyRequests:
		return codeResourceExhausted
	case http.StatusServiceUnavailable:
		return codeUnavailable
	case http.StatusGatewayTimeout:
		return codeDeadlineExceeded
	case http.StatusInternalServerError:
		return codeInternal
	}
	return codeInvalidArgument
}

// describe records the error of a call. Only failures of the server are errors of the span.
func describe(s *spans.Span, c code, f gate.Failure) {
	if s == nil {
		return
	}
	s.Set(spans.Attr("rpc.response.status_code", c.String()))
	if f.Status >= http.StatusInternalServerError {
		s.Fail(f.Message)
	}
}

// calls returns the calls of the service by their names.
func calls(h *kserve.Handler) map[string]http.Handler {
	return map[string]http.Handler{
		"ServerLive":     call(h, func(context.Context, *modelName) (answer, error) { return yes(true), nil }),
		"ServerReady":    call(h, func(ctx context.Context, _ *modelName) (answer, error) { return yes(h.Ready(ctx) == nil), nil }),
		"ServerMetadata": call(h, func(context.Context, *modelName) (answer, error) { return serverAnswer{h.Extensions()}, nil }),
		"ModelReady": call(h, func(ctx context.Context, q *modelName) (answer, error) {
			return yes(h.ModelReady(ctx, q.name, q.version) == nil), nil
		}),
		"ModelMetadata": call(h, func(ctx context.Context, q *modelName) (answer, error) {
			m, err := h.Model(q.name, q.version)
			if err != nil {
				return nil, err
			}
			out, err := m.Output(ctx)
			return modelAnswer{q.name, m.Input(), out}, err
		}),
		"RepositoryIndex": call(h, func(_ context.Context, q *repositoryQuestion) (answer, error) {
			return indexAnswer(h.Index(q.ready)), nil
		}),
		"RepositoryModelLoad": call(h, func(ctx context.Context, q *repositoryQuestion) (answer, error) { return empty{}, q.load(ctx, h) }),
		"RepositoryModelUnload": call(h, func(ctx context.Context, q *repositoryQuestion) (answer, error) {
			return empty{}, h.Unload(ctx, q.name)
		}),
		"ModelInfer": call(h, func(ctx context.Context, q *inferQuestion) (answer, error) {
			list, err := h.Infer(ctx, q.name, q.version, q.request)
			return inferAnswer{q.name, q.id, list}, err
		}),
	}
}

// call returns the handler of a call with requests of a type.
func call[Q any, P interface {
	*Q
	question
}](h *kserve.Handler, f func(context.Context, P) (answer, error)) http.Handler {
	return unary{h.Body, func(ctx context.Context, request []byte) (answer, error) {
		var q Q
		if err := P(&q).read(request); err != nil {
			return nil, failure{codeInvalidArgument, err.Error()}
		}
		a, err := f(ctx, &q)
		if err != nil {
			f := gate.FailureOf(err)
			code := codeOf(f.Status)
			describe(spans.Of(ctx), code, f)
			return nil, failure{code, f.Message}
		}
		return a, nil
	}}
}
