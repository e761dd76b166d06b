package rpc

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// service is the beginning of the paths of calls.
const service = "/inference.GRPCInferenceService/"

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
		fail(w, connect.CodeUnimplemented, "there is no call "+r.URL.Path)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			mux.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers a call that the gate does not admit.
func refuse(w http.ResponseWriter, f gate.Failure) { fail(w, codeOf(f.Status), f.Message) }

// fail answers a call with an error in the headers.
func fail(w http.ResponseWriter, code connect.Code, text string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", strconv.Itoa(int(code)))
	w.Header().Set("Grpc-Message", url.PathEscape(text))
	w.WriteHeader(http.StatusOK)
}

// codeOf returns gRPC's code for a status of HTTP.
func codeOf(status int) connect.Code {
	switch status {
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusNotFound:
		return connect.CodeNotFound
	case http.StatusTooManyRequests:
		return connect.CodeResourceExhausted
	case http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	case http.StatusGatewayTimeout:
		return connect.CodeDeadlineExceeded
	case http.StatusInternalServerError:
		return connect.CodeInternal
	}
	return connect.CodeInvalidArgument
}

// describe records the error of a call. Only failures of the server are errors of the span.
func describe(s *spans.Span, code connect.Code, f gate.Failure) {
	if s == nil {
		return
	}
	s.Set(spans.Attr("rpc.response.status_code", strings.ToUpper(code.String())))
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
func call[Q any](h *kserve.Handler, f func(context.Context, *Q) (answer, error)) http.Handler {
	return connect.NewUnaryHandler("", func(ctx context.Context, r *connect.Request[Q]) (*connect.Response[answer], error) {
		a, err := f(ctx, r.Msg)
		if err != nil {
			f := gate.FailureOf(err)
			code := codeOf(f.Status)
			describe(spans.Of(ctx), code, f)
			return nil, connect.NewError(code, f)
		}
		return connect.NewResponse(&a), nil
	}, connect.WithCodec(codec{}), connect.WithReadMaxBytes(int(h.Body)))
}
